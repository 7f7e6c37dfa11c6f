//! The demo as a command: its clock, its token and what it shows.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use queryscope_collector::{Clock, SystemClock};
use tokio::sync::oneshot;

use super::{Options, Progress, Report, Stage, run as play};
use crate::cli::DemoArgs;
use crate::data::DataFolder;
use crate::post::Poster;
use crate::progress::Progress as Bar;
use crate::signals::Signals;
use crate::snippet;
use crate::token::{TemporaryToken, check_given};

/// The project of everything the demo sends.
const PROJECT: &str = "demo";

pub(crate) async fn run(args: DemoArgs) -> Result<()> {
    if let (Some(url), Some(token)) = (&args.url, &args.token) {
        check_given(token, "TELEMETRY_TOKEN")?;
        return play_to(url, token, args.options()).await;
    }
    let data = DataFolder::existing(&args.data.data)?;
    if data.lock()?.is_some() {
        bail!(
            "no service runs on {}: start it in another terminal with queryscope serve",
            args.data.data.display()
        );
    }
    let url = data.address()?;
    let mut signals = Signals::listen()?;
    let token = TemporaryToken::make(&data, "demo", PROJECT.parse()?).await?;
    let played = tokio::select! {
        played = play_to(&url, token.text(), args.options()) => played,
        () = signals.first() => Err(anyhow::anyhow!("interrupted; what was sent stays")),
    };
    token.revoke().await?;
    played
}

async fn play_to(url: &str, token: &str, options: Options) -> Result<()> {
    println!("Watch it at {url}");
    let mut stage =
        Service { poster: Poster::new(url, token), clock: SystemClock::new(), phase: Phase::None, bar: None };
    let (done, played) = oneshot::channel();
    // A thread of its own: an interrupted demo does not wait for the rest of its minute.
    std::thread::spawn(move || {
        let report = play(&mut stage, options);
        stage.show(Phase::None, "", None, 0);
        let _ = done.send(report);
    });
    let Report { history_queries, live_queries, .. } = played.await.context("the demo ended early")??;
    println!("{history_queries} runs of history and {live_queries} live ones sent to project {PROJECT}");
    let executable = std::env::current_exe().ok();
    println!(
        "\nYour own queries next:\n\n    {}\n\nand at the start of a program:\n\n    import queryscope\n    \
         queryscope.install(\"{url}\", token=\"…\")\n\nThe token was printed at the service's first start.",
        snippet::install(executable.as_deref())
    );
    Ok(())
}

impl DemoArgs {
    fn options(&self) -> Options {
        Options { seed: self.seed.unwrap_or_else(rand::random), history_only: self.history_only }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    None,
    History,
    Live,
}

/// A service that runs, in real time.
struct Service {
    poster: Poster,
    clock: SystemClock,
    phase: Phase,
    bar: Option<(Bar, u64)>,
}

impl Service {
    /// Shows how far a phase is; a new phase ends the bar of the one before.
    fn show(&mut self, phase: Phase, what: &'static str, total: Option<u64>, done: u64) {
        if phase != self.phase {
            self.phase = phase;
            if let Some((bar, _)) = self.bar.take() {
                bar.finish();
            }
            self.bar = total.map(|total| (Bar::new(what, Some(total)), 0));
        }
        if let Some((bar, shown)) = &mut self.bar {
            bar.add(done.saturating_sub(*shown));
            *shown = done.max(*shown);
        }
    }
}

impl Stage for Service {
    fn post(&mut self, batch: Vec<u8>) -> Result<()> {
        self.poster.post(&batch).map(|_| ())
    }

    fn now_unix_ns(&self) -> i64 {
        self.clock.unix_ns()
    }

    fn sleep(&mut self, pause: Duration) {
        std::thread::sleep(pause);
    }

    fn progress(&mut self, progress: Progress) {
        match progress {
            Progress::History { done, queries } => {
                self.show(Phase::History, "queries of history", Some(queries as u64), done as u64);
            }
            Progress::Live { played, length } => {
                self.show(Phase::Live, "seconds of live runs", Some(length.as_secs()), played.as_secs());
            }
        }
    }
}
