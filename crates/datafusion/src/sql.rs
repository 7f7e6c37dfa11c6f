//! Plans and expressions as SQL.

use datafusion::logical_expr::{Expr, LogicalPlan};
use datafusion::sql::sqlparser::keywords::ALL_KEYWORDS;
use datafusion::sql::unparser::Unparser;
use datafusion::sql::unparser::dialect::Dialect;

/// Writes SQL that asks for what a plan does; none where the plan says what SQL cannot.
///
/// What the program wrote is not known: data frames have no text, and no hook is given that of SQL.
pub(crate) fn reconstruct(plan: &LogicalPlan) -> Option<String> {
    let asked = match plan {
        LogicalPlan::Analyze(analyze) => &analyze.input,
        LogicalPlan::Copy(copy) => &copy.input,
        LogicalPlan::Dml(dml) => &dml.input,
        plan => return Some(Unparser::new(&Quoted).plan_to_sql(plan).ok()?.to_string()),
    };
    reconstruct(asked)
}

/// Writes an expression with literals in quotes and columns without; none where SQL cannot say it.
pub(crate) fn expression(expression: &Expr) -> Option<String> {
    Some(Unparser::new(&Bare).expr_to_sql(expression).ok()?.to_string())
}

/// Quotes the names that have to be. DataFusion's own dialect quotes the same ones, and compiles a regular
/// expression for each name it meets.
struct Quoted;

impl Dialect for Quoted {
    fn identifier_quote_style(&self, identifier: &str) -> Option<char> {
        let is_part = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_');
        let is_plain = !identifier.is_empty()
            && identifier.bytes().all(is_part)
            && !identifier.starts_with(|c: char| c.is_ascii_digit());
        let is_keyword = || {
            let upper = identifier.to_ascii_uppercase();
            upper != "ID" && ALL_KEYWORDS.binary_search(&&*upper).is_ok()
        };
        (!is_plain || is_keyword()).then_some('"')
    }
}

/// Quotes no name, so that none is taken for a literal.
struct Bare;

impl Dialect for Bare {
    fn identifier_quote_style(&self, _identifier: &str) -> Option<char> {
        None
    }
}

#[cfg(test)]
mod tests {
    use datafusion::sql::unparser::dialect::DefaultDialect;

    use super::*;

    #[test]
    fn names_are_quoted_as_datafusion_does() {
        for name in
            ["l_tax", "_a1", "id", "name", "order", "zone", "UserId", "a b", "a.b", "1a", "größe", "a\"b", ""]
        {
            let theirs = DefaultDialect {}.identifier_quote_style(name);
            assert_eq!(Quoted.identifier_quote_style(name), theirs, "{name:?}");
        }
        assert!(ALL_KEYWORDS.is_sorted(), "they are searched");
    }
}
