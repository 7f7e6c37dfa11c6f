//! What is said of issues.

use serde_json::{Value, json};

use super::*;
use crate::read::text::width;
use crate::read::units::Zone;

const NOW: Times = Times { now_unix_ns: 1_795_206_683_000_000_000, zone: Zone::Utc };

fn known(id: &str, more: &Value, cause: Option<&str>) -> Known {
    let mut issue = json!({
        "id": id, "label": "orders/daily", "service": "etl", "environment": null, "host": null,
        "kind": "slower", "state": "open", "opened_unix_ns": NOW.now_unix_ns - 3_600_000_000_000_i64,
        "change": "c", "wall_ms_a_day": 7_500_000.0, "severity": 2.4,
    });
    for (name, value) in more.as_object().expect("members") {
        issue[name] = value.clone();
    }
    let side = json!({"runs": 9, "failed": 0});
    let change = cause.map(|cause| {
        json!({
            "id": "c", "kind": "slower", "state": "open", "since_query_id": "",
            "since_unix_ns": NOW.now_unix_ns - 7_200_000_000_000_i64,
            "before": side, "after": side, "cost": {"runs": 9, "extra_wall_ms": 1.0, "wall_ms_a_day": 1.0},
            "causes": [{"cause": cause, "share": 1.0, "wall_ms": 1.0, "sentence": "Scan #3 reads 4x the rows"}],
        })
    });
    Known {
        issue: serde_json::from_value(issue).expect("an issue"),
        change: change.map(|change| serde_json::from_value(change).expect("a change")),
    }
}

pub(crate) fn issues() -> Vec<Known> {
    vec![
        known("issue-slower-1", &json!({}), Some("more_rows")),
        known(
            "issue-failing-2",
            &json!({"kind": "failing", "label": "billing/\u{1b}[2Jexport", "severity": 0.9,
                "wall_ms_a_day": 0.0, "state": "regressed", "service": null, "host": "etl-3"}),
            None,
        ),
        known(
            "issue-data-grew-3",
            &json!({"kind": "data_grew", "label": "orders/weekly", "state": "acknowledged", "severity": 1.5,
                "wall_ms_a_day": 90_000.0}),
            None,
        ),
    ]
}

#[test]
fn an_issue_says_what_and_why() {
    let said: Vec<String> = issues().iter().map(Known::what).collect();
    assert_eq!(said, ["2.4x slower", "90 % of runs fail", "1.5x slower as its data grew"]);
    assert_eq!(issues()[0].why(), "Scan #3 reads 4x the rows.");
    assert_eq!(issues()[1].why(), "", "its change is not open");
    assert_eq!(sum_line(&issues()), "3 issues, 2 h 07 min of wall time a day at stake");
}

#[test]
fn a_late_run_says_for_how_long_it_has_run() {
    let detail = "the run started 94.0 s ago and has not ended; nine tenths of 40 took at most 40.0 s";
    let late = json!({"kind": "late", "severity": 2.35, "change": null, "detail": detail});
    let late = known("issue-late-4", &late, None);
    assert_eq!(late.what(), "late, 2.4x what nine tenths of its runs took");
    assert_eq!(late.why(), format!("T{}.", &detail[1..]));
}

#[test]
fn new_findings_are_named() {
    let detail = "3 runs in a row warned of tiny batches; none of the 57 before did";
    let findings = ["skew", "tiny_batches"];
    let members = json!({"kind": "new_finding", "change": null, "findings": findings, "detail": detail});
    let found = known("issue-new-finding-5", &members, None);
    assert_eq!(found.what(), "warns of skew, tiny batches");
    assert_eq!(found.why(), format!("{detail}."));
}

#[test]
fn issues_fit_a_small_terminal() {
    let issues = issues();
    let listing = rows(&issues, NOW);
    let plain = |table: String| anstream::adapter::strip_str(&table).to_string();
    let narrow = plain(listing.to_table(Some(80)));
    assert!(narrow.lines().all(|line| width(line) <= 80), "{narrow}");
    insta::assert_snapshot!(format!("{narrow}\n{}", plain(listing.to_table(None))));
}

#[test]
fn issues_fill_a_wide_terminal() {
    let table = rows(&issues(), NOW).to_table(Some(200));
    let table = anstream::adapter::strip_str(&table).to_string();
    assert!(table.lines().all(|line| width(line) <= 200), "{table}");
    insta::assert_snapshot!(table);
}

#[test]
fn any_column_sorts() {
    let issues = issues();
    let sorted = |column| {
        let mut listing = rows(&issues, NOW);
        listing.sort(column, false);
        listing.into_entries()[0].clone()
    };
    assert_eq!(
        [sorted("stake"), sorted("query"), sorted("state")],
        ["issue-slower-1", "issue-failing-2", "issue-data-grew-3"]
    );
    let all: Vec<&str> = std::iter::successors(Some(SORT), |sort| Some(after(sort))).take(10).collect();
    assert_eq!(all, sorts(), "each column is the next of one");
}
