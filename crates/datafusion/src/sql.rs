//! The text of a query.

use datafusion::logical_expr::LogicalPlan;
use datafusion::sql::unparser::plan_to_sql;

/// Writes SQL that asks for what a plan does; none where the plan says what SQL can not.
///
/// What the program wrote is not known: data frames have no text, and no hook is given that of SQL.
pub(crate) fn reconstruct(plan: &LogicalPlan) -> Option<String> {
    let asked = match plan {
        LogicalPlan::Analyze(analyze) => &analyze.input,
        LogicalPlan::Copy(copy) => &copy.input,
        LogicalPlan::Dml(dml) => &dml.input,
        plan => return Some(plan_to_sql(plan).ok()?.to_string()),
    };
    reconstruct(asked)
}
