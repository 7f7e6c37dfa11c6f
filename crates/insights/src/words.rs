//! The columns and functions an expression names, whatever engine wrote it.
//!
//! Engines write `(col("amount") > 990.0) & (col("region") == "EU")`, `amount@3 > Float64(990) AND region@5 =
//! Utf8("EU")` or `orders.amount > 990`. No grammar fits all of them, but what is a literal can be told: it is
//! quoted (and not inside `col(…)`), begins with a digit, is masked (`<str>`), or is wrapped in the name of a
//! type.

use std::borrow::Cow;
use std::collections::BTreeSet;

/// What an expression names, its literals left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Words {
    /// Columns, without the table they are qualified with.
    pub(crate) columns: BTreeSet<String>,
    /// Functions, aliases left out.
    pub(crate) functions: BTreeSet<String>,
}

impl Words {
    pub(crate) fn add(&mut self, expression: &str) {
        Reader { words: self, rest: expression, column_next: false }.read();
    }

    pub(crate) fn of<'e>(expressions: impl IntoIterator<Item = &'e str>) -> Self {
        let mut words = Self::default();
        expressions.into_iter().for_each(|expression| words.add(expression));
        words
    }
}

/// A name without the numbers the engine makes up anew for each run: those of names that begin with an
/// underscore, such as `_TMP_17` or `__common_expr_1`.
pub(crate) fn stable_name(name: &str) -> Cow<'_, str> {
    if !name.starts_with('_') || !name.contains(|c: char| c.is_ascii_digit()) {
        return Cow::Borrowed(name);
    }
    let mut kept = String::with_capacity(name.len());
    for c in name.chars() {
        if !c.is_ascii_digit() {
            kept.push(c);
        } else if !kept.ends_with('#') {
            kept.push('#');
        }
    }
    Cow::Owned(kept)
}

const KEYWORDS: &[&str] = &[
    "and",
    "or",
    "not",
    "in",
    "is",
    "null",
    "true",
    "false",
    "like",
    "ilike",
    "between",
    "case",
    "when",
    "then",
    "else",
    "end",
    "asc",
    "desc",
    "nulls",
    "first",
    "last",
    "as",
    "distinct",
    "over",
    "by",
    "list",
    "set",
    "partition",
    "order",
    "rows",
    "range",
    "unbounded",
    "preceding",
    "following",
    "current",
    "row",
    "dyn",
    "int",
    "float",
    "str",
];

/// Types engines write around a literal or name in a cast, in lower case and without their parameters.
const TYPES: &[&str] = &[
    "utf8",
    "utf8view",
    "largeutf8",
    "string",
    "int8",
    "int16",
    "int32",
    "int64",
    "int128",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
    "decimal",
    "decimal32",
    "decimal64",
    "decimal128",
    "decimal256",
    "date",
    "date32",
    "date64",
    "datetime",
    "time",
    "time32",
    "time64",
    "duration",
    "boolean",
    "binary",
    "binaryview",
    "largebinary",
    "fixedsizebinary",
    "timestampsecond",
    "timestampmillisecond",
    "timestampmicrosecond",
    "timestampnanosecond",
    "timestamp",
    "durationsecond",
    "durationmillisecond",
    "durationmicrosecond",
    "durationnanosecond",
    "intervaldaytime",
    "intervalmonthdaynano",
    "intervalyearmonth",
    "interval",
    "some",
    "none",
    "lit",
    "series",
];

/// The columns that expressions are, of those that are one.
pub(crate) fn plain_columns<'e>(expressions: impl IntoIterator<Item = &'e str>) -> BTreeSet<String> {
    expressions.into_iter().filter_map(plain_column).collect()
}

/// The column that an expression is.
fn plain_column(expression: &str) -> Option<String> {
    let words = Words::of([expression]);
    let mut columns = words.columns.into_iter();
    let (Some(column), None) = (columns.next(), columns.next()) else { return None };
    let quoted = format!("col(\"{column}\")");
    let plain = expression == column || expression == quoted;
    let placed = expression.split_once('@').is_some_and(|(name, place)| {
        name.rsplit('.').next() == Some(&column) && place.bytes().all(|digit| digit.is_ascii_digit())
    });
    (plain || placed).then_some(column)
}

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

/// The length of the name of a masked literal that a text begins with, such as `<str>`.
fn masked(text: &str) -> Option<usize> {
    let inner = &text[1..];
    let end = inner.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(inner.len());
    (end > 0 && inner[end..].starts_with('>')).then_some(end)
}

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

struct Reader<'w, 'e> {
    words: &'w mut Words,
    rest: &'e str,
    /// Whether a quoted text that comes now is the name of a column.
    column_next: bool,
}

