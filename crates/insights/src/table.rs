//! The name of a table or file without what changes from run to run.

/// The table behind a name or path: its last part that says more than a number, a date or a partition.
///
/// `/data/sales/year=2026/part-0007.parquet` is `sales`, `s3://lake/sales_2026-01.parquet` is
/// `sales_#.parquet`. The place is left out: the same query over a copy of the data is the same query.
pub(crate) fn table_name(path: &str) -> String {
    let mut names = path.split(['/', '\\']).filter(|part| !part.is_empty()).rev().map(without_numbers);
    let Some(last) = names.next() else { return String::new() };
    if says_something(&last) {
        return last;
    }
    names.find(|name| !name.contains('=') && says_something(name)).unwrap_or(last)
}

/// Every number, date and hexadecimal id as `#`.
fn without_numbers(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let is_word = |c: char| c.is_ascii_alphanumeric();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|c| is_word(c) != is_word(first)).unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        rest = after;
        if is_word(first) {
            push_word(&mut kept, run);
        } else {
            kept.push_str(run);
        }
    }
    while let Some(at) = kept.find("#-#") {
        kept.replace_range(at..at + 3, "#");
    }
    kept
}

fn push_word(kept: &mut String, word: &str) {
    let hexadecimal = word.len() >= 8 && word.bytes().all(|b| b.is_ascii_hexdigit());
    if hexadecimal && word.bytes().any(|b| b.is_ascii_digit()) {
        kept.push('#');
        return;
    }
    let mut digits = false;
    for c in word.chars() {
        if !c.is_ascii_digit() {
            kept.push(c);
        } else if !digits {
            kept.push('#');
        }
        digits = c.is_ascii_digit();
    }
}

fn says_something(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name);
    let words = stem.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    let mut telling =
        words.filter(|word| !matches!(*word, "part" | "data" | "file" | "chunk" | "snappy" | "c"));
    telling.next().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_from_run_to_run_is_left_out() {
        for (path, name) in [
            ("orders", "orders"),
            ("/srv/data/orders.parquet", "orders.parquet"),
            ("s3://lake/sales_2026-01.parquet", "sales_#.parquet"),
            ("s3://lake/sales_2026-12-31.parquet", "sales_#.parquet"),
            ("/data/sales/year=2026/part-0007.parquet", "sales"),
            ("/data/sales/part-00000-1f0c2a3b4d5e.c000.snappy.parquet", "sales"),
            ("/data/2026/11/21.parquet", "#.parquet"),
            ("C:\\data\\orders.csv", "orders.csv"),
            ("<path>", "<path>"),
            ("", ""),
            ("/1/2", "#"),
        ] {
            assert_eq!(table_name(path), name, "{path}");
        }
    }
}
