//! Operators on the rows of one input.

use std::sync::Arc;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{LexOrdering, Partitioning};
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode};
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::limit::{GlobalLimitExec, LocalLimitExec};
use datafusion::physical_plan::projection::{ProjectionExec, ProjectionExpr};
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::sorts::partial_sort::PartialSortExec;
use datafusion::physical_plan::sorts::partitioned_topk::PartitionedTopKExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::unnest::UnnestExec;
use datafusion::physical_plan::windows::{BoundedWindowAggExec, WindowAggExec};
use datafusion::physical_plan::{ExecutionPlan, PhysicalExpr, WindowExpr};
use queryscope_client::protocol::Role;

use super::Details;
use crate::expressions::{Predicate, Shown, column_names};

pub(super) fn describe(node: &dyn ExecutionPlan) -> Option<Details> {
    if let Some(filter) = node.downcast_ref::<FilterExec>() {
        Some(selection(filter))
    } else if let Some(projection) = node.downcast_ref::<ProjectionExec>() {
        Some(projected(projection))
    } else if let Some(aggregate) = node.downcast_ref::<AggregateExec>() {
        Some(aggregated(aggregate))
    } else if let Some(sort) = node.downcast_ref::<SortExec>() {
        Some(sorted(sort.expr(), sort.fetch()).role(sort_role(sort.fetch())))
    } else if let Some(sort) = node.downcast_ref::<PartialSortExec>() {
        Some(sorted(sort.expr(), sort.fetch()).role(sort_role(sort.fetch())))
    } else if let Some(sort) = node.downcast_ref::<PartitionedTopKExec>() {
        Some(sorted(sort.expr(), Some(sort.fetch())))
    } else if let Some(merge) = node.downcast_ref::<SortPreservingMergeExec>() {
        Some(sorted(merge.expr(), merge.fetch()).going_on(true))
    } else if let Some(limit) = node.downcast_ref::<GlobalLimitExec>() {
        Some(limited(limit.skip(), limit.fetch()).going_on(true))
    } else if let Some(limit) = node.downcast_ref::<LocalLimitExec>() {
        Some(limited(0, Some(limit.fetch())))
    } else if let Some(coalesce) = node.downcast_ref::<CoalescePartitionsExec>() {
        Some(limited(0, coalesce.fetch()))
    } else if let Some(window) = node.downcast_ref::<WindowAggExec>() {
        Some(windows(window.window_expr(), &window.partition_keys()))
    } else if let Some(window) = node.downcast_ref::<BoundedWindowAggExec>() {
        Some(windows(window.window_expr(), &window.partition_keys()))
    } else if let Some(unnest) = node.downcast_ref::<UnnestExec>() {
        Some(unnested(unnest))
    } else {
        node.downcast_ref::<RepartitionExec>().map(repartitioned)
    }
}

fn selection(filter: &FilterExec) -> Details {
    let predicate = Predicate::of(filter.predicate());
    let schema = filter.input().schema();
    let (columns, fetch) = (filter.projection().clone(), filter.fetch());
    Details::new(move |properties| {
        predicate.render(properties);
        let columns = columns.iter().flat_map(|columns| column_names(&schema, columns.iter().copied()));
        properties.list("columns", columns).add("limit", fetch);
    })
}

fn projected(projection: &ProjectionExec) -> Details {
    let expressions: Vec<(Shown, String)> =
        projection.expr().iter().map(|each| (Shown::of(&each.expr), each.alias.clone())).collect();
    Details::new(move |properties| {
        let texts = expressions.iter().map(|(shown, alias)| match shown.text() {
            text if text == *alias => text,
            text => format!("{text} AS {alias}"),
        });
        properties.list("expressions", texts);
        properties.list("columns", expressions.iter().map(|(_, alias)| alias.clone()));
    })
    .role(projection_role(projection.expr()))
}

fn projection_role(expressions: &[ProjectionExpr]) -> Role {
    let column =
        |each: &ProjectionExpr| each.expr.downcast_ref::<Column>().map(|column| column.name() == each.alias);
    if expressions.iter().any(|each| column(each).is_none()) {
        Role::Map
    } else if expressions.iter().any(|each| column(each) == Some(false)) {
        Role::Rename
    } else {
        Role::Projection
    }
}

