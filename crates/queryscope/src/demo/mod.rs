//! `queryscope demo`: something to look at without a program of one's own.
//!
//! Two weeks of made-up history are posted as fast as the service takes them; then recordings of real queries
//! are played at the speed they ran, several at once, beside more runs of the history's labels, for about a minute.
//! Everything goes through the service's own `POST /v1/events`, so the token decides the project.

pub(crate) mod command;
mod history;
mod id;
mod recordings;

use std::time::Duration;

use anyhow::Context;
use rand::SeedableRng;
use rand::rngs::StdRng;

use history::History;

/// What a demo needs of the world, so that tests can play one without waiting.
pub(crate) trait Stage {
    /// Posts one batch of plain JSON Lines, and sends it again where that helps.
    fn post(&mut self, batch: Vec<u8>) -> anyhow::Result<()>;

    /// The time, in Unix nanoseconds.
    fn now_unix_ns(&self) -> i64;

    /// Waits.
    fn sleep(&mut self, pause: Duration);

    /// Tells how far the demo is.
    fn progress(&mut self, progress: Progress);
}

/// How far a demo is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// So many of the history's queries are posted.
    History {
        /// Queries posted.
        done: usize,
        /// Queries in all.
        queries: usize,
    },
    /// The recordings have been played up to here.
    Live {
        /// Time since the first recording began.
        played: Duration,
        /// When the last one ends.
        length: Duration,
    },
}

/// What to play.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Options {
    /// Draws the history: its times, hosts and failures. Identities differ from demo to demo all the same.
    pub(crate) seed: u64,
    /// Post the history alone.
    pub(crate) history_only: bool,
}

/// What a demo has posted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Report {
    /// Queries of the history.
    pub(crate) history_queries: usize,
    /// Queries that ran while the demo was watched.
    pub(crate) live_queries: usize,
    /// Requests.
    pub(crate) batches: usize,
    /// Bytes of all batches, before compression.
    pub(crate) batch_bytes: usize,
}

/// Posts the history, then plays the recordings; takes as long as they do, about a minute. Blocks.
///
/// The same seed at the same time makes the same events, to the byte. At another time they are other runs, so that a
/// service keeps the runs of both demos; the same hours of the same weekdays then have runs of the same times.
///
/// # Errors
/// The first error of [`Stage::post`]; what was posted before it stays.
pub(crate) fn run(stage: &mut impl Stage, options: Options) -> anyhow::Result<Report> {
    let mut report = Report::default();
    post_history(stage, options.seed, &mut report).context("cannot post the demo's history")?;
    if !options.history_only {
        play_recordings(stage, options.seed, &mut report).context("cannot play the demo's recordings")?;
    }
    Ok(report)
}

fn post_history(stage: &mut impl Stage, seed: u64, report: &mut Report) -> anyhow::Result<()> {
    let now_unix_ns = stage.now_unix_ns();
    let history = History::new(&mut random(seed, 0), &mut random(seed, now_unix_ns), now_unix_ns);
    let queries = history.queries();
    stage.progress(Progress::History { done: 0, queries });
    for batch in history.batches() {
        let batch = batch?;
        report.history_queries += batch.queries;
        post(stage, batch.body, report)?;
        stage.progress(Progress::History { done: report.history_queries, queries });
    }
    Ok(())
}

fn play_recordings(stage: &mut impl Stage, seed: u64, report: &mut Report) -> anyhow::Result<()> {
    let start_unix_ns = stage.now_unix_ns();
    let mut random = random(seed, start_unix_ns);
    let mut postings = recordings::schedule(&mut random, start_unix_ns)?;
    postings.extend(history::playing(&mut random, start_unix_ns)?);
    postings.sort_by_key(|posting| posting.at);
    let length = postings.last().map(|posting| posting.at).unwrap_or_default();
    let mut played = Duration::ZERO;
    for posting in postings {
        stage.progress(Progress::Live { played, length });
        // A clock that is set back must not make the demo wait for longer than the recordings did.
        let gap = posting.at.saturating_sub(played);
        let elapsed = Duration::from_nanos(stage.now_unix_ns().saturating_sub(start_unix_ns).max(0) as u64);
        let pause = gap.min(posting.at.saturating_sub(elapsed));
        if !pause.is_zero() {
            stage.sleep(pause);
        }
        played = posting.at;
        report.live_queries += posting.ended;
        post(stage, posting.batch, report)?;
    }
    stage.progress(Progress::Live { played, length });
    Ok(())
}

fn post(stage: &mut impl Stage, batch: Vec<u8>, report: &mut Report) -> anyhow::Result<()> {
    report.batches += 1;
    report.batch_bytes += batch.len();
    stage.post(batch)
}

/// Randomness for one part of a demo. The time goes in so that a second demo has streams of its own: events of
/// a stream that the service has seen would be taken for the first demo's, sent again.
fn random(seed: u64, now_unix_ns: i64) -> StdRng {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    bytes[8..16].copy_from_slice(&now_unix_ns.to_le_bytes());
    StdRng::from_seed(bytes)
}

#[cfg(test)]
mod tests;
