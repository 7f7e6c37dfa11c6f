//! `docs/insights.md` lists the vocabulary as it is.

use queryscope_insights::vocabulary::{Term, counters, properties, query_counters};

const DOCS: &str = include_str!("../../../../docs/insights.md");

/// The first columns of a term's row.
fn row(term: &Term) -> String {
    let others: Vec<String> = term.names[1..].iter().map(|name| format!("`{name}`")).collect();
    format!("| `{}` | {} | {} | {} |", term.name(), term.unit, term.meaning, others.join(", "))
}

#[test]
fn every_term_has_its_row() {
    let missing: Vec<String> = [counters::ALL, query_counters::ALL, properties::ALL]
        .into_iter()
        .flatten()
        .map(row)
        .filter(|row| !DOCS.contains(row.as_str()))
        .collect();
    assert!(missing.is_empty(), "not in docs/insights.md:\n{}", missing.join("\n"));
}
