//! The 22 queries of TPC-H on DataFusion: a benchmark of queries that are as they should be.
//!
//! `tests/data/tpch.jsonl.gz` holds the `query.finished` events of one round of `queryscope-datafusion`'s example
//! `tpch` at scale 0.01; only the folder of the tables was replaced. `tests/data/pairs.jsonl.gz` holds four more:
//! query 5 before and after `--slow-down merge-joins`, query 18 before and after `--slow-down more-data`.

use queryscope_insights::{Fate, compare, findings, fingerprint};

use crate::events::{finished, inflate};

const QUERIES: &[u8] = include_bytes!("../data/tpch.jsonl.gz");
const PAIRS: &[u8] = include_bytes!("../data/pairs.jsonl.gz");

#[test]
fn nothing_is_found_that_is_not_true() {
    let text = inflate(QUERIES);
    let found: Vec<String> = finished(&text)
        .iter()
        .flat_map(|profile| {
            let label = profile.label.as_deref().unwrap_or_default().to_owned();
            let found = findings(profile).findings.into_iter();
            found
                .map(move |finding| format!("{label}: {} {}: {}", finding.level, finding.rule, finding.title))
                .collect::<Vec<_>>()
        })
        .collect();
    insta::assert_snapshot!(found.join("\n"), @"");
}

#[test]
fn each_query_has_a_fingerprint_of_its_own() {
    let text = inflate(QUERIES);
    let profiles = finished(&text);
    let mut seen: Vec<String> =
        profiles.iter().map(|profile| fingerprint(&profile.plan).to_string()).collect();
    seen.sort();
    seen.dedup();
    assert_eq!((profiles.len(), seen.len()), (22, 22));
}

#[test]
fn each_query_is_itself() {
    let text = inflate(QUERIES);
    for profile in finished(&text) {
        let comparison = compare(&profile, &profile);
        assert!(comparison.same_plan && comparison.nodes.iter().all(|pair| pair.changes.is_empty()));
    }
}

#[test]
fn joins_that_sort_are_another_plan() {
    let text = inflate(PAIRS);
    let [base, run, ..] = &finished(&text)[..] else { panic!("two pairs") };
    let comparison = compare(base, run);
    let joins = comparison.nodes.iter().filter(|pair| {
        pair.changes.iter().any(|change| change.text == "SortMergeJoinExec instead of HashJoinExec")
    });
    assert_eq!(joins.count(), 5, "all joins of query 5");
    let sorts = comparison.nodes.iter().filter(|pair| {
        pair.fate == Fate::Added && pair.run.as_ref().is_some_and(|run| run.kind == "SortExec")
    });
    assert!(sorts.count() >= 5, "and each sorts its inputs");
}

#[test]
fn twice_the_data_is_the_same_plan() {
    let text = inflate(PAIRS);
    let [.., base, run] = &finished(&text)[..] else { panic!("two pairs") };
    assert!(compare(base, run).same_plan);
}
