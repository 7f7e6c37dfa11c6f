//! Logical nodes.

use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::logical_expr::{Distinct, DmlStatement, Expr, FetchType, JoinType, LogicalPlan, SkipType};
use queryscope_client::protocol::Role;

use crate::expressions::{column_names, how, logical};
use crate::properties::Properties;

/// A logical node. Its id is its place in the list.
#[derive(Debug)]
pub(crate) struct LogicalNode {
    pub(crate) kind: &'static str,
    pub(crate) role: Role,
    /// First the inputs whose rows the node takes, then the subqueries that its expressions ask for a value.
    pub(crate) inputs: Vec<usize>,
    /// How many of the inputs are subqueries.
    pub(crate) subqueries: usize,
    pub(crate) fields: Vec<String>,
    pub(crate) properties: Properties,
}

/// The nodes of a plan: each before its inputs.
pub(crate) fn nodes(plan: &LogicalPlan) -> Vec<LogicalNode> {
    let mut nodes = Vec::new();
    add(plan, &mut nodes);
    nodes
}

fn add(plan: &LogicalPlan, nodes: &mut Vec<LogicalNode>) -> usize {
    let id = nodes.len();
    let mut properties = Properties::default();
    let (kind, role) = describe(plan, &mut properties);
    let fields = plan.schema().fields().iter().map(|field| field.name().clone()).collect();
    nodes.push(LogicalNode { kind, role, inputs: Vec::new(), subqueries: 0, fields, properties });
    let mut inputs: Vec<usize> = plan.inputs().into_iter().map(|input| add(input, nodes)).collect();
    let rows = inputs.len();
    // The visitor gives subqueries as nodes of the kind Subquery; it never fails as the closure does not.
    let visited = plan.apply_subqueries(|subquery| {
        inputs.push(add(subquery, nodes));
        Ok(TreeNodeRecursion::Jump)
    });
    debug_assert!(visited.is_ok());
    nodes[id].subqueries = inputs.len() - rows;
    nodes[id].inputs = inputs;
    id
}

fn texts<'e>(expressions: impl IntoIterator<Item = &'e Expr>) -> impl Iterator<Item = String> {
    expressions.into_iter().map(logical)
}

fn all(parts: &[Expr]) -> Option<String> {
    (!parts.is_empty()).then(|| texts(parts).collect::<Vec<_>>().join(" AND "))
}

