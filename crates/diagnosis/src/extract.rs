//! Features from the profile of an ended run.

use std::collections::HashSet;
use std::sync::Arc;

use queryscope_insights::vocabulary::query_counters;
use queryscope_insights::{Fingerprint, Outline, Outlines, outline, vocabulary::Term};
use queryscope_protocol::{Profile, QueryId, named_version};

use crate::features::{NodeFeatures, RunFeatures, Status};
use crate::packed::NODES_MAX;
use crate::plan::Plan;

/// What the process of a run says of it, beside the profile.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Context {
    /// Host the process runs on.
    pub host: Option<Arc<str>>,
    /// Its environment.
    pub environment: Option<Arc<str>>,
    /// Version of the program.
    pub program_version: Option<Arc<str>>,
}

impl RunFeatures {
    /// The features of an ended run.
    pub fn from_profile(
        query_id: QueryId,
        started_unix_ns: i64,
        profile: &Profile<'_>,
        context: &Context,
        outlines: &mut Outlines,
    ) -> Self {
        let outline = outlines.outline(profile);
        let mut run = Self::new(query_id, started_unix_ns, nanoseconds(profile.wall_ms));
        run.status = Status::from_error(profile.failed.as_deref());
        run.cpu_ns = profile.cpu_ms.map(nanoseconds);
        run.planning_ns = profile.planning_ms.map(nanoseconds);
        run.rows_out = profile.result_rows.and_then(|rows| u64::try_from(rows).ok());
        run.engine_version = profile
            .engine_version
            .as_deref()
            .map(|version| named_version(profile.engine.as_deref(), version).into());
        run.logical = profile.fingerprint.as_deref().map(Into::into);
        run.host.clone_from(&context.host);
        run.environment.clone_from(&context.environment);
        run.program_version.clone_from(&context.program_version);
        let counter = |term: &Term| {
            let counters = profile.query_metrics.as_ref()?;
            term.names.iter().find_map(|name| counters.get(name))
        };
        run.threads_available = counter(&query_counters::THREADS);
        run.peak_memory_bytes = counter(&query_counters::PEAK_MEMORY);
        run.nodes = nodes(&outline);
        run.waiting_ns = counter(&query_counters::IO).or_else(|| longest_wait(&run.nodes));
        run.plan = Arc::new(Plan::from(&outline));
        if run.plan.calls_user_code() {
            run.user_code_ns = counter(&query_counters::USER_CODE);
            run.process_cpu_ns = counter(&query_counters::PROCESS_CPU);
        }
        run.sum_up();
        // What the query says as a whole, where no node says more than 0.
        let whole =
            |nodes: Option<u64>, term| nodes.filter(|&sum| sum > 0).or_else(|| counter(term)).or(nodes);
        run.bytes_read = whole(run.bytes_read, &query_counters::BYTES_READ);
        run.spilled_bytes = whole(run.spilled_bytes, &query_counters::SPILLED_BYTES);
        run
    }
}

/// The physical plan of a running query, and what its nodes have counted so far, in the plan's order, with whether
/// each has ended: what [`Running`](crate::Running) borrows.
pub fn counted(profile: &Profile<'_>) -> (Fingerprint, Vec<(NodeFeatures, bool)>) {
    let outline = outline(profile);
    let ended: HashSet<u64> = profile
        .plan
        .physical
        .iter()
        .filter(|node| node.metrics.as_ref().is_some_and(|counters| counters.done == Some(true)))
        .map(|node| node.id)
        .collect();
    let each = nodes(&outline).into_iter().zip(&outline.nodes);
    (outline.fingerprint, each.map(|(figures, node)| (figures, ended.contains(&node.id))).collect())
}

fn nodes(outline: &Outline) -> Box<[NodeFeatures]> {
    if outline.nodes.len() > NODES_MAX {
        return Box::default();
    }
    let each = outline.nodes.iter().map(|node| {
        let counters = &node.counters;
        NodeFeatures {
            busy_ns: counters.busy_ns.into(),
            rows_in: counters.rows_in.into(),
            rows_out: counters.rows_out.into(),
            rows_scanned: counters.rows_scanned.into(),
            bytes_read: counters.bytes_read.into(),
            waiting_ns: counters.waiting_ns.into(),
            spilled_bytes: counters.spilled_bytes.into(),
            partitions: counters.partitions.into(),
            imbalance_permille: counters.imbalance_permille.into(),
        }
    });
    each.collect()
}

/// Partitions wait beside each other: a node in partitions waited for the sum of their waits by their number.
fn longest_wait(nodes: &[NodeFeatures]) -> Option<u64> {
    let each = nodes.iter().filter_map(|node| {
        Some(node.waiting_ns.get()? / node.partitions.get().filter(|&count| count > 0).unwrap_or(1))
    });
    each.max()
}

fn nanoseconds(ms: f64) -> u64 {
    (ms * 1e6).round() as u64
}
