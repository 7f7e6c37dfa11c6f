use std::collections::BTreeSet;

use queryscope_insights::findings;
use queryscope_protocol::{Finding, Profile};

use crate::captures::Captures;

/// One line a finding: where, what, of which node, its share of the CPU time, its title.
fn lines(capture: &str, profile: &Profile<'_>) -> Vec<String> {
    let found = findings(profile).findings;
    let line = |finding: &Finding<'_>| {
        let label = profile.label.as_deref().unwrap_or("-");
        let share = finding.cpu_share.unwrap_or_default();
        format!(
            "{capture} {label}: {} {} #{} {share:.3}: {}",
            finding.level,
            finding.rule,
            node(finding),
            finding.title
        )
    };
    found.iter().map(line).collect()
}

/// The node's number as the engine counts: its ids have a generation in their upper half.
fn node(finding: &Finding<'_>) -> i64 {
    finding.node_id.unwrap_or_default() & 0xffff_ffff
}

/// All true:
/// - 021, 022, 023: joins on conditions and on a key of 5 values; 022's cross join is asked for.
/// - 031: duplicates are removed twice from 4 million rows by a key that is unique.
/// - 034: `merge_sorted` of two slices of one file, which is scanned for each: 125,000 rows, the same column.
/// - 098, 106, 121, 126, 141, 143, 156: `map_elements` and `map_batches`, named in their labels.
///
/// And silent about all others: 013 groups 4 million rows into 3.99 million groups, which is not none; the waits
/// of 007, 009 and 094 for their files are over after 30 ms.
#[test]
fn what_is_found_in_the_captures_is_true() {
    let captures = Captures::read();
    let finished = captures.finished();
    assert_eq!(finished.len(), 77);
    let found: Vec<String> = finished.iter().flat_map(|(capture, profile)| lines(capture, profile)).collect();
    insta::assert_snapshot!(found.join("\n"), @r#"
        021 join/cross-then-filter: warn exploding_join #5 0.246: Join puts out 11x its larger input: 9.9 k rows
        022 join/cross-all-pairs: warn cross_join #2 0.548: Cross join of 2.5 k by 2.5 k rows
        022 join/iejoin: warn exploding_join #5 0.741: Join puts out 299x its larger input: 180 k rows
        023 join/exploding: warn exploding_join #4 0.974: Join puts out 600x its larger input: 12.0 M rows
        031 unique/redundant: warn redundant_aggregation #3 0.686: Grouping 4.0 M rows removes none
        031 unique/redundant: warn redundant_aggregation #7 0.257: Grouping 4.0 M rows removes none
        034 merge_sorted: warn repeated_subplan #1 0.140: The same MultiScan runs 2 times
        098 -: warn user_code #3 0.378: User code (python_udf) is called for 4.0 M rows
        106 long/udf-per-row: warn user_code #2 0.000: User code (python_udf) is called for 1.2 M rows; 1.05 s of 1.08 s are in no counter
        121 idle/udf-sleeps-13s: warn user_code #2 1.000: User code (python_udf) is called for 1.0 k rows
        126 wide/long-200-nodes: warn user_code #283 0.950: User code (python_udf) is called for 200 rows
        141 odd/udf-runs-while-planning: warn user_code #2 0.996: User code (python_udf) is called for 1.0 k rows
        143 odd/query-inside-udf: warn user_code #2 0.438: User code (python_udf) is called for 1.0 k rows
        156 traced/long: warn user_code #2 0.996: User code (python_udf) is called for 1.0 k rows
        "#);
}

/// What the sender itself warned of is found here, too; its rule on engine fallbacks has no counterpart.
#[test]
fn the_senders_warnings_are_found() {
    let captures = Captures::read();
    for (capture, profile) in captures.finished() {
        let ours: BTreeSet<(String, i64)> = findings(&profile)
            .findings
            .iter()
            .map(|finding| (finding.rule.replace("user_code", "python_udf"), node(finding)))
            .collect();
        for finding in profile.findings() {
            let theirs = (finding.rule.to_string(), node(finding));
            assert!(
                ours.contains(&theirs) || theirs.0 == "in_memory_fallback",
                "{capture}: {theirs:?} of {ours:?}"
            );
        }
    }
}

/// While a query runs nothing is said that its end takes back.
#[test]
fn what_is_said_of_a_running_query_stays_true() {
    let captures = Captures::read();
    let of = |profile: &Profile<'_>| -> BTreeSet<String> {
        let found = findings(profile).findings;
        found.iter().map(|finding| format!("{} #{}", finding.rule, node(finding))).collect()
    };
    let ended: Vec<_> = captures.finished();
    let mut compared = 0;
    for (capture, profile) in captures.running() {
        let same = |(_, end): &&(&str, Profile<'_>)| end.query_id == profile.query_id;
        let Some((_, end)) = ended.iter().find(same) else { continue };
        let (now, then) = (of(&profile), of(end));
        assert!(now.is_subset(&then), "{capture}: {now:?} of {then:?}");
        compared += now.len();
    }
    assert_eq!(compared, 8);
}
