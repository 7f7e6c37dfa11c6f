//! The vocabulary is one list: the documentation and the dashboard have copies that tests keep true.

use std::fmt::Write as _;
use std::path::Path;

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

/// The vocabulary as the dashboard reads it.
fn typescript() -> String {
    let mut text = String::from(
        "// Written by `make schemas` from crates/insights/src/vocabulary.rs. Of several names, the first found counts.\n",
    );
    for (name, meaning, terms) in [
        ("COUNTERS", "Counters of a node.", counters::ALL),
        ("QUERY_COUNTERS", "Counters of a query as a whole.", query_counters::ALL),
        ("PROPERTIES", "Properties of a node.", properties::ALL),
    ] {
        write!(text, "\n/** {meaning} */\nexport const {name} = {{\n").expect("a text takes all");
        for term in terms {
            let names: Vec<String> = term.names.iter().map(|name| format!("{name:?}")).collect();
            writeln!(text, "  {}: [{}],", term.name(), names.join(", ")).expect("a text takes all");
        }
        text.push_str("} as const;\n");
    }
    text
}

#[test]
fn the_dashboard_reads_the_same_names() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ui/src/run/model/vocabulary.ts");
    if std::env::var_os("UPDATE_SCHEMAS").is_some() {
        std::fs::write(&path, typescript()).expect("writable");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == typescript(), "{} is not current: run `make schemas`", path.display());
}
