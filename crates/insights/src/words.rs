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

/// Words of SQL that are no names, in lower case.
pub(crate) const KEYWORDS: &[&str] = &[
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
pub(crate) const TYPES: &[&str] = &[
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

/// The length of the name of a masked literal that a text begins with, such as `<str>`.
pub(crate) fn masked(text: &str) -> Option<usize> {
    let inner = &text[1..];
    let end = inner.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(inner.len());
    (end > 0 && inner[end..].starts_with('>')).then_some(end)
}

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
                ':' if self.rest.starts_with("::") => {
                    self.rest = &self.rest[2..];
                    self.type_or_alias();
                }
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
        let name = masked(self.rest);
        if let Some(name) = name {
            self.rest = &self.rest[name + 2..];
        }
        name.is_some()
    }

    fn name(&mut self, method: bool) {
        let name = self.take(|c| c.is_alphanumeric() || matches!(c, '_' | '.'));
        let place =
            if self.rest.starts_with('@') { self.take(|c| c == '@' || c.is_ascii_digit()) } else { "" };
        let lower = name.to_ascii_lowercase();
        let called = self.rest.starts_with('(');
        if called && lower == "col" {
            self.column_next = true;
        } else if !method && lower == "as" {
            self.type_or_alias();
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

    /// Passes over what follows `AS` or `::`: the type of a cast, or an alias.
    fn type_or_alias(&mut self) {
        const MORE: [&str; 5] = ["precision", "with", "without", "time", "zone"];
        self.take(char::is_whitespace);
        if self.rest.starts_with(['"', '\'', '`']) {
            return;
        }
        self.take(|c| c.is_alphanumeric() || c == '_');
        if self.rest.starts_with('(') {
            self.brackets();
        }
        loop {
            let word = self.rest.trim_start();
            let end = word.find(|c: char| !c.is_alphabetic()).unwrap_or(word.len());
            if !MORE.contains(&word[..end].to_ascii_lowercase().as_str()) {
                return;
            }
            self.rest = &word[end..];
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
    use crate::testing::CUT_OFF;

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
        check("CAST(CAST(ts AS VARCHAR) AS BIGINT) >= 5 AND n = 1", &["n", "ts"], &["cast"]);
        check(
            "CAST(ts AS TIMESTAMP WITH TIME ZONE) < now() AND zone = 'x'",
            &["ts", "zone"],
            &["cast", "now"],
        );
        check("price::DECIMAL(18, 3) > qty::double precision", &["price", "qty"], &[]);
        check("sum(price) AS total, n as \"a b\"", &["n", "price"], &["sum"]);
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
    fn names_of_the_engines_own_lose_their_numbers() {
        assert_eq!(stable_name("_POLARS_TMP_PHYS_42"), "_POLARS_TMP_PHYS_#");
        assert_eq!(stable_name("__common_expr_1"), "__common_expr_#");
        assert_eq!(stable_name("l_extendedprice2"), "l_extendedprice2");
    }

    #[test]
    fn what_is_cut_off_harms_nobody() {
        for text in CUT_OFF {
            Words::of([text]);
        }
    }
}
