//! What a condition asks, whatever its literals and whoever wrote it, and whether it asks one row alone.

use std::collections::BTreeSet;

use crate::words::{KEYWORDS, TYPES, Words, masked, stable_name};

/// Names of columns in a sentence.
pub(crate) const NAMES_MAX: usize = 3;

/// The parts of a condition that must all hold, each without its literals, types, qualifiers of names, places of
/// columns, brackets and spaces, in lower case but for the names.
///
/// Engines write one condition in several ways: `(col("a") > 5) & (col("b") == "x")`, `a@3 > Int64(5) AND b@1 = …`.
pub(crate) fn without_literals(condition: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut part = String::new();
    let mut rest = condition;
    let mut column_next = false;
    while let Some(first) = rest.chars().next() {
        let is_word = first == '_' || first.is_alphanumeric();
        let taken = match first {
            '"' | '\'' | '`' => {
                let end = rest[1..].find(first).map_or(rest.len(), |end| end + 2);
                if column_next || first == '`' {
                    part.push_str(&stable_name(rest[1..end].trim_end_matches(first)));
                }
                column_next = false;
                end
            }
            '<' => masked(rest).map_or_else(
                || {
                    part.push('<');
                    1
                },
                |inner| inner + 2,
            ),
            '@' => 1 + rest[1..].find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len() - 1),
            '&' => {
                parts.push(std::mem::take(&mut part));
                rest.len() - rest.trim_start_matches('&').len()
            }
            _ if is_word => {
                let end = rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.')));
                let end = end.unwrap_or(rest.len());
                let word = &rest[..end];
                let lower = word.to_ascii_lowercase();
                let called = rest[end..].starts_with('(');
                if lower == "and" {
                    parts.push(std::mem::take(&mut part));
                } else if called && lower == "col" {
                    column_next = true;
                } else if first.is_ascii_digit() || TYPES.contains(&lower.as_str()) {
                    // A literal, or the type of one.
                } else if KEYWORDS.contains(&lower.as_str()) {
                    // A space keeps it from the name of a column.
                    part.push(' ');
                    part.push_str(&lower);
                    part.push(' ');
                } else {
                    part.push_str(&stable_name(word.rsplit('.').next().unwrap_or(word)));
                }
                end
            }
            '(' | ')' | '[' | ']' | ':' | ',' | '…' => first.len_utf8(),
            _ if first.is_whitespace() => first.len_utf8(),
            _ => {
                part.push(first);
                first.len_utf8()
            }
        };
        rest = &rest[taken..];
    }
    parts.push(part);
    parts.retain(|part| !part.is_empty());
    parts
}

/// The columns that a condition names, without the table they are qualified with.
pub fn columns_of(condition: &str) -> BTreeSet<String> {
    Words::of([condition]).columns
}

/// ` on a, b and 2 more`; nothing where no name is known.
pub fn on_columns(names: &BTreeSet<String>) -> String {
    listed("on", names)
}

pub(crate) fn listed(word: &str, names: &BTreeSet<String>) -> String {
    let shown: Vec<&str> = names.iter().take(NAMES_MAX).map(String::as_str).collect();
    match names.len() {
        0 => String::new(),
        count if count > NAMES_MAX => format!(" {word} {} and {} more", shown.join(", "), count - NAMES_MAX),
        _ => format!(" {word} {}", shown.join(", ")),
    }
}

/// Whether an expression gives the same for a row whatever other rows there are: it calls only functions of which that
/// is known.
pub(crate) fn is_elementwise(expression: &str) -> bool {
    let functions = Words::of([expression]).functions;
    // A list of literals is the same for all rows; a column is not.
    let of_column = |(at, call): (usize, &str)| {
        let list = &expression[at + call.len()..];
        let end = list.find([')', ']']).unwrap_or(list.len());
        list[..end].contains("col(")
    };
    !(expression.ends_with('…') || expression.ends_with("..."))
        && functions.iter().all(|name| ELEMENTWISE.contains(&name.as_str()))
        && !expression.match_indices("is_in(").any(of_column)
}

