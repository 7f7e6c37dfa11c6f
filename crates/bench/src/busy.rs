//! Answers while other programs keep every core busy, beside answers on a quiet machine.
//!
//! The other programs are processes of this binary that count for a bounded time, at normal priority. Rounds
//! without and with them take turns. queryscope runs beside the engine it watches, and people look at it while that
//! engine takes every core.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde::Serialize;
use tokio::sync::RwLock;

use crate::http::Target;
use crate::reads;
use crate::report::{Goal, Row, median};
use crate::requests::{self, Request};

/// What is asked for, by its name among all requests.
const ASKED: [&str; 5] =
    ["overview of 14 days all", "overview of 90 days all", "groups all", "facets all", "list all"];
/// What the dashboard asks for when it opens.
const HOME: (&str, &str) = ("overview of home", "/api/overview?limit=100&order=news&split=service");
/// A busy round may take so many times as long as a quiet one, and so many milliseconds.
const RATIO_MAX: f64 = 6.0;
const BUSY_MS_MAX: f64 = 250.0;
/// Stands for answers that take longer than a kind of request is measured.
const UNANSWERED_MS: f64 = 10_000.0;
/// Loops end by themselves after this, also where the bench is killed.
const LOOP_AT_MOST: Duration = Duration::from_mins(2);
/// How long loops run before a round begins.
const HEAD_START: Duration = Duration::from_millis(300);

/// What to run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Options {
    /// Programs that do nothing but count.
    pub(crate) loops: usize,
    /// Rounds without them, and as many with them.
    pub(crate) rounds: usize,
    /// Requests of each kind in a round.
    pub(crate) count: usize,
    /// Source of the samples.
    pub(crate) seed: u64,
}

/// What one kind of request showed.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Measured {
    /// What was asked for.
    pub(crate) name: String,
    /// Programs that counted.
    pub(crate) loops: usize,
    /// The 95th percentile of each quiet round, in milliseconds.
    pub(crate) quiet_p95_ms: Vec<f64>,
    /// And of each busy round.
    pub(crate) busy_p95_ms: Vec<f64>,
    /// What makes the figures worthless.
    pub(crate) faults: Vec<String>,
}

/// Runs the rounds.
///
/// # Errors
/// When the service holds no ended queries, or does not answer.
pub(crate) fn run(target: &Target, options: Options) -> Result<Vec<Measured>> {
    let mut asked: Vec<Request> =
        requests::all().into_iter().filter(|request| ASKED.contains(&request.name.as_str())).collect();
    asked.push(Request { name: HOME.0.into(), path: HOME.1.into(), goal_p95_ms: None });
    let of = |request: &Request| Measured {
        name: request.name.clone(),
        loops: options.loops,
        quiet_p95_ms: Vec::new(),
        busy_p95_ms: Vec::new(),
        faults: Vec::new(),
    };
    let mut all: Vec<Measured> = asked.iter().map(of).collect();
    for round in 0..options.rounds {
        for loops in [0, options.loops] {
            let _loops = Loops::start(loops)?;
            let seed = options.seed.wrapping_add(round as u64);
            let reads = reads::run_some(target, &asked, options.count, seed, &RwLock::new(()))?;
            for (measured, read) in all.iter_mut().zip(reads) {
                measured.faults.extend(read.faults());
                // Where not even the requests before those that count were answered in time, nothing was measured.
                let p95_ms = if read.requests > 0 { read.latency.p95_ms } else { UNANSWERED_MS };
                let rounds = if loops == 0 { &mut measured.quiet_p95_ms } else { &mut measured.busy_p95_ms };
                rounds.push(p95_ms);
            }
        }
    }
    Ok(all)
}

/// The rows of the table.
pub(crate) fn rows(measured: &[Measured]) -> Vec<Row> {
    let of = |measured: &Measured| {
        let (quiet, busy) =
            (median(measured.quiet_p95_ms.iter().copied()), median(measured.busy_p95_ms.iter().copied()));
        let (name, beside) = (&measured.name, format!("beside {} busy loops", measured.loops));
        [
            Row::new(format!("{name}: p95, quiet"), quiet, "ms"),
            Row::new(format!("{name}: p95 {beside}"), busy, "ms").goal(Goal::AtMost(BUSY_MS_MAX)),
            Row::new(format!("{name}: p95 {beside} to quiet"), busy / quiet.max(1e-9), "")
                .goal(Goal::AtMost(RATIO_MAX)),
        ]
    };
    measured.iter().flat_map(of).collect()
}

/// Programs that count until this is dropped.
#[derive(Debug)]
struct Loops(Vec<Child>);

impl Loops {
    fn start(count: usize) -> Result<Self> {
        let own = std::env::current_exe().context("this program has no path")?;
        let mut loops = Self(Vec::new());
        for _ in 0..count {
            let mut spin = Command::new(&own);
            spin.args(["spin", "--seconds", &LOOP_AT_MOST.as_secs().to_string()]).stdin(Stdio::null());
            loops.0.push(spin.spawn().context("a busy loop does not start")?);
        }
        if count > 0 {
            std::thread::sleep(HEAD_START);
        }
        Ok(loops)
    }
}

impl Drop for Loops {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Counts for a while: what a busy loop is.
pub(crate) fn spin(time: Duration) -> u64 {
    let (begin, mut count) = (Instant::now(), 0_u64);
    while begin.elapsed() < time {
        for _ in 0..10_000 {
            count = std::hint::black_box(count.wrapping_add(1));
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_is_asked_for_is_there() {
        let all = requests::all();
        assert!(ASKED.iter().all(|name| all.iter().any(|request| request.name == *name)));
    }

    #[test]
    fn the_ratio_is_of_the_middle_rounds() {
        let measured = Measured {
            name: "x".into(),
            loops: 4,
            quiet_p95_ms: vec![10.0, 90.0, 11.0],
            busy_p95_ms: vec![44.0, 20.0, 500.0],
            faults: vec![],
        };
        let rows = rows(&[measured]);
        assert_eq!(rows.iter().map(|row| row.measured).collect::<Vec<_>>(), [11.0, 44.0, 4.0]);
        assert_eq!(rows[1].what, "x: p95 beside 4 busy loops");
    }

    #[test]
    fn a_loop_ends_by_itself() {
        assert!(spin(Duration::from_millis(5)) > 0);
    }
}
