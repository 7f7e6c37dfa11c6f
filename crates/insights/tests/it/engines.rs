//! Queries of DuckDB 2.0.0 and Daft 0.7.26.
//!
//! `tests/data/engines.jsonl.gz` holds the events that `tests/data/engines.py` records.

use queryscope_insights::findings;

use crate::events::{finished, inflate};

const EVENTS: &[u8] = include_bytes!("../data/engines.jsonl.gz");

#[test]
fn what_is_found_is_what_the_queries_do() {
    let text = inflate(EVENTS);
    let said = finished(&text).into_iter().map(|profile| {
        let label = profile.label.as_deref().unwrap_or_default().to_owned();
        let found = findings(&profile).findings;
        let found: Vec<String> = found.iter().map(|one| format!("{} {}", one.level, one.rule)).collect();
        format!("{label}: {}", found.join(", ")).trim_end().to_owned()
    });
    insta::assert_snapshot!(said.collect::<Vec<_>>().join("\n"), @"
        daft/join:
        daft/python: note user_code
        duckdb/join:
        duckdb/one-day:
        duckdb/sort-on-disk: note spilling
        duckdb/fails:
    ");
}
