//! `queryscope serve`.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use queryscope_collector::{Access, Collector, Settings, SystemClock, hash_token, serve};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::cli::ServeArgs;
use crate::data::{DEFAULT_PROJECT, DataFolder};
use crate::signals::Signals;
use crate::{snippet, store};

const DAY: Duration = Duration::from_hours(24);

pub(crate) async fn run(args: ServeArgs) -> Result<()> {
    let data = DataFolder::create(&args.data.data)?;
    let Some(_lock) = data.lock()? else {
        bail!(
            "{} is in use by another queryscope: stop it, or choose another folder with --data",
            data.path().display()
        );
    };
    let listener = bind(args.bind, "--bind").await?;
    let ingest = match args.ingest_bind {
        Some(address) => Some(bind(address, "--ingest-bind").await?),
        None => None,
    };
    let opened = store::open(&data)?;
    let (token, made) = match &args.token {
        Some(token) => (token.clone(), false),
        None => data.token()?,
    };
    let settings = Settings {
        silent_after: args.silent_after,
        recordings_lock: Some(data.recordings_lock()),
        keep: args.keep_days.map(|days| DAY * days),
        tokens: vec![Access { hash: hash_token(&token), project: DEFAULT_PROJECT.into() }],
        allowed_hosts: args.allowed_host.clone(),
        ..Settings::default()
    };
    let clock = Arc::new(SystemClock::new());
    let collector = Collector::start(opened.store, opened.recordings, clock, opened.commits, settings)
        .await
        .context("the store can not be used")?;

    let url = url(listener.local_addr()?);
    data.write_address(&url)?;
    let senders = ingest.as_ref().map(TcpListener::local_addr).transpose()?;
    greet(&data, &url, senders, &args, made.then_some(token.as_str()));
    let stop = stop_on_signals()?;
    let result = serve(&collector, listener, ingest, stop).await;
    data.remove_address();
    result.context("the service ended")?;
    tracing::info!("stopped");
    Ok(())
}

async fn bind(address: SocketAddr, flag: &str) -> Result<TcpListener> {
    if !address.ip().is_loopback() {
        tracing::warn!(%address, "others can reach this address; reading needs no token");
    }
    TcpListener::bind(address)
        .await
        .with_context(|| format!("can not listen on {address}: choose another address with {flag}"))
}

/// Where a browser on this machine finds the service.
fn url(address: SocketAddr) -> String {
    if address.ip().is_unspecified() {
        format!("http://127.0.0.1:{}", address.port())
    } else {
        format!("http://{address}")
    }
}

/// Prints what a user needs next; the token only when it is new.
fn greet(
    data: &DataFolder,
    url: &str,
    ingest: Option<SocketAddr>,
    args: &ServeArgs,
    new_token: Option<&str>,
) {
    println!("queryscope {}", env!("CARGO_PKG_VERSION"));
    println!("  dashboard  {url}");
    if let Some(ingest) = ingest {
        println!("  ingest     http://{ingest}");
    }
    println!("  data       {}", data.path().display());
    match (new_token, &args.token) {
        (Some(token), _) => {
            println!("  token      {token}");
            println!("             (shown this once, kept in {})", data.token_file().display());
            println!("\nFollow your Polars queries:\n\n{}", indent(&snippet::polars(url, token)));
            let program = std::env::args().next().unwrap_or_else(|| "queryscope".into());
            println!("Or look around first: {program} demo --data {}\n", args.data.data.display());
        }
        (None, Some(_)) => println!("  token      as given"),
        (None, None) => println!("  token      kept in {}", data.token_file().display()),
    }
}

fn indent(text: &str) -> String {
    text.lines().map(|line| if line.is_empty() { "\n".into() } else { format!("    {line}\n") }).collect()
}

/// Is cancelled by the first SIGTERM or SIGINT.
fn stop_on_signals() -> Result<CancellationToken> {
    let mut signals = Signals::listen()?;
    let stop = CancellationToken::new();
    let cancel = stop.clone();
    tokio::spawn(async move {
        signals.first().await;
        tracing::info!("stopping");
        cancel.cancel();
    });
    Ok(stop)
}
