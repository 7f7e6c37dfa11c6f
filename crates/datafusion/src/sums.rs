//! Metrics of DataFusion, whatever their type, as one number a name.

use std::borrow::Cow;

use datafusion::common::format::MetricCategory;
use datafusion::physical_plan::metrics::{Metric, MetricValue};

/// Metrics of a node, summed over its partitions and files.
#[derive(Debug, Default)]
pub(crate) struct Sums {
    all: Vec<Sum>,
    /// Where the next metric is expected: those of one partition come in the order of the one before.
    next: usize,
    /// Work in tasks that a node starts, which is not in the polls of its streams, in nanoseconds.
    tasks_ns: u64,
}

/// One of the metrics.
#[derive(Debug)]
pub(crate) struct Sum {
    pub(crate) name: Cow<'static, str>,
    pub(crate) unit: &'static str,
    pub(crate) value: u64,
}

impl Sums {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Sum> {
        self.all.iter()
    }

    pub(crate) fn tasks_ns(&self) -> u64 {
        self.tasks_ns
    }

    pub(crate) fn get(&self, name: &str) -> Option<u64> {
        self.all.iter().find(|sum| sum.name == name).map(|sum| sum.value)
    }

    /// Sets all to what others come to, and keeps the names: nothing is made for those that are added again.
    pub(crate) fn start_over(&mut self, from: &Self) {
        self.all.iter_mut().for_each(|sum| sum.value = 0);
        self.next = 0;
        self.tasks_ns = from.tasks_ns;
        for sum in &from.all {
            self.put(&sum.name, || sum.unit, sum.value);
        }
        self.next = 0;
    }

    pub(crate) fn add(&mut self, metric: &Metric) {
        let amount = || metric.value().as_usize() as u64;
        match metric.value() {
            // Rows and batches the wrapper counts for every node. The bytes of a batch are those of the
            // buffers it is a slice of.
            MetricValue::OutputRows(_)
            | MetricValue::OutputBatches(_)
            | MetricValue::OutputBytes(_)
            | MetricValue::StartTimestamp(_)
            | MetricValue::EndTimestamp(_) => {}
            MetricValue::ElapsedCompute(_) => self.put(&"elapsed_compute".into(), || "ns", amount()),
            MetricValue::SpillCount(_) => self.put(&"spill_count".into(), || "spills", amount()),
            MetricValue::SpilledBytes(_) => self.put(&"spilled_bytes".into(), || "bytes", amount()),
            MetricValue::SpilledRows(_) => self.put(&"spilled_rows".into(), || "rows", amount()),
            MetricValue::CurrentMemoryUsage(_) => self.put(&"memory".into(), || "bytes", amount()),
            MetricValue::Time { name, .. } => {
                let amount = amount();
                if name == "repartition_time" {
                    self.tasks_ns += amount;
                }
                self.put(name, || "ns", amount);
            }
            MetricValue::PeakMemoryUsage { name, .. } => self.put(name, || "bytes", amount()),
            MetricValue::Count { name, .. } | MetricValue::Gauge { name, .. } => {
                self.put(name, || unit(name, metric.metric_category()), amount());
            }
            MetricValue::PruningMetrics { name, pruning_metrics } => {
                self.put(name, || unit(name, None), pruning_metrics.pruned() as u64);
                if let Some((before, after)) = name.split_once("pruned") {
                    let matched = Joined([before, "matched", after]);
                    self.put_joined(matched, || unit(name, None), pruning_metrics.matched() as u64);
                }
            }
            MetricValue::Ratio { name, ratio_metrics } => {
                self.put_joined(Joined([name, "_part", ""]), || "", ratio_metrics.part() as u64);
                self.put_joined(Joined([name, "_total", ""]), || "", ratio_metrics.total() as u64);
            }
            MetricValue::Custom { name, .. } => self.put(name, || "", amount()),
        }
    }

    #[expect(clippy::ptr_arg, reason = "most names are borrowed: their clones allocate nothing")]
    fn put(&mut self, name: &Cow<'static, str>, unit: impl FnOnce() -> &'static str, amount: u64) {
        self.put_where(|known| known == name, || Sum { name: name.clone(), unit: unit(), value: 0 }, amount);
    }

    fn put_joined(&mut self, name: Joined<'_>, unit: impl FnOnce() -> &'static str, amount: u64) {
        let make = || Sum { name: name.0.concat().into(), unit: unit(), value: 0 };
        self.put_where(|known| name.is(known), make, amount);
    }

    /// Nothing is made for a name that is known: a sample reads as many metrics as there are partitions and files.
    fn put_where(&mut self, is: impl Fn(&str) -> bool, make: impl FnOnce() -> Sum, amount: u64) {
        let at = match self.all.get(self.next) {
            Some(sum) if is(&sum.name) => self.next,
            _ => self.all.iter().position(|sum| is(&sum.name)).unwrap_or_else(|| {
                self.all.push(make());
                self.all.len() - 1
            }),
        };
        self.all[at].value = self.all[at].value.saturating_add(amount);
        self.next = at + 1;
    }
}

/// A name in parts.
#[derive(Clone, Copy)]
struct Joined<'n>([&'n str; 3]);

impl Joined<'_> {
    fn is(self, name: &str) -> bool {
        self.0.iter().try_fold(name, |rest, part| rest.strip_prefix(part)) == Some("")
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
