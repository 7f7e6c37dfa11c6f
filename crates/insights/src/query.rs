//! A profile as the rules see it.

use queryscope_protocol::Profile;

use crate::graph::Graph;
use crate::rules::user_code;
use crate::vocabulary::{Term, counters, query_counters};

/// From this share on, it is most of a time: where no counter holds it, that is said before anything else.
pub(crate) const MOST: f64 = 0.5;
/// Of a shorter query, scheduling alone may be as much.
pub(crate) const LONG_MS: f64 = 1000.0;

/// A profile and the graph of its physical plan.
#[derive(Debug)]
pub(crate) struct Query<'p> {
    pub(crate) profile: &'p Profile<'p>,
    pub(crate) plan: Graph<'p>,
    /// CPU time that shares are of, in nanoseconds: the query's, or its nodes' where that is more.
    cpu_ns: u64,
}

impl<'p> Query<'p> {
    pub(crate) fn of(profile: &'p Profile<'p>) -> Self {
        let plan = Graph::of(&profile.plan.physical);
        let nodes = plan.steps.iter().fold(0_u64, |sum, step| sum.saturating_add(step.busy_ns()));
        let whole = profile.cpu_ms.map_or(0, |ms| (ms * 1e6) as u64);
        Self { profile, plan, cpu_ns: nodes.max(whole) }
    }

    /// The share of the CPU time that some nodes had, 0 to 1; `None` where no time is known.
    pub(crate) fn cpu_share(&self, busy_ns: u64) -> Option<f64> {
        (self.cpu_ns > 0).then(|| busy_ns as f64 / self.cpu_ns as f64)
    }

    /// CPU time in milliseconds: the query's, or its nodes' where that is more.
    pub(crate) fn cpu_ms(&self) -> f64 {
        self.cpu_ns as f64 / 1e6
    }

    /// Time reads or writes were under way, in milliseconds; `None` where no counter says so.
    pub(crate) fn io_ms(&self) -> Option<f64> {
        let of_nodes = || self.plan.steps.iter().filter_map(|step| step.counter(&counters::IO)).max();
        let io_ns = self.counter(&query_counters::IO).or_else(of_nodes)?;
        Some(io_ns as f64 / 1e6)
    }

    /// CPU time of the whole process while the query ran, in milliseconds; `None` where the sender does not say so.
    pub(crate) fn process_cpu_ms(&self) -> Option<f64> {
        self.counter(&query_counters::PROCESS_CPU).map(|ns| ns as f64 / 1e6)
    }

    /// Wall time that no counter holds, in milliseconds: what is left after planning, work, reads and writes, as if
    /// no two of them had overlapped. So it is never more than the truth.
    ///
    /// Engines do not count what user code does on its own: a Polars `map_elements` over millions of rows counts as
    /// milliseconds. Nothing says whether this time was work or waiting.
    pub(crate) fn uncounted_ms(&self) -> f64 {
        let counted = self.profile.planning_ms.unwrap_or(0.0) + self.cpu_ms() + self.io_ms().unwrap_or(0.0);
        (self.profile.wall_ms - counted).max(0.0)
    }

    /// [`Self::uncounted_ms`] as a share of the wall time, where it is at least half of it: then shares of the counted
    /// time say little. `None` where nothing is counted at all.
    pub(crate) fn uncounted_share(&self) -> Option<f64> {
        let share = self.uncounted_ms() / self.profile.wall_ms;
        let is_known = self.cpu_ns > 0 && self.profile.wall_ms >= LONG_MS;
        (is_known && share >= MOST).then_some(share)
    }

    /// Time in which code of the program was under way that the query called, in milliseconds: at most the wall time.
    /// `None` where the sender does not measure it.
    pub(crate) fn user_code_ms(&self) -> Option<f64> {
        self.counter(&query_counters::USER_CODE).map(|ns| (ns as f64 / 1e6).min(self.profile.wall_ms))
    }

    /// Whether a node calls code of the program.
    pub(crate) fn calls_user_code(&self) -> bool {
        self.plan.steps.iter().any(|step| user_code::called(step).is_some())
    }

    /// A counter of the query as a whole.
    pub(crate) fn counter(&self, term: &Term) -> Option<u64> {
        let counters = self.profile.query_metrics.as_ref()?;
        term.names.iter().find_map(|name| counters.get(name))
    }
}
