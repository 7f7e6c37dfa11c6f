//! The 22 queries of TPC-H on DataFusion: a benchmark of queries that are as they should be.
//!
//! `tests/data/tpch.jsonl.gz` holds the `query.finished` events of one round of `queryscope-datafusion`'s example
//! `tpch` at scale 0.01; only the folder of the tables was replaced.

use std::io::Read;

use flate2::read::MultiGzDecoder;
use queryscope_insights::{compare, findings, fingerprint};
use queryscope_protocol::{Event, Profile};

fn text() -> String {
    let mut text = String::new();
    let data: &[u8] = include_bytes!("../data/tpch.jsonl.gz");
    MultiGzDecoder::new(data).read_to_string(&mut text).expect("gzip");
    text
}

fn profiles(text: &str) -> Vec<Profile<'_>> {
    let profile = |line| Event::read(line).expect("an event").profile().expect("valid").expect("a profile");
    text.lines().map(profile).collect()
}

#[test]
fn nothing_is_found_that_is_not_true() {
    let text = text();
    let found: Vec<String> = profiles(&text)
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
    let text = text();
    let profiles = profiles(&text);
    let mut seen: Vec<String> =
        profiles.iter().map(|profile| fingerprint(&profile.plan).to_string()).collect();
    seen.sort();
    seen.dedup();
    assert_eq!((profiles.len(), seen.len()), (22, 22));
}

#[test]
fn each_query_is_itself() {
    let text = text();
    for profile in profiles(&text) {
        let comparison = compare(&profile, &profile);
        assert!(comparison.same_plan && comparison.nodes.iter().all(|pair| pair.changes.is_empty()));
    }
}
