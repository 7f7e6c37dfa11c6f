//! `queryscope serve`.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use queryscope_collector::{
    Access, Collector, OpenIdOptions, Reading, Settings, SystemClock, hash_token, serve,
};
use queryscope_delivery::{Config, Secrets};
use queryscope_recordings::Location;
use queryscope_store::{AccessAction, FileIdentity, Scope, Store};
use tokio::net::{TcpListener, TcpSocket};
use tokio_util::sync::CancellationToken;

use crate::cli::ServeArgs;
use crate::data::{DEFAULT_PROJECT, DataFolder};
use crate::otlp::Otlp;
use crate::signals::Signals;
use crate::{mcp, open_files, restrictions, snippet, store, token, user};

/// Connections that wait to be accepted, as far as the system allows. One for which there is no room tries again
/// after a second. With the usual 128, a burst of connections makes everybody else wait so.
const WAITING_MAX: u32 = 4096;
const DAY: Duration = Duration::from_hours(24);

pub(crate) async fn run(args: ServeArgs) -> Result<()> {
    let open_files = open_files::raise();
    let reading = reading(&args)?;
    if args.otlp.otlp_nodes && args.otlp.otlp.is_none() {
        bail!("--otlp-nodes needs --otlp URL");
    }
    let delivery = args.config.as_deref().map(|file| Config::load(file, Secrets::Read)).transpose()?;
    if let Some(token) = &args.token {
        token::check_given(token, "QUERYSCOPE_TOKEN")?;
    }
    let data = DataFolder::create(&args.data.data)?;
    let Some(lock) = data.lock()? else {
        bail!(
            "{} is in use by another queryscope: stop it, or choose another folder with --data",
            data.path().display()
        );
    };
    let listener = bind(args.bind, "--bind")?;
    warn_if_open(args.bind, &reading);
    let ingest = match args.ingest_bind {
        Some(address) => Some(bind(address, "--ingest-bind")?),
        None => None,
    };
    let (opened, place) = if let Some(address) = &args.database.database {
        let place = args.recordings.recordings.clone();
        let place = place.unwrap_or_else(|| Location::Folder(data.recordings()));
        (store::open_shared(address, &place).await?, place)
    } else {
        if let Some(place) = &args.recordings.recordings {
            // What was mistyped is not kept.
            store::recordings(place)?;
            data.keep_recordings_at(place)?;
        }
        (store::open_locked(&data, &lock)?, data.location()?)
    };
    let (token, made) = match (&args.token, &args.database.database) {
        (Some(token), _) => (Some(token.clone()), false),
        (None, None) => data.token().map(|(token, made)| (Some(token), made))?,
        (None, Some(_)) => {
            let first = first_token(&opened.store).await?;
            let made = first.is_some();
            (first, made)
        }
    };
    restrictions::note(&opened.store, &reading, args.mcp_actions).await?;
    let first_key = if reading.login { user::first_key(&opened.store).await? } else { None };
    let defaults = Settings::default();
    let addresses = 1 + usize::from(ingest.is_some());
    let settings = Settings {
        connections_max: open_files::connections_max(open_files, addresses, defaults.connections_max),
        silent_after: args.silent_after,
        seal_within: args.seal_within,
        recordings_lock: Some(data.recordings_lock()),
        recordings_folder: folder(&place)?,
        keep: args.keep_days.map(|days| DAY * days),
        tokens: token.iter().map(|token| access(token)).collect(),
        allowed_hosts: args.allowed_host.clone(),
        reading,
        delivery: delivery.map(Arc::new),
        ..defaults
    };
    let clock = Arc::new(SystemClock::new());
    let collector = Collector::start(opened.store, opened.recordings, clock, opened.commits, settings)
        .await
        .context("the store cannot be used")?;
    let agents = mcp::router(collector.routes(), args.mcp_actions);
    let collector = collector.with_readers(agents);

    let ended = CancellationToken::new();
    let sending = match &args.otlp.otlp {
        Some(receiver) => {
            let otlp = Otlp::new(&args.otlp, receiver, collector.follow_ended())?;
            Some(tokio::spawn(otlp.run(ended.clone())))
        }
        None => None,
    };

    let url = url(listener.local_addr()?);
    data.write_address(&url)?;
    let senders = ingest.as_ref().map(TcpListener::local_addr).transpose()?;
    greet(&data, &url, senders, &args, token.as_deref().filter(|_| made));
    if let Some(key) = first_key {
        println!("  first user {url}/login/first?key={key}");
        println!("             (makes the first administrator; for one use, within a day)");
    }
    let stop = stop_on_signals()?;
    let result = serve(&collector, listener, ingest, stop).await;
    ended.cancel();
    if let Some(sending) = sending {
        // It bounds its own time.
        let _ = sending.await;
    }
    // Another service may have the folder, or another folder its name.
    if lock.identity().is_in_place() {
        data.remove_address();
    }
    result.context("the service ended")?;
    tracing::info!("stopped");
    Ok(())
}

