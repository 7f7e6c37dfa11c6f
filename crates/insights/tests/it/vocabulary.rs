//! The vocabulary is one list: the documentation and the dashboard have copies that tests keep true. So has the
//! documentation of the rules.

use std::fmt::Write as _;
use std::path::Path;

use queryscope_insights::vocabulary::{Term, cancelled, counters, properties, query_counters};

const DOCS: &str = include_str!("../../../../docs/reference/counters.md");

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
    assert!(missing.is_empty(), "not in docs/reference/counters.md:\n{}", missing.join("\n"));
}

/// Longer lines are broken the way the dashboard's formatter breaks them.
const LINE_MAX: usize = 120;

#[test]
fn the_page_of_findings_has_every_rule() {
    let page = include_str!("../../../../docs/reference/findings.md");
    let rules = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/rules");
    let files = std::fs::read_dir(rules).expect("a folder").map(|file| file.expect("a file").path());
    let names = files.map(|file| file.file_stem().expect("a name").to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| name != "tests").collect();
    names.sort_unstable();
    let mut told: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("### ")).collect();
    told.sort_unstable();
    assert_eq!(told, names);
}

/// A list of texts under its name.
fn list(name: &str, texts: &[&str]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| format!("{text:?}")).collect();
    let line = format!("  {name}: [{}],\n", texts.join(", "));
    if line.len() <= LINE_MAX + 1 {
        line
    } else {
        format!("  {name}: [\n    {},\n  ],\n", texts.join(",\n    "))
    }
}

/// The vocabulary as the dashboard reads it.
fn typescript() -> String {
    let mut text = String::from(
        "// Written by `make schemas` from crates/protocol/src/vocabulary.rs. \
         Of several names, the first found counts.\n",
    );
    for (name, meaning, terms) in [
        ("COUNTERS", "Counters of a node.", counters::ALL),
        ("QUERY_COUNTERS", "Counters of a query as a whole.", query_counters::ALL),
        ("PROPERTIES", "Properties of a node.", properties::ALL),
    ] {
        write!(text, "\n/** {meaning} */\nexport const {name} = {{\n").expect("a text takes all");
        for term in terms {
            text.push_str(&list(term.name(), term.names));
        }
        text.push_str("} as const;\n");
    }
    text.push_str("\n/** Error texts of a run that was cancelled: the whole text, or a part of it. */\n");
    text.push_str("export const CANCELLED = {\n");
    for (name, texts) in [("whole", cancelled::WHOLE), ("parts", cancelled::PARTS)] {
        text.push_str(&list(name, texts));
    }
    text.push_str("} as const;\n");
    text
}

#[test]
fn the_dashboard_reads_the_same_names() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ui/src/model/run/vocabulary.ts");
    if std::env::var_os("UPDATE_SCHEMAS").is_some() {
        std::fs::write(&path, typescript()).expect("writable");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == typescript(), "{} is not current: run `make schemas`", path.display());
}
