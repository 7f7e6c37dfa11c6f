//! Counters of a node, under the names that findings and readers know.

use std::borrow::Cow;
use std::sync::atomic::Ordering::Relaxed;

use datafusion::common::format::MetricCategory;
use datafusion::physical_plan::metrics::{Metric, MetricValue};
use queryscope_client::NodeReadings;
use queryscope_client::protocol::Role;

use crate::counted::CountedNode;
use crate::described::DescribedNode;

/// Reads a node into a sample. `over`: the query has ended, so that no stream opens any more.
pub(crate) fn read(
    node: &DescribedNode,
    counted: &CountedNode,
    rows_in: u64,
    over: bool,
    into: &mut NodeReadings,
) {
    let mut sums = Sums::default();
    counted.for_each_metric(|metric| sums.add(metric));

    let rows_out = counted.rows();
    let busy_ns = partition_counters(node, counted, into) + sums.tasks_ns;
    into.add("rows_in", rows_in).add("rows_out", rows_out).add("busy_ns", busy_ns);
    scan_counters(node, &sums, rows_out, into);
    if node.role == Role::Sink {
        into.add("rows_written", sums.get("rows_written").unwrap_or(rows_in));
    }
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
    for sum in sums.all.iter().filter(|sum| sum.value > 0 && !sum.is_plain()) {
        into.custom(&sum.name, sum.unit, Some(sum.value.into()));
    }
    let state = counted.state();
    into.done(state.all_ended || over && !state.open);
}

/// Adds what the wrapper counted of the partitions; the time threads worked in the polls of the node.
fn partition_counters(node: &DescribedNode, counted: &CountedNode, into: &mut NodeReadings) -> u64 {
    let (mut busy_ns, mut batches) = (0, 0);
    for partition in counted.partitions() {
        let busy = partition.busy_ns.load(Relaxed);
        busy_ns += busy;
        batches += partition.batches.load(Relaxed);
        into.max("partition_rows_max", partition.rows.load(Relaxed));
        into.max("partition_busy_max_ns", busy);
        into.max("longest_step_ns", partition.longest_step_ns.load(Relaxed));
    }
    into.add("partitions", node.partitions as u64).add("batches_out", batches);
    busy_ns
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

/// Metrics of a node, summed over its partitions and files.
#[derive(Default)]
struct Sums {
    all: Vec<Sum>,
    /// Where the next metric is expected: those of one partition come in the order of the one before.
    next: usize,
    /// Work in tasks that a node starts, which is not in the polls of its streams, in nanoseconds.
    tasks_ns: u64,
}

struct Sum {
    name: Cow<'static, str>,
    unit: &'static str,
    value: u64,
}

impl Sum {
    /// Whether the wrapper's counters, or those of the format, say it already.
    fn is_plain(&self) -> bool {
        const PLAIN: &[&str] = &[
            "bytes_written",
            "bytes_scanned",
            "rows_written",
            "spill_count",
            "spilled_bytes",
            "spilled_rows",
        ];
        PLAIN.contains(&&*self.name)
    }
}

impl Sums {
    fn get(&self, name: &str) -> Option<u64> {
        self.all.iter().find(|sum| sum.name == name).map(|sum| sum.value)
    }

    fn add(&mut self, metric: &Metric) {
        let amount = metric.value().as_usize() as u64;
        match metric.value() {
            // Rows and batches the wrapper counts for every node. The bytes of a batch are those of the
            // buffers it is a slice of.
            MetricValue::OutputRows(_)
            | MetricValue::OutputBatches(_)
            | MetricValue::OutputBytes(_)
            | MetricValue::StartTimestamp(_)
            | MetricValue::EndTimestamp(_) => {}
            MetricValue::ElapsedCompute(_) => self.put("elapsed_compute".into(), "ns", amount),
            MetricValue::SpillCount(_) => self.put("spill_count".into(), "spills", amount),
            MetricValue::SpilledBytes(_) => self.put("spilled_bytes".into(), "bytes", amount),
            MetricValue::SpilledRows(_) => self.put("spilled_rows".into(), "rows", amount),
            MetricValue::CurrentMemoryUsage(_) => self.put("memory".into(), "bytes", amount),
            MetricValue::Time { name, .. } => {
                if name == "repartition_time" {
                    self.tasks_ns += amount;
                }
                self.put(name.clone(), "ns", amount);
            }
            MetricValue::PeakMemoryUsage { name, .. } => self.put(name.clone(), "bytes", amount),
            MetricValue::Count { name, .. } | MetricValue::Gauge { name, .. } => {
                self.put(name.clone(), unit(name, metric.metric_category()), amount);
            }
            MetricValue::PruningMetrics { name, pruning_metrics } => {
                let unit = unit(name, None);
                self.put(name.clone(), unit, pruning_metrics.pruned() as u64);
                let matched = name.replace("pruned", "matched");
                if matched != **name {
                    self.put(matched.into(), unit, pruning_metrics.matched() as u64);
                }
            }
            MetricValue::Ratio { name, ratio_metrics } => {
                self.put(format!("{name}_part").into(), "", ratio_metrics.part() as u64);
                self.put(format!("{name}_total").into(), "", ratio_metrics.total() as u64);
            }
            MetricValue::Custom { name, .. } => self.put(name.clone(), "", amount),
        }
    }

    fn put(&mut self, name: Cow<'static, str>, unit: &'static str, amount: u64) {
        let at = match self.all.get(self.next) {
            Some(sum) if sum.name == name => self.next,
            _ => self.all.iter().position(|sum| sum.name == name).unwrap_or_else(|| {
                self.all.push(Sum { name, unit, value: 0 });
                self.all.len() - 1
            }),
        };
        self.all[at].value = self.all[at].value.saturating_add(amount);
        self.next = at + 1;
    }
}

/// What a counter counts, by its name where the engine does not say.
fn unit(name: &str, category: Option<MetricCategory>) -> &'static str {
    const UNITS: &[(&str, &str)] = &[
        ("row_group", "row groups"),
        ("rows", "rows"),
        ("records", "rows"),
        ("batches", "batches"),
        ("files", "files"),
        ("pages", "pages"),
        ("bytes", "bytes"),
        ("mem", "bytes"),
        ("errors", "errors"),
    ];
    let by_name = UNITS.iter().find(|(part, _)| name.contains(part)).map(|(_, unit)| *unit);
    by_name.unwrap_or(match category {
        Some(MetricCategory::Bytes) => "bytes",
        Some(MetricCategory::Timing) => "ns",
        Some(MetricCategory::Rows | MetricCategory::Uncategorized) | None => "",
    })
}

#[cfg(test)]
mod tests;
