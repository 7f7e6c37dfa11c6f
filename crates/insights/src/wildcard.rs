//! Whether an expression may name columns without their names.

use crate::words::Words;

/// Whether an expression may name columns without their names: by a wildcard (`count(DISTINCT *)`, `all().sum()`), a
/// pattern (`col("^a.*$")`), a selector, a place (`#1`), or beyond where its text is cut.
pub(crate) fn has_wildcard(expression: &str) -> bool {
    let lower = expression.to_ascii_lowercase();
    // It counts rows, of which it needs no column.
    let text = lower.replace("count(*)", "count()");
    let functions = Words::of([text.as_str()]).functions;
    let selects = functions.iter().any(|name| SELECTORS.contains(&name.as_str()) || name.starts_with("cs."));
    let is_of_name = |c: char| c == '_' || c.is_alphanumeric();
    let all = text.match_indices("all()").any(|(at, _)| !text[..at].ends_with(|c| c == '.' || is_of_name(c)));
    let star = text.match_indices('*').any(|(at, _)| {
        let before = text[..at].trim_end();
        let after = text[at + 1..].trim_start();
        let of_table = before.strip_suffix('.').is_some_and(|table| table.ends_with(is_of_name));
        of_table
            || before.is_empty()
            || before.ends_with(['(', '[', ','])
            || before.ends_with("distinct")
            || after.is_empty()
            || after.starts_with([')', ']', ','])
    });
    let pattern = text.contains("col(\"^") || text.contains("col(\"*\")");
    let place =
        text.match_indices('#').any(|(at, _)| text[at + 1..].starts_with(|c: char| c.is_ascii_digit()));
    selects || all || star || pattern || place || text.ends_with('…') || text.ends_with("...")
}

/// Functions that choose columns by something else than a name, in lower case.
const SELECTORS: &[&str] = &[
    "by_dtype",
    "by_index",
    "by_name",
    "columns",
    "dtype_columns",
    "exclude",
    "index_columns",
    "matches",
    "nth",
    "selector",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::CUT_OFF;

    #[test]
    fn wildcards_are_told_from_products() {
        for text in [
            "all().sum()",
            "[all()]",
            "count(DISTINCT *)",
            "sum(t.*)",
            "*",
            "COLUMNS(*)",
            "columns('a')",
            r#"col("^(amount|day)$").sum()"#,
            r#"col("*").max()"#,
            "cs.numeric().sum()",
            "sum(#1)",
            r#"col("a").sum() + …"#,
        ] {
            assert!(has_wildcard(text), "{text}");
        }
        for text in [
            "count(*)",
            "COUNT(*) AS n",
            "len()",
            r#"(col("a") * col("b")).sum()"#,
            "sum(a@1 * b@2)",
            "sum(a * 2)",
            r#"col("a").all()"#,
            r#"col("note").str.contains([".*x"])"#,
            r#"col("id").is_in([[1, 2, … 13]])"#,
        ] {
            assert!(!has_wildcard(text), "{text}");
        }
    }

    #[test]
    fn what_is_cut_off_harms_nobody() {
        for text in CUT_OFF {
            has_wildcard(text);
        }
    }
}