/// Functions whose value for a row needs no other row, in lower case.
const ELEMENTWISE: &[&str] = &[
    "abs",
    "and",
    "between",
    "btrim",
    "cast",
    "ceil",
    "char_length",
    "character_length",
    "coalesce",
    "concat",
    "contains",
    "date_part",
    "date_trunc",
    "day",
    "dt.date",
    "dt.day",
    "dt.hour",
    "dt.minute",
    "dt.month",
    "dt.ordinal_day",
    "dt.second",
    "dt.time",
    "dt.truncate",
    "dt.weekday",
    "dt.year",
    "ends_with",
    "exp",
    "extract",
    "floor",
    "hour",
    "ilike",
    "in",
    "is_between",
    "is_finite",
    "is_in",
    "is_infinite",
    "is_nan",
    "is_not_nan",
    "is_not_null",
    "is_null",
    "like",
    "ln",
    "log10",
    "lower",
    "ltrim",
    "minute",
    "month",
    "not",
    "nullif",
    "or",
    "otherwise",
    "regexp_like",
    "regexp_matches",
    "round",
    "rtrim",
    "second",
    "sqrt",
    "starts_with",
    "str.contains",
    "str.ends_with",
    "str.len_bytes",
    "str.len_chars",
    "str.replace",
    "str.replace_all",
    "str.slice",
    "str.starts_with",
    "str.strip_chars",
    "str.to_lowercase",
    "str.to_uppercase",
    "strict_cast",
    "substr",
    "substring",
    "then",
    "trim",
    "try_cast",
    "upper",
    "when",
    "year",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::CUT_OFF;

    #[test]
    fn a_condition_is_the_same_however_it_is_written() {
        let check = |these: &[&str], parts: &[&str]| {
            for text in these {
                assert_eq!(without_literals(text), parts, "{text}");
            }
        };
        check(
            &[
                r#"(col("amount") > 990.0) & (col("region") == "EU")"#,
                r#"[(col("amount")) > (5.0)] & [(col("region")) == ("a & b")]"#,
                "(col(\"amount\") > <num>) & (col(\"region\") == \"<str>\")",
            ],
            &["amount>", "region=="],
        );
        check(
            &["amount@3 > Float64(990) AND region@5 = Utf8(\"EU\")", "o.amount > 1 AND o.region = 'x'"],
            &["amount>", "region="],
        );
        check(&["a IS NOT NULL", "a@0 is not null"], &["a is  not  null "]);
        check(&["f(a) > 1"], &["fa>"]);
    }

    #[test]
    fn what_needs_other_rows_is_not_elementwise() {
        for text in [
            r#"(col("amount") > 990.0) & (col("region") == "mean()")"#,
            "amount@3 > Float64(990) AND region@5 IN (1, 2)",
            r#"col("ts").dt.year() == 2026"#,
            r#"col("id").is_in([[1, 2, … 13]])"#,
            r#"col("note").cast(String).str.contains(["x"]).not()"#,
        ] {
            assert!(is_elementwise(text), "{text}");
        }
        for text in [
            r#"[(col("amount")) > (col("amount").shift([dyn int: 1]))]"#,
            r#"[(col("amount")) > (col("amount").mean())]"#,
            r#"col("amount").rank() < 5"#,
            r#"col("amount").cum_sum() < 5"#,
            r#"col("amount").first().over([col("day")]) < 5"#,
            "row_number() OVER (PARTITION BY day) = 1",
            "random() < 0.3",
            r#"col("id").is_in([col("other")])"#,
            r#"(col("amount") > 5) & …"#,
        ] {
            assert!(!is_elementwise(text), "{text}");
        }
    }

    #[test]
    fn what_is_cut_off_harms_nobody() {
        for text in CUT_OFF {
            without_literals(text);
            is_elementwise(text);
        }
    }
}
