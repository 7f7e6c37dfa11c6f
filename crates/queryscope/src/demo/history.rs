//! Two weeks of history, made up: a dozen labels with habits, and three that have a story.

mod course;
mod labels;
mod plans;
mod playing;
mod profile;
mod schedule;

use std::collections::BTreeMap;
use std::ops::RangeFrom;
use std::time::Duration;

use queryscope_protocol::{BatchWriter, Process, QueryId};
use rand::RngExt;
use rand::rngs::StdRng;

use super::id::{query_id, stream_id};
use course::Told;
use labels::{LABELS, Label};
use plans::PlanSpec;
pub(super) use playing::schedule as playing;
use schedule::{load, log_normal};

/// How far the history reaches back.
const LENGTH: Duration = Duration::from_hours(14 * 24);
/// The processes have been up for this long before they ran their first query.
const UP_BEFORE: Duration = Duration::from_mins(37);
/// Of runs this recent all is told that a process sends; of older ones the end alone.
const TOLD_WHOLE: Duration = Duration::from_hours(24);
/// Queries in a batch at most; of up to 40 kB each, far below what a request may hold.
const BATCH_QUERIES: usize = 50;
/// The process event of a stream has seq 1.
const FIRST_SEQ: u64 = 2;
/// How much the amount of data varies from run to run, as the sigma of a log-normal distribution.
const VOLUME_SIGMA: f64 = 0.08;

/// All runs of the history.
#[derive(Debug)]
pub(super) struct History {
    now_unix_ns: i64,
    processes: Vec<(Process<'static>, Vec<Run>)>,
}

/// Some queries of one process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HistoryBatch {
    /// The batch, as plain JSON Lines.
    pub(super) body: Vec<u8>,
    /// Queries in it.
    pub(super) queries: usize,
}

/// One run of a label's query.
#[derive(Debug)]
struct Run {
    label: &'static Label,
    plan: &'static PlanSpec,
    query_id: QueryId,
    started_unix_ns: i64,
    wall_ms: f64,
    /// Amount of data, compared with the usual.
    volume: f64,
    /// Part of the work that was done: all of it, or less when the run failed.
    done: f64,
    failed: Option<&'static str>,
}

impl History {
    /// Makes up the runs of the two weeks before `now_unix_ns`; every one of them has ended by then. `rng` draws what
    /// the runs are, `ids` their identities.
    pub(super) fn new(rng: &mut StdRng, ids: &mut StdRng, now_unix_ns: i64) -> Self {
        let since_unix_ns = now_unix_ns - LENGTH.as_nanos() as i64;
        let mut runs = BTreeMap::<_, Vec<Run>>::new();
        for label in LABELS {
            for started_unix_ns in label.schedule.starts(rng, since_unix_ns, now_unix_ns) {
                let host = label.hosts[rng.random_range(0..label.hosts.len())];
                let query_id = query_id(ids, started_unix_ns);
                let run = Run::new(rng, label, query_id, started_unix_ns, now_unix_ns);
                if run.started_unix_ns + (run.wall_ms * 1e6) as i64 <= now_unix_ns {
                    runs.entry((label.service, label.environment, host)).or_default().push(run);
                }
            }
        }
        let processes = runs.into_iter().map(|((service, environment, host), mut runs)| {
            runs.sort_by_key(|run| run.started_unix_ns);
            let process = Process {
                id: stream_id(ids),
                service: Some(service.into()),
                environment: Some(environment.into()),
                program_version: None,
                host: host.into(),
                pid: Some(rng.random_range(300..32_000)),
                started_unix_ns: Some(since_unix_ns - UP_BEFORE.as_nanos() as i64),
            };
            (process, runs)
        });
        Self { now_unix_ns, processes: processes.collect() }
    }

    /// How many queries there are.
    pub(super) fn queries(&self) -> usize {
        self.processes.iter().map(|(_, runs)| runs.len()).sum()
    }

    /// Writes the batches, process by process, each from its first query to its last.
    pub(super) fn batches(&self) -> impl Iterator<Item = anyhow::Result<HistoryBatch>> {
        self.processes.iter().flat_map(move |(process, runs)| {
            let mut seqs = FIRST_SEQ..;
            runs.chunks(BATCH_QUERIES).map(move |runs| self.write(process, &mut seqs, runs))
        })
    }

    fn write(
        &self,
        process: &Process<'_>,
        seqs: &mut RangeFrom<u64>,
        runs: &[Run],
    ) -> anyhow::Result<HistoryBatch> {
        let mut writer = BatchWriter::new(None, process)?;
        for run in runs {
            let is_recent = self.now_unix_ns - run.started_unix_ns <= TOLD_WHOLE.as_nanos() as i64;
            let told = course::course(run).into_iter();
            for (told, seq) in
                told.filter(|told| is_recent || matches!(told, Told::Finished(_))).zip(&mut *seqs)
            {
                course::write(&mut writer, seq, run, told)?;
            }
        }
        Ok(HistoryBatch { body: writer.into_bytes(), queries: runs.len() })
    }
}

impl Run {
    fn new(
        rng: &mut StdRng,
        label: &'static Label,
        query_id: QueryId,
        started_unix_ns: i64,
        now_unix_ns: i64,
    ) -> Self {
        let ago = Duration::from_nanos(now_unix_ns.saturating_sub(started_unix_ns).max(0) as u64);
        let volume = log_normal(rng, VOLUME_SIGMA);
        let usual_ms = label.wall_ms * volume * load(started_unix_ns) * log_normal(rng, label.sigma);
        let (plan, factor, broken) = label.story_at(ago);
        let unlucky = label.failures.filter(|_| rng.random_bool(label.failure_rate));
        let failed = broken.or(unlucky);
        let done = if failed.is_some() { rng.random_range(0.05..0.6) } else { 1.0 };
        Self {
            label,
            plan,
            query_id,
            started_unix_ns,
            wall_ms: usual_ms * factor * done,
            volume,
            done,
            failed,
        }
    }
}

#[cfg(test)]
mod tests;
