//! `queryscope top`: what runs now, and the open issues, in a terminal.
//!
//! One task follows `/api/live`, one asks how long the shown runs may still take, one asks for the issues, and one
//! follows the run whose plan is open. All send [`Update`]s to the loop here, which alone changes the [`App`] and draws
//! it: once a second, and at once when a key is pressed. What is drawn is a pure function of the `App`.

pub(crate) mod app;
mod choice;
pub(crate) mod follow;
mod issues_view;
mod keys;
mod plan_view;
pub(crate) mod rows;
mod view;

use std::io::{IsTerminal, stdin, stdout};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;
use crossterm::event::{Event, EventStream};
use futures_util::StreamExt;
use ratatui::DefaultTerminal;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::MissedTickBehavior;

use self::app::{App, Outcome};
use self::follow::{Follower, Update, Wanted};
use crate::read::args::{ServiceArgs, SourceArgs};
use crate::read::screen::Screen;
use crate::read::service::Service;
use crate::signals::Signals;

/// Time between two pictures while no key is pressed.
const DRAW_EVERY: Duration = Duration::from_secs(1);
/// Updates that wait for the loop; a stream that brings more waits.
const UPDATES_MAX: usize = 1024;

#[derive(Debug, Args)]
pub(crate) struct TopArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    #[command(flatten)]
    pub(crate) service_at: ServiceArgs,
}

/// Shows running queries until the reader has seen enough.
///
/// # Errors
/// When there is no terminal, or no service at the start. A service that goes away later is none: it may come back.
pub(crate) async fn run(args: TopArgs) -> Result<()> {
    if !stdout().is_terminal() || !stdin().is_terminal() {
        bail!("top needs a terminal: queryscope runs --status running lists running runs anywhere");
    }
    let service = Service::find(&args.service_at)?;
    let url = service.url().to_owned();
    let has_colours = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let mut signals = Signals::listen()?;
    let (send, updates) = mpsc::channel(UPDATES_MAX);
    let mut app = App::new(url);
    app.source = args.source.words();
    let follower = Arc::new(Follower::new(args.service_at, args.source, send));
    app.has_colours = has_colours;
    let mut terminal = ratatui::try_init().context("the terminal cannot be used")?;
    let shown = tokio::select! {
        shown = show(&mut terminal, app, follower, updates) => shown,
        () = signals.first() => Ok(()),
    };
    ratatui::restore();
    shown
}

async fn show(
    terminal: &mut DefaultTerminal,
    mut app: App,
    follower: Arc<Follower>,
    mut updates: mpsc::Receiver<Update>,
) -> Result<()> {
    let (wanted_runs, to_ask) = watch::channel(Wanted::default());
    let _live = Task(tokio::spawn(Arc::clone(&follower).live()));
    let _asking = Task(tokio::spawn(Arc::clone(&follower).ask(to_ask)));
    let _issues = Task(tokio::spawn(Arc::clone(&follower).issues()));
    // The task that follows the run whose plan is open.
    let mut of_plan: Option<(String, Task)> = None;
    let mut keys = EventStream::new();
    let mut ticks = tokio::time::interval(DRAW_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut waiting = Vec::new();
    loop {
        tokio::select! {
            key = keys.next() => match key.context("the terminal is gone")?.context("the terminal cannot be read")? {
                Event::Key(key) => {
                    if keys::key_of(&key).is_some_and(|key| app.press(key) == Outcome::Quit) {
                        return Ok(());
                    }
                }
                Event::Resize(..) => {}
                _ => continue,
            },
            read = updates.recv_many(&mut waiting, UPDATES_MAX) => {
                if read == 0 {
                    bail!("the stream of running runs ended");
                }
                let mut is_news = false;
                for update in waiting.drain(..) {
                    is_news |= app.take(update);
                }
                // Samples arrive many times a second: they are seen with the next tick.
                if !is_news {
                    continue;
                }
            }
            _ = ticks.tick() => {}
        }
        let wanted = app.open_run().map(str::to_owned);
        if of_plan.as_ref().map(|(run, _)| run) != wanted.as_ref() {
            of_plan = wanted.map(|run| (run.clone(), Task(tokio::spawn(Arc::clone(&follower).plan(run)))));
        }
        let times = Screen::now().times;
        terminal
            .draw(|frame| view::draw(frame, &mut app, times))
            .context("the terminal cannot be written to")?;
        let now_wanted = app.wanted();
        wanted_runs.send_if_modified(|known| {
            let is_new = *known != now_wanted;
            *known = now_wanted;
            is_new
        });
    }
}

/// A task that ends with this.
struct Task(JoinHandle<()>);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}