/// The folder of the recordings, where they are in one.
fn folder(place: &Location) -> Result<Option<FileIdentity>> {
    match place {
        Location::Folder(folder) => {
            let identity = FileIdentity::of(folder);
            Ok(Some(identity.with_context(|| format!("{place} cannot be opened"))?))
        }
        Location::Bucket { .. } => Ok(None),
    }
}

fn access(token: &str) -> Access {
    Access { hash: hash_token(token), project: DEFAULT_PROJECT.into() }
}

/// The name of the token that is made where a shared store has none.
const FIRST: &str = "first";

/// A token of the default project, made where there is none at all: collectors that share a store share its tokens.
async fn first_token(store: &Arc<dyn Store>) -> Result<Option<String>> {
    if store.tokens().await?.iter().any(|token| token.scope == Scope::Ingest) {
        return Ok(None);
    }
    // Another collector may be as fast.
    let made = token::add(store, FIRST.parse()?, DEFAULT_PROJECT.parse()?).await.ok();
    if made.is_some() {
        user::note_by("service", store, AccessAction::TokenAdded, FIRST).await?;
    }
    Ok(made)
}

/// Restrictions on reading.
fn reading(args: &ServeArgs) -> Result<Reading> {
    if !args.trusted_proxy.is_empty() && !args.login && args.proxy_user_header.is_none() {
        bail!("--trusted-proxy alone restricts nothing: give --proxy-user-header NAME, or --login, too");
    }
    Ok(Reading {
        login: args.login,
        openid: openid(args)?,
        proxies: args.trusted_proxy.clone(),
        user_header: args.proxy_user_header.clone(),
        groups_header: args.proxy_groups_header.clone(),
        is_reachable: !args.bind.ip().is_loopback(),
    })
}

/// Where users log in, beside a password.
fn openid(args: &ServeArgs) -> Result<Option<OpenIdOptions>> {
    let oidc = &args.oidc;
    let (Some(issuer), Some(client)) = (&oidc.oidc_issuer, &oidc.oidc_client_id) else { return Ok(None) };
    if !args.login {
        bail!("--oidc-issuer needs --login, which restricts reading");
    }
    let options = OpenIdOptions::new(issuer, client.clone());
    let options = options.map_err(|reason| anyhow!("--oidc-issuer {issuer:?}: {reason}"))?;
    let options = options
        .with_scopes(oidc.oidc_scope.clone())
        .with_roles(oidc.oidc_groups_claim.clone(), oidc.oidc_role.clone());
    let secret = match (&oidc.oidc_client_secret, &oidc.oidc_client_secret_file) {
        (Some(secret), _) => secret.clone(),
        (None, Some(file)) => std::fs::read_to_string(file)
            .with_context(|| format!("the secret cannot be read from {}", file.display()))?
            .lines()
            .next()
            .unwrap_or_default()
            .to_owned(),
        (None, None) => return Ok(Some(options)),
    };
    if secret.trim().is_empty() {
        bail!("the secret of the provider is empty: give one, or leave QUERYSCOPE_OIDC_CLIENT_SECRET unset");
    }
    Ok(Some(options.with_secret(secret)))
}

fn warn_if_open(address: SocketAddr, reading: &Reading) {
    if reading.is_reachable && !reading.is_restricted() {
        tracing::warn!(
            %address,
            "others can reach this address, and reading needs no token: restrict it with --login, or with \
             --trusted-proxy and --proxy-user-header, or bind 127.0.0.1 behind a proxy of your own"
        );
    }
}

fn bind(address: SocketAddr, flag: &str) -> Result<TcpListener> {
    listen(address).with_context(|| format!("cannot listen on {address}: choose another address with {flag}"))
}

fn listen(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(WAITING_MAX)
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
    let shared = args.database.database.is_some();
    match (new_token, &args.token) {
        (Some(token), _) => {
            println!("  token      {token}");
            if shared {
                println!("             (shown this once; queryscope token lists and revokes it as `first`)");
            } else {
                println!("             (shown this once, kept in {})", data.token_file().display());
            }
            let executable = std::env::current_exe().ok();
            let lines =
                format!("{}\n\n{}", snippet::install(executable.as_deref()), snippet::program(url, token));
            println!(
                "\nFollow the queries of a Python program (Polars, DuckDB, DataFusion, Daft):\n\n{}",
                indent(&lines)
            );
            let program = std::env::args().next().unwrap_or_else(|| "queryscope".into());
            println!("Or look around first: {program} demo --data {}\n", args.data.data.display());
        }
        (None, Some(_)) => println!("  token      as given"),
        (None, None) if shared => println!("  token      kept in the database"),
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
