//! Metrics of DataFusion, whatever their type, as one number a name.

use std::borrow::Cow;
use std::sync::Arc;

use datafusion::common::format::MetricCategory;
use datafusion::physical_plan::metrics::{
    Count, Gauge, Metric, MetricValue, PruningMetrics, RatioMetrics, Time,
};

/// Metrics of a node, summed over its partitions and files.
#[derive(Debug, Default)]
pub(crate) struct Sums {
    all: Vec<Sum>,
    /// Where the next metric is expected: those of one partition come in the order of the one before.
    next: usize,
}

/// One of the metrics.
#[derive(Debug)]
pub(crate) struct Sum {
    pub(crate) name: Cow<'static, str>,
    pub(crate) unit: &'static str,
    pub(crate) value: u64,
    /// The part of it that nodes counted which are gone.
    gone: u64,
}

/// A number behind a metric, and which sum it is part of. A sample reads it without the metric: its name and labels are
/// in memory that no other thread has in its cache.
#[derive(Debug)]
pub(crate) struct MetricHandle {
    number: Number,
    sum: usize,
}

#[derive(Debug)]
enum Number {
    Count(Count),
    Gauge(Gauge),
    Time(Time),
    Pruned(PruningMetrics),
    Matched(PruningMetrics),
    Part(RatioMetrics),
    Total(RatioMetrics),
    Custom(Arc<Metric>),
}

impl Number {
    fn get(&self) -> u64 {
        let value = match self {
            Self::Count(count) => count.value(),
            Self::Gauge(gauge) => gauge.value(),
            Self::Time(time) => time.value(),
            Self::Pruned(pruning) => pruning.pruned(),
            Self::Matched(pruning) => pruning.matched(),
            Self::Part(ratio) => ratio.part(),
            Self::Total(ratio) => ratio.total(),
            Self::Custom(metric) => metric.value().as_usize(),
        };
        value as u64
    }
}

impl Sums {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Sum> {
        self.all.iter()
    }

    /// Work in tasks that a node starts, which is not in the polls of its streams, in nanoseconds.
    pub(crate) fn tasks_ns(&self) -> u64 {
        self.get("repartition_time").unwrap_or(0)
    }

    pub(crate) fn get(&self, name: &str) -> Option<u64> {
        self.all.iter().find(|sum| sum.name == name).map(|sum| sum.value)
    }

    /// Sums the numbers of the nodes that are there, and what those counted that are gone.
    pub(crate) fn sum<'h>(&mut self, handles: impl Iterator<Item = &'h MetricHandle>) {
        for sum in &mut self.all {
            sum.value = sum.gone;
        }
        for handle in handles {
            let sum = &mut self.all[handle.sum];
            sum.value = sum.value.saturating_add(handle.number.get());
        }
    }

    /// Keeps the numbers of a node that will be gone.
    pub(crate) fn keep(&mut self, handles: &[MetricHandle]) {
        for handle in handles {
            let sum = &mut self.all[handle.sum];
            sum.gone = sum.gone.saturating_add(handle.number.get());
        }
    }

    /// The handles of metrics.
    pub(crate) fn take<'m>(&mut self, metrics: impl Iterator<Item = &'m Arc<Metric>>) -> Vec<MetricHandle> {
        let mut handles = Vec::with_capacity(metrics.size_hint().0);
        self.next = 0;
        for metric in metrics {
            self.take_one(metric, |number, sum| handles.push(MetricHandle { number, sum }));
        }
        handles
    }

    fn take_one(&mut self, metric: &Arc<Metric>, mut push: impl FnMut(Number, usize)) {
        match metric.value() {
            // Rows and batches the wrapper counts for every node. The bytes of a batch are those of the
            // buffers it is a slice of.
            MetricValue::OutputRows(_)
            | MetricValue::OutputBatches(_)
            | MetricValue::OutputBytes(_)
            | MetricValue::StartTimestamp(_)
            | MetricValue::EndTimestamp(_) => {}
            MetricValue::ElapsedCompute(time) => {
                push(Number::Time(time.clone()), self.place(&"elapsed_compute".into(), || "ns"));
            }
            MetricValue::SpillCount(count) => {
                push(Number::Count(count.clone()), self.place(&"spill_count".into(), || "spills"));
            }
            MetricValue::SpilledBytes(count) => {
                push(Number::Count(count.clone()), self.place(&"spilled_bytes".into(), || "bytes"));
            }
            MetricValue::SpilledRows(count) => {
                push(Number::Count(count.clone()), self.place(&"spilled_rows".into(), || "rows"));
            }
            MetricValue::CurrentMemoryUsage(gauge) => {
                push(Number::Gauge(gauge.clone()), self.place(&"memory".into(), || "bytes"));
            }
            MetricValue::Time { name, time } => {
                push(Number::Time(time.clone()), self.place(name, || "ns"));
            }
            MetricValue::PeakMemoryUsage { name, gauge } => {
                push(Number::Gauge(gauge.clone()), self.place(name, || "bytes"));
            }
            MetricValue::Count { name, count } => {
                let place = self.place(name, || unit(name, metric.metric_category()));
                push(Number::Count(count.clone()), place);
            }
            MetricValue::Gauge { name, gauge } => {
                let place = self.place(name, || unit(name, metric.metric_category()));
                push(Number::Gauge(gauge.clone()), place);
            }
            MetricValue::PruningMetrics { name, pruning_metrics } => {
                let place = self.place(name, || unit(name, None));
                push(Number::Pruned(pruning_metrics.clone()), place);
                if let Some((before, after)) = name.split_once("pruned") {
                    let place = self.place_joined(Joined([before, "matched", after]), || unit(name, None));
                    push(Number::Matched(pruning_metrics.clone()), place);
                }
            }
            MetricValue::Ratio { name, ratio_metrics } => {
                let part = self.place_joined(Joined([name, "_part", ""]), || "");
                push(Number::Part(ratio_metrics.clone()), part);
                let total = self.place_joined(Joined([name, "_total", ""]), || "");
                push(Number::Total(ratio_metrics.clone()), total);
            }
            MetricValue::Custom { name, .. } => {
                push(Number::Custom(Arc::clone(metric)), self.place(name, || ""));
            }
        }
    }

    #[expect(clippy::ptr_arg, reason = "most names are borrowed: their clones allocate nothing")]
    fn place(&mut self, name: &Cow<'static, str>, unit: impl FnOnce() -> &'static str) -> usize {
        self.place_where(|known| known == name, || (name.clone(), unit()))
    }

    fn place_joined(&mut self, name: Joined<'_>, unit: impl FnOnce() -> &'static str) -> usize {
        self.place_where(|known| name.is(known), || (name.0.concat().into(), unit()))
    }

    /// Where a sum stands. Nothing is made for a name that is known.
    fn place_where(
        &mut self,
        is: impl Fn(&str) -> bool,
        make: impl FnOnce() -> (Cow<'static, str>, &'static str),
    ) -> usize {
        let at = match self.all.get(self.next) {
            Some(sum) if is(&sum.name) => self.next,
            _ => self.all.iter().position(|sum| is(&sum.name)).unwrap_or_else(|| {
                let (name, unit) = make();
                self.all.push(Sum { name, unit, value: 0, gone: 0 });
                self.all.len() - 1
            }),
        };
        self.next = at + 1;
        at
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