impl<'e> Reader<'_, 'e> {
    fn read(mut self) {
        let mut after_dot = false;
        while let Some(first) = self.rest.chars().next() {
            let dot = first == '.';
            match first {
                '"' | '\'' | '`' => self.quoted(first),
                '<' if self.mask() => {}
                _ if first.is_ascii_digit() => {
                    self.take(|c| c.is_alphanumeric() || matches!(c, '.' | '_' | ':' | '-'));
                }
                _ if first == '_' || first.is_alphabetic() => self.name(after_dot),
                _ => self.rest = &self.rest[first.len_utf8()..],
            }
            if !matches!(first, '(' | ' ' | '"') {
                self.column_next = self.column_next && first.is_alphabetic();
            }
            after_dot = dot;
        }
    }

    fn take(&mut self, part: impl Fn(char) -> bool) -> &'e str {
        let end = self.rest.find(|c| !part(c)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    /// A text in quotes: a literal, unless it is the name of a column.
    fn quoted(&mut self, quote: char) {
        let mut escaped = false;
        let end = self.rest[1..].find(|c| {
            let ends = c == quote && !escaped;
            escaped = c == '\\' && !escaped;
            ends
        });
        let text = &self.rest[1..];
        let (text, rest) = end.map_or((text, ""), |end| (&text[..end], &text[end + 1..]));
        if self.column_next || quote == '`' {
            self.words.columns.insert(text.to_owned());
        }
        self.column_next = false;
        self.rest = rest;
    }

    /// A masked literal such as `<str>`.
    fn mask(&mut self) -> bool {
        let inner = &self.rest[1..];
        let end = inner.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(inner.len());
        let masks = end > 0 && inner[end..].starts_with('>');
        if masks {
            self.rest = &inner[end + 1..];
        }
        masks
    }

    fn name(&mut self, method: bool) {
        let name = self.take(|c| c.is_alphanumeric() || matches!(c, '_' | '.'));
        let place =
            if self.rest.starts_with('@') { self.take(|c| c == '@' || c.is_ascii_digit()) } else { "" };
        let lower = name.to_ascii_lowercase();
        let called = self.rest.starts_with('(');
        if called && lower == "col" {
            self.column_next = true;
        } else if TYPES.contains(&lower.as_str()) {
            if called {
                self.brackets();
            }
        } else if called {
            if method && lower == "alias" {
                self.brackets();
            } else {
                self.words.functions.insert(lower);
            }
        } else if !method && (!place.is_empty() || !KEYWORDS.contains(&lower.as_str())) {
            let column = name.rsplit('.').next().unwrap_or(name);
            self.words.columns.insert(column.to_owned());
        }
    }

    /// Passes over a bracket and all it holds.
    fn brackets(&mut self) {
        let mut depth = 0_usize;
        let mut quote = None;
        let mut escaped = false;
        for (at, c) in self.rest.char_indices() {
            match (quote, c) {
                (Some(open), _) if c == open && !escaped => quote = None,
                (Some(_), _) => escaped = c == '\\' && !escaped,
                (None, '"' | '\'') => quote = Some(c),
                (None, '(') => depth += 1,
                (None, ')') => {
                    depth -= 1;
                    if depth == 0 {
                        self.rest = &self.rest[at + 1..];
                        return;
                    }
                }
                _ => {}
            }
        }
        self.rest = "";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expression: &str, columns: &[&str], functions: &[&str]) {
        let words = Words::of([expression]);
        assert_eq!(words.columns.iter().collect::<Vec<_>>(), columns, "{expression}");
        assert_eq!(words.functions.iter().collect::<Vec<_>>(), functions, "{expression}");
    }

    #[test]
    fn columns_are_told_from_literals() {
        check(r#"(col("amount") > 990.0) & (col("region") == "EU")"#, &["amount", "region"], &[]);
        check(
            r#"((col("a b") > <num>) & (col("region") == "<str>")) & (col("ts") > <datetime>)"#,
            &["a b", "region", "ts"],
            &[],
        );
        check(r#"amount@3 > Float64(990) AND region@5 = Utf8("E(U")"#, &["amount", "region"], &[]);
        check("orders.amount > 990 AND l_shipdate <= 1998-09-02", &["amount", "l_shipdate"], &[]);
        check(r#"col("id").is_in([[1, 2, … 13]])"#, &["id"], &["is_in"]);
        check(r#"dyn int: 1.alias("month")"#, &[], &[]);
        check("price", &["price"], &[]);
        check("`odd name` = 5", &["odd name"], &[]);
    }

    #[test]
    fn functions_are_kept_and_aliases_are_not() {
        check(
            r#"(col("price") * col("qty").cast(Float64)).sum().alias("gross")"#,
            &["price", "qty"],
            &["cast", "sum"],
        );
        check(r#"col("note").str.replace(["(\d)(\d)", "$2$1"]).alias("r")"#, &["note"], &["str.replace"]);
        check("sum(lineitem.l_quantity)", &["l_quantity"], &["sum"]);
        check("count(Int64(1))", &[], &["count"]);
    }

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
    fn names_of_the_engines_own_lose_their_numbers() {
        assert_eq!(stable_name("_POLARS_TMP_PHYS_42"), "_POLARS_TMP_PHYS_#");
        assert_eq!(stable_name("__common_expr_1"), "__common_expr_#");
        assert_eq!(stable_name("l_extendedprice2"), "l_extendedprice2");
    }

    #[test]
    fn what_is_cut_off_harms_nobody() {
        for text in ["col(\"", "Utf8(\"a", "\"", "<", "a@", "f(((", "é", "…é\"ü\\"] {
            Words::of([text]);
            without_literals(text);
            has_wildcard(text);
            is_elementwise(text);
        }
    }
}
