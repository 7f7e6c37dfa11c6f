//! What is kept of a run: a few figures of the whole, and a few of each node.
//!
//! Times are whole nanoseconds. The figures of nodes are rounded to 11 binary digits ([`Quantity`]), that is
//! within 0.05 %: two bytes each, and far below the noise of any machine.

use std::sync::Arc;

use queryscope_history::Quantity;
use queryscope_insights::Fingerprint;
use queryscope_insights::vocabulary::cancelled::is_cancelled;
use queryscope_protocol::QueryId;

use crate::plan::Plan;

/// What a run ended with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Status {
    /// The run finished.
    #[default]
    Finished,
    /// The engine reported an error.
    Failed,
    /// A person or the program stopped it: no failure of the query.
    Cancelled,
}

impl Status {
    /// Judges the error text of a profile.
    pub fn from_error(failed: Option<&str>) -> Self {
        match failed {
            None => Self::Finished,
            Some(error) if is_cancelled(error) => Self::Cancelled,
            Some(_) => Self::Failed,
        }
    }
}

/// What a node did in one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NodeFeatures {
    /// Time threads worked in it, in nanoseconds.
    pub busy_ns: Quantity,
    /// Rows it took.
    pub rows_in: Quantity,
    /// Rows it gave on.
    pub rows_out: Quantity,
    /// Rows a scan decoded before its predicate.
    pub rows_scanned: Quantity,
    /// Bytes it read.
    pub bytes_read: Quantity,
    /// Time its partitions waited for data, in sum, in nanoseconds.
    pub waiting_ns: Quantity,
    /// Bytes it spilled.
    pub spilled_bytes: Quantity,
    /// Partitions it ran in.
    pub partitions: Quantity,
    /// What its largest partition holds, in thousandths of an equal part.
    pub imbalance_permille: Quantity,
}

/// What is known of an ended run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunFeatures {
    /// Identity of the run.
    pub query_id: QueryId,
    /// Start of the run, in Unix nanoseconds.
    pub started_unix_ns: i64,
    /// What it ended with.
    pub status: Status,
    /// Wall time.
    pub wall_ns: u64,
    /// CPU time, as the sender reports it.
    pub cpu_ns: Option<u64>,
    /// Part of the wall time that the engine planned.
    pub planning_ns: Option<u64>,
    /// Time reads or writes were under way.
    pub waiting_ns: Option<u64>,
    /// Wall time in no counter: not planning, not worked even on one thread, not waited.
    pub uncounted_ns: Option<u64>,
    /// Threads that worked at a time, in thousandths.
    pub threads_used_permille: Option<u64>,
    /// Threads the query could use.
    pub threads_available: Option<u64>,
    /// Rows all scans read.
    pub rows_read: Option<u64>,
    /// Rows of the result.
    pub rows_out: Option<u64>,
    /// Bytes all scans read.
    pub bytes_read: Option<u64>,
    /// Bytes spilled.
    pub spilled_bytes: Option<u64>,
    /// Most memory in use, where it was sent.
    pub peak_memory_bytes: Option<u64>,
    /// Of a run that calls code of the program: the time in which such a call was under way, where it was measured.
    pub user_code_ns: Option<u64>,
    /// Of a run that calls code of the program: the CPU time of the whole process meanwhile, where it was sent.
    pub process_cpu_ns: Option<u64>,
    /// Version of the engine, with its brand.
    pub engine_version: Option<Arc<str>>,
    /// Version of the program.
    pub program_version: Option<Arc<str>>,
    /// Host.
    pub host: Option<Arc<str>>,
    /// Environment.
    pub environment: Option<Arc<str>>,
    /// Fingerprint of the logical plan, as the summary has it.
    pub logical: Option<Arc<str>>,
    /// The physical plan, and with it its fingerprint.
    pub plan: Arc<Plan>,
    /// Figures of the plan's nodes, in its order.
    pub nodes: Box<[NodeFeatures]>,
}

impl RunFeatures {
    /// A run of which only its moment and time are known.
    pub fn new(query_id: QueryId, started_unix_ns: i64, wall_ns: u64) -> Self {
        Self {
            query_id,
            started_unix_ns,
            status: Status::Finished,
            wall_ns,
            cpu_ns: None,
            planning_ns: None,
            waiting_ns: None,
            uncounted_ns: None,
            threads_used_permille: None,
            threads_available: None,
            rows_read: None,
            rows_out: None,
            bytes_read: None,
            spilled_bytes: None,
            peak_memory_bytes: None,
            user_code_ns: None,
            process_cpu_ns: None,
            engine_version: None,
            program_version: None,
            host: None,
            environment: None,
            logical: None,
            plan: Arc::default(),
            nodes: Box::default(),
        }
    }

    /// Fingerprint of the physical plan.
    pub fn physical(&self) -> Fingerprint {
        self.plan.fingerprint
    }

    /// Whether its scans count the time of what reads from them as a wait, too, as those of DataFusion do.
    pub(crate) fn waits_for_readers(&self) -> bool {
        self.engine_version.as_deref().is_some_and(|version| version.starts_with("datafusion"))
    }

    /// Time threads worked in all nodes, in nanoseconds.
    pub fn busy_ns(&self) -> u64 {
        self.nodes.iter().filter_map(|node| node.busy_ns.get()).fold(0, u64::saturating_add)
    }

    /// Fills the figures of the whole that follow from those of its nodes: rows and bytes read, bytes spilled,
    /// threads used, and the time in no counter.
    pub fn sum_up(&mut self) {
        let sum = |of: fn(&NodeFeatures) -> Quantity| {
            let known = self.nodes.iter().filter_map(|node| of(node).get());
            known.fold(None, |sum: Option<u64>, value| Some(sum.unwrap_or(0).saturating_add(value)))
        };
        let (bytes, spilled) = (sum(|node| node.bytes_read), sum(|node| node.spilled_bytes));
        let read = self.plan.reading_leaves().filter_map(|source| self.nodes.get(source));
        let read = read.filter_map(|figures| figures.rows_scanned.get().or(figures.rows_out.get()));
        self.rows_read =
            read.fold(None, |sum: Option<u64>, rows| Some(sum.unwrap_or(0).saturating_add(rows)));
        self.bytes_read = bytes;
        self.spilled_bytes = spilled;
        let busy = self.busy_ns();
        if busy == 0 {
            return;
        }
        let execution = self.wall_ns.saturating_sub(self.planning_ns.unwrap_or(0));
        self.threads_used_permille = (u128::from(busy) * 1000)
            .checked_div(u128::from(execution))
            .and_then(|threads| u64::try_from(threads).ok());
        let counted = busy.saturating_add(self.waiting_ns.unwrap_or(0));
        self.uncounted_ns = Some(execution.saturating_sub(counted));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cancelled_is_no_failure() {
        for (error, status) in [
            (None, Status::Finished),
            (Some("cancelled"), Status::Cancelled),
            (Some("python: KeyboardInterrupt:."), Status::Cancelled),
            (Some("dropped"), Status::Cancelled),
            (Some("the table was dropped"), Status::Failed),
            (Some("ComputeError: division by zero"), Status::Failed),
            (Some(""), Status::Failed),
        ] {
            assert_eq!(Status::from_error(error), status, "{error:?}");
        }
    }
}
