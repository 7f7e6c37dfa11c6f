//! Counters of a node, under the names that findings and readers know.

use std::sync::atomic::Ordering::Relaxed;

use queryscope_client::NodeReadings;
use queryscope_client::protocol::Role;

use crate::counted::CountedNode;
use crate::described::DescribedNode;
use crate::sums::Sums;

/// What the wrapper's counters, or those of the format, say already.
const PLAIN: &[&str] =
    &["bytes_written", "bytes_scanned", "rows_written", "spill_count", "spilled_bytes", "spilled_rows"];

/// Reads a node into a sample. `over`: the query has ended, so that no stream opens any more.
pub(crate) fn read(
    node: &DescribedNode,
    counted: &CountedNode,
    rows_in: u64,
    over: bool,
    into: &mut NodeReadings,
) {
    let busy_ns = partition_counters(node, counted, into);
    let rows_out = counted.rows();
    counted.with_sums(over, |sums| {
        let busy_ns = busy_ns + sums.tasks_ns();
        into.add("rows_in", rows_in).add("rows_out", rows_out).add("busy_ns", busy_ns);
        scan_counters(node, sums, rows_out, into);
        if node.role == Role::Sink {
            into.add("rows_written", sums.get("rows_written").unwrap_or(rows_in));
        }
        metrics(sums, into);
    });
    let state = counted.state();
    into.done(state.all_ended || over && !state.open);
}

/// Adds what the wrapper counted of the partitions; the time threads worked in the polls of the node.
fn partition_counters(node: &DescribedNode, counted: &CountedNode, into: &mut NodeReadings) -> u64 {
    let (mut busy_ns, mut batches) = (0, 0);
    let (mut rows_max, mut busy_max_ns, mut longest_step_ns) = (0, 0, 0);
    for partition in counted.partitions() {
        let busy = partition.busy_ns.load(Relaxed);
        busy_ns += busy;
        batches += partition.batches.load(Relaxed);
        rows_max = partition.rows.load(Relaxed).max(rows_max);
        busy_max_ns = busy.max(busy_max_ns);
        longest_step_ns = partition.longest_step_ns.load(Relaxed).max(longest_step_ns);
    }
    into.add("partition_rows_max", rows_max)
        .add("partition_busy_max_ns", busy_max_ns)
        .add("longest_step_ns", longest_step_ns)
        .add("partitions", node.partitions as u64)
        .add("batches_out", batches);
    busy_ns
}

/// Adds what DataFusion counts of a node.
fn metrics(sums: &Sums, into: &mut NodeReadings) {
    for (name, counter) in [
        ("bytes_written", "bytes_written"),
        ("bytes_scanned", "bytes_read"),
        ("spill_count", "spills"),
        ("spilled_bytes", "spilled_bytes"),
        ("spilled_rows", "spilled_rows"),
    ] {
        if let Some(value) = sums.get(name) {
            into.add(counter, value);
        }
    }
    for sum in sums.iter().filter(|sum| sum.value > 0 && !PLAIN.contains(&&*sum.name)) {
        into.custom(&sum.name, sum.unit, Some(sum.value.into()));
    }
}

fn scan_counters(node: &DescribedNode, sums: &Sums, rows_out: u64, into: &mut NodeReadings) {
    let Some(files) = node.details.files else { return };
    into.add("rows_scanned", rows_out + sums.get("pushdown_rows_pruned").unwrap_or(0));
    // A file that is read in ranges is opened for each.
    let opened = sums.get("files_opened").map_or(files.count, |opened| opened.min(files.count));
    into.add("files", opened);
    if opened > 0 {
        into.add("file_bytes", files.bytes);
    }
    if let (Some(pruned), Some(left)) =
        (sums.get("row_groups_pruned_statistics"), sums.get("row_groups_matched_statistics"))
    {
        let later =
            ["row_groups_pruned_bloom_filter", "row_groups_pruned_dynamic_filter", "limit_pruned_row_groups"];
        let later: u64 = later.iter().filter_map(|name| sums.get(name)).sum();
        into.add("row_groups", pruned + left).add("row_groups_pruned", pruned + later.min(left));
    }
}
