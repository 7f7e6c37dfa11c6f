//! Makes a query's profile.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use queryscope_insights::vocabulary::query_counters::{PROCESS_CPU, PROCESS_QUERIES};
use queryscope_protocol::{Metrics, Object, Plan, Profile, Text};
use serde_json::{Map, Value};

use crate::active::{Outcome, Shared};
use crate::host::millis;
use crate::readings::Readings;
use crate::source::Totals;

/// The error text of a query that was cancelled; the format has no state of its own for it.
const CANCELLED: &str = "cancelled";

/// Describes the queries of one engine.
#[derive(Debug, Clone)]
pub(crate) struct Describer {
    pub(crate) engine: Option<String>,
    pub(crate) engine_version: Option<String>,
    pub(crate) cpu_count: u64,
}

/// What is known once a query has ended.
pub(crate) struct Ended<'e> {
    pub(crate) at: Instant,
    pub(crate) outcome: &'e Outcome,
    pub(crate) totals: Totals,
    pub(crate) work: Work,
    pub(crate) process: Option<ProcessWork>,
}

/// What the whole process did while a query ran.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProcessWork {
    pub(crate) cpu: Duration,
    /// The most of its queries that ran at a time, this one included.
    pub(crate) queries: u64,
}

/// What following a query took of the processor, in the background.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Work {
    pub(crate) rendering: Duration,
    pub(crate) sampling: Duration,
    pub(crate) samples: u64,
}

impl Describer {
    /// The profile of a query that runs: its plans without counters.
    pub(crate) fn started(&self, query: &Shared, plan: Plan<'static>, now: Instant) -> Profile<'static> {
        self.describe(query, plan, now)
    }

    /// The profile of a query that has ended.
    pub(crate) fn finished<'r>(
        &self,
        query: &Shared,
        plan: Plan<'static>,
        readings: &'r Readings,
        ended: Ended<'_>,
    ) -> Profile<'r> {
        let mut profile: Profile<'r> = self.describe(query, plan, ended.at);
        for node in &mut profile.plan.physical {
            node.metrics = readings.of_node(node.id);
        }
        profile.failed = match ended.outcome {
            Outcome::Finished => None,
            Outcome::Failed(error) => Some(error.clone().into()),
            Outcome::Cancelled => Some(CANCELLED.into()),
        };
        let Totals { result_rows, cpu_ms, planning_ms, query_metrics, diagnostics } = ended.totals;
        profile.result_rows = result_rows.map(|rows| i64::try_from(rows).unwrap_or(i64::MAX));
        profile.cpu_ms = cpu_ms.filter(|ms| is_millis(*ms)).map(|ms| at_most_of(ended.process.as_ref(), ms));
        profile.planning_ms = planning_ms.filter(|ms| is_millis(*ms));
        let query_metrics = with_process(query_metrics, ended.process);
        profile.query_metrics = Some(query_metrics).filter(|metrics| metrics.iter().len() > 0);
        profile.diagnostics = self.diagnostics(diagnostics, &profile, ended.work);
        // A mistake in a rule must not cost the profile.
        profile.insights = catch_unwind(AssertUnwindSafe(|| queryscope_insights::findings(&profile))).ok();
        profile
    }

    fn describe(&self, query: &Shared, plan: Plan<'static>, now: Instant) -> Profile<'static> {
        let wall_ms = millis(now.saturating_duration_since(query.started));
        let is_planned = plan != Plan::default();
        let fingerprint = is_planned.then(|| queryscope_insights::fingerprint(&plan).to_string());
        let mut profile = Profile::new(query.id.to_string(), wall_ms, plan);
        profile.fingerprint = fingerprint.map(Into::into);
        profile.engine = self.engine.clone().map(Into::into);
        profile.engine_version = self.engine_version.clone().map(Into::into);
        profile.engine_telemetry_version = Some(env!("CARGO_PKG_VERSION").into());
        profile.label = query.query.label.clone().map(Text::from);
        profile.started_unix_ns = Some(query.started_unix_ns);
        profile.call_site.clone_from(&query.query.call_site);
        profile.trace_id = query.query.trace_id;
        profile.span_id = query.query.span_id;
        profile
    }

    /// What the adapter worked out, and below it what can be said of any engine.
    fn diagnostics(
        &self,
        mut given: Map<String, Value>,
        profile: &Profile<'_>,
        work: Work,
    ) -> Option<Object<'static>> {
        let mut add = |name: &str, value: Value| {
            given.entry(name).or_insert(value);
        };
        add("cpu_count", self.cpu_count.into());
        let wall_of_all_ms = profile.wall_ms * self.cpu_count as f64;
        if let Some(cpu_ms) = profile.cpu_ms.filter(|_| wall_of_all_ms > 0.0) {
            add("parallel_efficiency", (cpu_ms / wall_of_all_ms).into());
        }
        let said: Vec<bool> = profile
            .plan
            .physical
            .iter()
            .filter_map(|node| node.metrics.as_ref().and_then(|counters| counters.done))
            .collect();
        if !said.is_empty() {
            add("incomplete_nodes", said.iter().filter(|done| !**done).count().into());
        }
        add("rendering_ms", millis(work.rendering).into());
        add("sampling_ms", millis(work.sampling).into());
        add("samples", work.samples.into());
        Object::of(&given).ok()
    }
}

/// Adds the figures of the process to what the adapter counted, which goes before.
fn with_process(counted: Metrics<'static>, process: Option<ProcessWork>) -> Metrics<'static> {
    let Some(ProcessWork { cpu, queries }) = process else { return counted };
    let cpu_ns = u64::try_from(cpu.as_nanos()).unwrap_or(u64::MAX);
    let mut all: Vec<(String, u64)> = counted.iter().map(|(name, value)| (name.to_owned(), value)).collect();
    for (term, value) in [(PROCESS_CPU, cpu_ns), (PROCESS_QUERIES, queries)] {
        if counted.get(term.name()).is_none() {
            all.push((term.name().to_owned(), value));
        }
    }
    all.into_iter().collect()
}

/// So many times the CPU time of its process a query may tell: the process's clock is read ten times a second, and may
/// be wrong by less.
const FAR_MORE: f64 = 2.0;

/// An engine that times its nodes by the clock on the wall counts what they sleep and wait, too. Where that is far more
/// than the whole process used, the CPU time is that of the process: the query used no more.
fn at_most_of(process: Option<&ProcessWork>, cpu_ms: f64) -> f64 {
    let process_ms = process.map(|work| millis(work.cpu));
    process_ms.filter(|ms| cpu_ms > FAR_MORE * ms).unwrap_or(cpu_ms)
}

fn is_millis(ms: f64) -> bool {
    ms.is_finite() && ms >= 0.0
}

#[cfg(test)]
mod tests;
