use datafusion::physical_plan::metrics::{
    Count, ExecutionPlanMetricsSet, Gauge, MetricBuilder, PruningMetrics, RatioMetrics, Time,
};
use std::time::Duration;

use super::*;

fn sums(metrics: &ExecutionPlanMetricsSet) -> Vec<(String, &'static str, u64)> {
    let mut sums = Sums::default();
    let handles = sums.take(metrics.clone_inner().iter());
    sums.sum(handles.iter());
    sums.all.into_iter().map(|sum| (sum.name.into_owned(), sum.unit, sum.value)).collect()
}

fn sum(name: &str, unit: &'static str, value: u64) -> (String, &'static str, u64) {
    (name.to_owned(), unit, value)
}

#[test]
fn partitions_add_up_whatever_their_order() {
    let metrics = ExecutionPlanMetricsSet::new();
    for (partition, rows) in [(0, 3), (1, 4)] {
        let count: Count = MetricBuilder::new(&metrics).counter("build_input_rows", partition);
        count.add(rows);
        let memory: Gauge = MetricBuilder::new(&metrics).gauge("build_mem_used", partition);
        memory.add(100);
    }
    MetricBuilder::new(&metrics).gauge("build_mem_used", 2).add(1);
    assert_eq!(sums(&metrics), [sum("build_input_rows", "rows", 7), sum("build_mem_used", "bytes", 201)]);
}

#[test]
fn one_name_of_two_types_is_no_panic() {
    let metrics = ExecutionPlanMetricsSet::new();
    MetricBuilder::new(&metrics).counter("odd", 0).add(1);
    let time: Time = MetricBuilder::new(&metrics).subset_time("odd", 0);
    time.add_duration(Duration::from_nanos(5));
    assert_eq!(sums(&metrics), [sum("odd", "", 6)]);
}

#[test]
fn pruning_and_ratios_keep_both_their_numbers() {
    let metrics = ExecutionPlanMetricsSet::new();
    let pruning: PruningMetrics =
        MetricBuilder::new(&metrics).pruning_metrics("row_groups_pruned_statistics", 0);
    pruning.add_pruned(2);
    pruning.add_matched(5);
    let ratio: RatioMetrics = MetricBuilder::new(&metrics).ratio_metrics("selectivity", 0);
    ratio.set_part(1);
    ratio.set_total(4);
    assert_eq!(
        sums(&metrics),
        [
            sum("row_groups_pruned_statistics", "row groups", 2),
            sum("row_groups_matched_statistics", "row groups", 5),
            sum("selectivity_part", "", 1),
            sum("selectivity_total", "", 4),
        ]
    );
}

#[test]
fn what_the_wrapper_counts_is_not_repeated() {
    let metrics = ExecutionPlanMetricsSet::new();
    MetricBuilder::new(&metrics).output_rows(0).add(9);
    MetricBuilder::new(&metrics).output_bytes(0).add(9);
    MetricBuilder::new(&metrics).elapsed_compute(0).add_duration(Duration::from_nanos(8));
    assert_eq!(sums(&metrics), [sum("elapsed_compute", "ns", 8)]);
}

#[test]
fn what_is_gone_is_counted_once_and_what_is_there_as_it_is() {
    let metrics = ExecutionPlanMetricsSet::new();
    let rows = MetricBuilder::new(&metrics).counter("build_input_rows", 0);
    rows.add(3);
    let mut sums = Sums::default();
    let [gone, there] = [(); 2].map(|()| sums.take(metrics.clone_inner().iter()));
    sums.keep(&gone);
    for counted in [6, 7] {
        sums.sum(there.iter());
        assert_eq!((sums.get("build_input_rows"), sums.iter().count()), (Some(counted), 1));
        rows.add(1);
    }
}