/// The kind and role of a node; its properties are added.
fn describe(plan: &LogicalPlan, properties: &mut Properties) -> (&'static str, Role) {
    match plan {
        LogicalPlan::Projection(projection) => {
            properties.list("expressions", texts(&projection.expr));
            ("Projection", projection_role(&projection.expr))
        }
        LogicalPlan::Filter(filter) => {
            properties.add("predicate", logical(&filter.predicate));
            ("Filter", Role::Selection)
        }
        LogicalPlan::Window(window) => {
            properties.list("expressions", texts(&window.window_expr));
            ("Window", Role::Function)
        }
        LogicalPlan::Aggregate(aggregate) => {
            properties
                .list("keys", texts(&aggregate.group_expr))
                .list("expressions", texts(&aggregate.aggr_expr));
            let distinct = aggregate.aggr_expr.is_empty() && !aggregate.group_expr.is_empty();
            ("Aggregate", if distinct { Role::Distinct } else { Role::Aggregation })
        }
        LogicalPlan::Sort(sort) => {
            let order = sort.expr.iter().map(|key| {
                let direction = if key.asc { "ASC" } else { "DESC" };
                let nulls = if key.nulls_first { "FIRST" } else { "LAST" };
                format!("{} {direction} NULLS {nulls}", logical(&key.expr))
            });
            properties.list("order", order).add("limit", sort.fetch);
            ("Sort", if sort.fetch.is_some() { Role::TopK } else { Role::Sort })
        }
        LogicalPlan::Join(join) => {
            properties
                .add("how", how(join.join_type))
                .list("left_keys", texts(join.on.iter().map(|(left, _)| left)))
                .list("right_keys", texts(join.on.iter().map(|(_, right)| right)))
                .add("predicate", join.filter.as_ref().map(logical));
            ("Join", join_role(join.join_type, join.on.is_empty(), join.filter.is_some()))
        }
        LogicalPlan::TableScan(scan) => {
            let table = scan.source.schema();
            properties
                .add("table", scan.table_name.to_string())
                .list(
                    "projection",
                    scan.projection.iter().flat_map(|each| column_names(&table, each.iter().copied())),
                )
                .list("table_columns", table.fields().iter().map(|field| field.name().clone()))
                .add("predicate", all(&scan.filters))
                .add("limit", scan.fetch);
            ("TableScan", Role::Scan)
        }
        LogicalPlan::Limit(limit) => {
            if let Ok(SkipType::Literal(skip)) = limit.get_skip_type() {
                properties.add("offset", (skip > 0).then_some(skip));
            }
            if let Ok(FetchType::Literal(fetch)) = limit.get_fetch_type() {
                properties.add("limit", fetch);
            }
            ("Limit", Role::Engine)
        }
        LogicalPlan::SubqueryAlias(alias) => {
            properties.add("name", alias.alias.to_string());
            ("SubqueryAlias", Role::Engine)
        }
        LogicalPlan::Distinct(Distinct::All(_)) => ("Distinct", Role::Distinct),
        LogicalPlan::Distinct(Distinct::On(distinct)) => {
            properties.list("keys", texts(&distinct.on_expr));
            ("Distinct", Role::Distinct)
        }
        LogicalPlan::Dml(DmlStatement { table_name, op, .. }) => {
            properties.add("destination", table_name.to_string()).add("operation", op.to_string());
            ("Dml", Role::Sink)
        }
        LogicalPlan::Copy(copy) => {
            properties.add("destination", copy.output_url.clone()).add("format", copy.file_type.get_ext());
            ("Copy", Role::Sink)
        }
        LogicalPlan::Unnest(unnest) => {
            properties.list("columns", unnest.exec_columns.iter().map(|column| column.name.clone()));
            ("Unnest", Role::Function)
        }
        LogicalPlan::RecursiveQuery(query) => {
            properties.add("name", query.name.clone()).add("distinct", query.is_distinct);
            ("RecursiveQuery", Role::Union)
        }
        LogicalPlan::Extension(extension) => {
            properties.add("name", extension.node.name());
            ("Extension", Role::Unknown)
        }
        LogicalPlan::Union(_) => ("Union", Role::Union),
        LogicalPlan::Repartition(_) => ("Repartition", Role::Engine),
        LogicalPlan::EmptyRelation(_) => ("EmptyRelation", Role::Dataframe),
        LogicalPlan::Values(_) => ("Values", Role::Dataframe),
        LogicalPlan::Subquery(_) => ("Subquery", Role::Engine),
        LogicalPlan::Analyze(_) => ("Analyze", Role::Engine),
        LogicalPlan::Explain(_) => ("Explain", Role::Engine),
        LogicalPlan::DescribeTable(_) => ("DescribeTable", Role::Engine),
        LogicalPlan::Statement(_) => ("Statement", Role::Engine),
        LogicalPlan::Ddl(_) => ("Ddl", Role::Engine),
    }
}

fn projection_role(expressions: &[Expr]) -> Role {
    let is_column = |expression: &Expr| matches!(expression, Expr::Column(_));
    let is_renamed = |expression: &Expr| matches!(expression, Expr::Alias(alias) if is_column(&alias.expr));
    if expressions.iter().all(is_column) {
        Role::Projection
    } else if expressions.iter().all(|each| is_column(each) || is_renamed(each)) {
        Role::Rename
    } else {
        Role::Map
    }
}

fn join_role(join: JoinType, no_keys: bool, filtered: bool) -> Role {
    match join {
        JoinType::Inner if no_keys && !filtered => Role::CrossJoin,
        JoinType::Inner | JoinType::Left | JoinType::Right | JoinType::Full if no_keys => Role::ThetaJoin,
        JoinType::Inner | JoinType::Left | JoinType::Right | JoinType::Full => Role::Join,
        _ => Role::SemiAntiJoin,
    }
}
