//! Expressions as text.
//!
//! Literal values are written as SQL writes them: numbers plainly, all others in quotes, so that redaction can
//! tell them.

use std::sync::Arc;

use datafusion::arrow::datatypes::Schema;
use datafusion::arrow::util::display::array_value_to_string;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{JoinType, ScalarValue};
use datafusion::logical_expr::Expr;
use datafusion::physical_expr::expressions::Literal;
use datafusion::physical_expr::split_conjunction;
use datafusion::physical_plan::PhysicalExpr;

use crate::properties::Properties;
use crate::sql;

/// An expression that can be written later. It holds no dynamic filter, behind which a hash table may be.
#[derive(Debug)]
pub(crate) enum Shown {
    Live(Arc<dyn PhysicalExpr>),
    Dynamic,
}

impl Shown {
    pub(crate) fn of(expression: &Arc<dyn PhysicalExpr>) -> Self {
        if is_dynamic(expression) { Self::Dynamic } else { Self::Live(Arc::clone(expression)) }
    }

    pub(crate) fn text(&self) -> String {
        match self {
            Self::Live(expression) => physical(expression),
            Self::Dynamic => "a dynamic filter".to_owned(),
        }
    }
}

/// A condition: its parts that are joined by AND.
#[derive(Debug)]
pub(crate) struct Predicate {
    parts: Vec<Arc<dyn PhysicalExpr>>,
    dynamic: usize,
}

impl Predicate {
    pub(crate) fn of(predicate: &Arc<dyn PhysicalExpr>) -> Self {
        let all = split_conjunction(predicate);
        let parts: Vec<_> =
            all.iter().filter(|part| !is_dynamic(part)).map(|part| Arc::clone(part)).collect();
        Self { dynamic: all.len() - parts.len(), parts }
    }

    /// Adds the condition, and how many parts only the run finds.
    pub(crate) fn render(&self, properties: &mut Properties) {
        let parts: Vec<_> = self.parts.iter().map(physical).collect();
        properties.add("predicate", (!parts.is_empty()).then(|| parts.join(" AND ")));
        properties.add("dynamic_filters", (self.dynamic > 0).then_some(self.dynamic));
    }
}

fn is_dynamic(expression: &Arc<dyn PhysicalExpr>) -> bool {
    expression.exists(|part| Ok(part.expression_id().is_some())).unwrap_or(true)
}

fn physical(expression: &Arc<dyn PhysicalExpr>) -> String {
    let quoted = Arc::clone(expression).transform_down(|part| {
        Ok(match part.downcast_ref::<Literal>() {
            Some(literal) => {
                let text = ScalarValue::from(literal_text(literal.value()));
                Transformed::yes(Arc::new(Literal::new(text)) as Arc<dyn PhysicalExpr>)
            }
            None => Transformed::no(part),
        })
    });
    match quoted.data() {
        Ok(quoted) => datafusion::physical_expr_common::physical_expr::fmt_sql(&*quoted).to_string(),
        Err(_) => "an expression".to_owned(),
    }
}

/// A logical expression.
pub(crate) fn logical(expression: &Expr) -> String {
    sql::expression(expression).unwrap_or_else(|| quoted(expression).human_display().to_string())
}

/// The expression with literals that show as SQL writes them: what cannot be written as SQL is shown in other
/// words, which leave out the quotes.
fn quoted(expression: &Expr) -> Expr {
    let quoted = expression.clone().transform_down(|part| {
        Ok(match part {
            Expr::Literal(value, metadata) => {
                Transformed::yes(Expr::Literal(ScalarValue::from(literal_text(&value)), metadata))
            }
            part => Transformed::no(part),
        })
    });
    quoted.data().unwrap_or_else(|_| Expr::Literal(ScalarValue::Null, None))
}

fn literal_text(value: &ScalarValue) -> String {
    if value.is_null() {
        return "NULL".to_owned();
    }
    let text = value.to_array().and_then(|array| Ok(array_value_to_string(&array, 0)?));
    let text = text.unwrap_or_else(|_| value.to_string());
    let plain = value.data_type().is_numeric() || matches!(value, ScalarValue::Boolean(_));
    if plain { text } else { format!("'{}'", text.replace('\'', "''")) }
}

pub(crate) fn column_names(
    schema: &Schema,
    indices: impl IntoIterator<Item = usize>,
) -> impl Iterator<Item = String> {
    indices.into_iter().filter_map(|index| schema.fields().get(index).map(|field| field.name().clone()))
}

/// The sort of a join, in the words all engines share.
pub(crate) const fn how(join: JoinType) -> &'static str {
    match join {
        JoinType::Inner => "inner",
        JoinType::Left => "left",
        JoinType::Right => "right",
        JoinType::Full => "full",
        JoinType::LeftSemi => "left semi",
        JoinType::RightSemi => "right semi",
        JoinType::LeftAnti => "left anti",
        JoinType::RightAnti => "right anti",
        JoinType::LeftMark => "left mark",
        JoinType::RightMark => "right mark",
    }
}

#[cfg(test)]
mod tests;
