//! A profile as the rules see it.

use queryscope_protocol::Profile;

use crate::graph::Graph;
use crate::vocabulary::Term;

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

    /// A counter of the query as a whole.
    pub(crate) fn counter(&self, term: &Term) -> Option<u64> {
        let counters = self.profile.query_metrics.as_ref()?;
        term.names.iter().find_map(|name| counters.get(name))
    }
}
