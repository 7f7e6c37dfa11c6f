//! The runs of a query in the order they started.

use std::collections::VecDeque;
use std::sync::Arc;

use queryscope_protocol::QueryId;

use crate::features::{RunFeatures, Status};
use crate::limits::WINDOW_RUNS;

/// A wait, or planning, counts when it is at least this part of the wall time.
const WAIT_SHARE: f64 = 0.1;

/// What the detector reads of a run, in numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Point {
    pub(crate) started_unix_ns: i64,
    pub(crate) query_id: QueryId,
    /// Logarithm of the wall time in nanoseconds.
    pub(crate) wall: f64,
    /// CPU time in nanoseconds; NaN where it is not known.
    pub(crate) cpu: f32,
    /// Logarithm of the rows read; NaN where they are not known.
    pub(crate) rows: f64,
    /// Numbers of the names.
    pub(crate) host: u32,
    pub(crate) environment: u32,
    /// Hash of what may mark a change: versions, plan, threads, whether it spilled.
    pub(crate) marks: Marks,
    /// Wait in nanoseconds, 0 where it is a small part of the wall time; NaN where it is not known.
    pub(crate) wait: f32,
    /// The same of planning.
    pub(crate) planning: f32,
    /// Busy time over CPU time; NaN where either is not known.
    pub(crate) busy_over_cpu: f32,
    pub(crate) status: Status,
}

/// What may mark a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Marks {
    pub(crate) engine: u32,
    pub(crate) program: u32,
    pub(crate) plan: [u8; 6],
    pub(crate) threads: u32,
    pub(crate) spills: bool,
    pub(crate) skewed: bool,
}

impl Point {
    /// The run in numbers.
    pub(crate) fn new(run: &RunFeatures) -> Self {
        let log = |value: Option<u64>| {
            value.filter(|&value| value > 0).map_or(f64::NAN, |value| (value as f64).ln())
        };
        let part = |of: Option<u64>| {
            let counts = |of: u64| of as f64 >= WAIT_SHARE * run.wall_ns as f64;
            of.map_or(f32::NAN, |of| if counts(of) { of as f32 } else { 0.0 })
        };
        let skew = run.nodes.iter().filter_map(|node| node.imbalance_permille.get()).max();
        Self {
            started_unix_ns: run.started_unix_ns,
            query_id: run.query_id,
            wall: (run.wall_ns.max(1_000) as f64).ln(),
            cpu: run.cpu_ns.filter(|&cpu| cpu > 0).map_or(f32::NAN, |cpu| cpu as f32),
            rows: log(run.rows_read),
            host: number(run.host.as_ref()),
            environment: number(run.environment.as_ref()),
            marks: Marks {
                engine: number(run.engine_version.as_ref()),
                program: number(run.program_version.as_ref()),
                plan: run.plan.fingerprint.bytes(),
                threads: run.threads_available.unwrap_or(0) as u32,
                spills: run.spilled_bytes.is_some_and(|bytes| bytes > 0),
                skewed: skew.is_some_and(|permille| permille >= 2_500),
            },
            wait: part(run.waiting_ns),
            planning: part(run.planning_ns),
            busy_over_cpu: run
                .cpu_ns
                .filter(|&cpu| cpu > 0)
                .map_or(f32::NAN, |cpu| (run.busy_ns() as f64 / cpu as f64) as f32),
            status: run.status,
        }
    }

    pub(crate) fn known_rows(&self) -> Option<f64> {
        (!self.rows.is_nan()).then_some(self.rows)
    }

    /// Orders runs.
    pub(crate) fn place(&self) -> (i64, QueryId) {
        (self.started_unix_ns, self.query_id)
    }
}

/// A run of the window.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) point: Point,
    /// Its features; `None` while the caller keeps them.
    pub(crate) run: Option<Box<RunFeatures>>,
    /// Whether it ran while a change lasted that is over: it says nothing of what is usual.
    pub(crate) episode: bool,
}

impl Entry {
    pub(crate) fn run(&self) -> Option<&RunFeatures> {
        self.run.as_deref()
    }
}

/// Gives the features of the runs of the window that were let go of.
pub(crate) type Load<'l> = &'l mut dyn FnMut() -> Vec<RunFeatures>;

/// The last runs of a query.
#[derive(Debug, Clone, Default)]
pub(crate) struct Series {
    pub(crate) entries: VecDeque<Entry>,
}

/// A name as a number that does not depend on other names (FNV-1a); 0 is no name.
pub(crate) fn number(name: Option<&Arc<str>>) -> u32 {
    number_of(name.map(AsRef::as_ref))
}

/// The same of a text.
pub(crate) fn number_of(name: Option<&str>) -> u32 {
    name.map_or(0, |name| {
        name.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)).max(1)
    })
}

impl Series {
    /// Whether a run of this place would be added.
    pub(crate) fn takes(&self, run: (i64, QueryId)) -> bool {
        let place = self.entries.partition_point(|entry| entry.point.place() < run);
        let full = self.entries.len() >= WINDOW_RUNS;
        !(full && place == 0 || self.entries.get(place).is_some_and(|entry| entry.point.place() == run))
    }

    /// Has the features of all runs again, from `load` where they were let go of.
    pub(crate) fn load(&mut self, load: Load<'_>) {
        if self.entries.iter().all(|entry| entry.run.is_some()) {
            return;
        }
        for run in load() {
            let run_place = (run.started_unix_ns, run.query_id);
            let place = self.entries.partition_point(|entry| entry.point.place() < run_place);
            if let Some(entry) = self.entries.get_mut(place)
                && entry.point.place() == run_place
                && entry.run.is_none()
            {
                entry.run = Some(Box::new(run));
            }
        }
    }

    /// Adds a run in its place, and says how many stand behind it. `None` when it is older than all the window holds,
    /// or there already.
    pub(crate) fn add(&mut self, run: RunFeatures) -> Option<u16> {
        let point = Point::new(&run);
        if !self.takes(point.place()) {
            return None;
        }
        let place = self.entries.partition_point(|entry| entry.point.place() < point.place());
        let full = self.entries.len() >= WINDOW_RUNS;
        self.entries.insert(place, Entry { point, run: Some(Box::new(run)), episode: false });
        let behind = self.entries.len() - 1 - place;
        if full {
            self.entries.pop_front();
        }
        u16::try_from(behind).ok()
    }

    /// The name of an environment, by the features that are there.
    pub(crate) fn environment(&self, environment: u32) -> Option<String> {
        let mut of = self.entries.iter().rev().filter(|entry| entry.point.environment == environment);
        of.find_map(Entry::run)?.environment.as_deref().map(str::to_owned)
    }

    /// Runs a day, counted over the last hundred; a query younger than a day counts as a day old.
    pub(crate) fn runs_a_day(&self) -> f64 {
        self.runs_a_day_of(|_| true)
    }

    /// The same of those that are kept of the last hundred.
    pub(crate) fn runs_a_day_of(&self, keeps: impl Fn(&Point) -> bool) -> f64 {
        let last = self.entries.len().saturating_sub(100);
        let span = match (self.entries.get(last), self.entries.back()) {
            (Some(first), Some(newest)) => newest.point.started_unix_ns - first.point.started_unix_ns,
            _ => 0,
        };
        let days = (span as f64 / 86_400e9).max(1.0);
        self.entries.range(last..).filter(|entry| keeps(&entry.point)).count() as f64 / days
    }

    /// Those that finished.
    pub(crate) fn finished(&self) -> impl DoubleEndedIterator<Item = &Entry> {
        self.entries.iter().filter(|entry| entry.point.status == Status::Finished)
    }
}