fn aggregated(aggregate: &AggregateExec) -> Details {
    let keys: Vec<_> = aggregate.group_expr().expr().iter().map(|(key, _)| Shown::of(key)).collect();
    let sets = aggregate.group_expr().has_grouping_set();
    let functions: Vec<_> = aggregate
        .aggr_expr()
        .iter()
        .zip(aggregate.filter_expr())
        .map(|(call, filter)| Call {
            function: call.fun().name().to_owned(),
            distinct: call.is_distinct(),
            arguments: call.expressions().iter().map(Shown::of).collect(),
            filter: filter.as_ref().map(Shown::of),
        })
        .collect();
    let role = if functions.is_empty() && !keys.is_empty() { Role::Distinct } else { Role::Aggregation };
    let mode = match aggregate.mode() {
        AggregateMode::Partial => "partial",
        AggregateMode::PartialReduce => "partial reduce",
        AggregateMode::Final => "final",
        AggregateMode::FinalPartitioned => "final partitioned",
        AggregateMode::Single => "single",
        AggregateMode::SinglePartitioned => "single partitioned",
    };
    let limit = aggregate.limit_options().map(|options| options.limit());
    let last_step = matches!(aggregate.mode(), AggregateMode::Final | AggregateMode::FinalPartitioned);
    Details::new(move |properties| {
        properties
            .list("keys", keys.iter().map(Shown::text))
            .list("expressions", functions.iter().map(Call::text))
            .add("mode", mode)
            .add("grouping_sets", sets.then_some(true))
            .add("limit", limit);
    })
    .role(role)
    .going_on(last_step)
}

/// A call of an aggregate function.
struct Call {
    function: String,
    distinct: bool,
    arguments: Vec<Shown>,
    filter: Option<Shown>,
}

impl Call {
    fn text(&self) -> String {
        let distinct = if self.distinct { "DISTINCT " } else { "" };
        let arguments: Vec<_> = self.arguments.iter().map(Shown::text).collect();
        let call = format!("{}({distinct}{})", self.function, arguments.join(", "));
        match &self.filter {
            Some(filter) => format!("{call} FILTER (WHERE {})", filter.text()),
            None => call,
        }
    }
}

const fn sort_role(fetch: Option<usize>) -> Role {
    if fetch.is_some() { Role::TopK } else { Role::Sort }
}

fn sorted(order: &LexOrdering, fetch: Option<usize>) -> Details {
    let order: Vec<_> = order.iter().map(|key| (Shown::of(&key.expr), key.options)).collect();
    Details::new(move |properties| {
        let texts = order.iter().map(|(shown, options)| {
            let direction = if options.descending { "DESC" } else { "ASC" };
            let nulls = if options.nulls_first { "FIRST" } else { "LAST" };
            format!("{} {direction} NULLS {nulls}", shown.text())
        });
        properties.list("order", texts).add("limit", fetch);
    })
}

fn limited(skip: usize, fetch: Option<usize>) -> Details {
    Details::new(move |properties| {
        properties.add("offset", (skip > 0).then_some(skip)).add("limit", fetch);
    })
}

fn windows(calls: &[Arc<dyn WindowExpr>], keys: &[Arc<dyn PhysicalExpr>]) -> Details {
    let calls: Vec<_> = calls.iter().map(Arc::clone).collect();
    let keys: Vec<_> = keys.iter().map(Shown::of).collect();
    Details::new(move |properties| {
        let texts = calls.iter().map(|call| {
            let arguments: Vec<_> = call.expressions().iter().map(|each| Shown::of(each).text()).collect();
            let function = call.name().split('(').next().unwrap_or_default();
            format!("{function}({})", arguments.join(", "))
        });
        properties.list("expressions", texts).list("partition_by", keys.iter().map(Shown::text));
    })
}

fn unnested(unnest: &UnnestExec) -> Details {
    let schema: SchemaRef = unnest.input().schema();
    let columns: Vec<_> =
        unnest.list_column_indices().iter().map(|list| list.index_in_input_schema).collect();
    let structs = unnest.struct_column_indices().to_vec();
    Details::new(move |properties| {
        let columns = columns.iter().chain(&structs).copied();
        properties.list("columns", column_names(&schema, columns));
    })
}

fn repartitioned(repartition: &RepartitionExec) -> Details {
    let order = repartition.preserve_order().then_some(true);
    let (scheme, keys) = match repartition.partitioning() {
        Partitioning::RoundRobinBatch(_) => ("round robin", Vec::new()),
        Partitioning::Hash(keys, _) => ("hash", keys.iter().map(Shown::of).collect()),
        Partitioning::Range(range) => {
            ("range", range.ordering().iter().map(|key| Shown::of(&key.expr)).collect())
        }
        Partitioning::UnknownPartitioning(_) => ("unknown", Vec::new()),
    };
    Details::new(move |properties| {
        properties
            .add("scheme", scheme)
            .list("keys", keys.iter().map(Shown::text))
            .add("preserves_order", order);
    })
}
