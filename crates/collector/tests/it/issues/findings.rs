//! Runs that warn of what they did not before.

use serde_json::{Value, json};

use super::{act, detail, history, issues};
use crate::app::TestApp;
use crate::events::{NOW_NS, SECOND_NS, batch, finished, query};

/// Runs of label `l` an hour apart, each with findings of these rules that warn.
fn runs(numbers: std::ops::Range<u64>, rules: &[&str]) -> String {
    let each = numbers.map(|n| {
        let finding =
            |rule| json!({"rule": rule, "kind": "k", "level": "warn", "node_id": null, "title": "t"});
        let findings: Vec<Value> = rules.iter().map(finding).collect();
        let started_unix_ns = NOW_NS - (1_000 - n as i64) * 3_600 * SECOND_NS;
        let insights = json!({"schema": "https://example.org/insights.json", "findings": findings});
        let members = json!({
            "label": "l", "failed": null, "wall_ms": 100.0, "started_unix_ns": started_unix_ns,
            "insights": insights,
        });
        finished(n + 1, n, members)
    });
    batch(1, each)
}

#[tokio::test]
async fn a_new_finding_is_an_issue_until_runs_are_without_it() {
    let app = TestApp::new().await;
    let _jobs = app.start_jobs();
    app.store(runs(1..21, &["old"])).await;
    app.store(runs(21..23, &["old", "spilling"])).await;
    app.until_all_evaluated().await;
    assert_eq!(issues(&app, "").await, [] as [Value; 0], "two runs may be luck");
    app.store(runs(23..25, &["old", "spilling"])).await;
    app.until_all_evaluated().await;
    let all = issues(&app, "").await;
    let [issue] = &all[..] else { panic!("{all:?}") };
    let id = issue["id"].as_str().expect("an id").to_owned();
    assert_eq!(
        (&issue["kind"], &issue["findings"], &issue["run"], &issue["change"]),
        (&json!("new_finding"), &json!(["spilling"]), &json!(query(21)), &Value::Null)
    );
    assert_eq!(issue["detail"], "4 runs in a row warned of spilling; none of the 20 before did");
    assert_eq!((&issue["severity"], &issue["wall_ms_a_day"]), (&json!(1.0), &json!(0.0)));
    assert!(issue["since_unix_ns"].as_i64() > issue["good_unix_ns"].as_i64());
    assert_eq!(app.metric(r#"queryscope_issues{kind="new_finding",state="open"}"#).await, 1);
    assert_eq!(issues(&app, "kind=new_finding").await.len(), 1);

    assert_eq!(act(&app, &id, "acknowledge", json!({})).await.status, 200);
    app.store(runs(25..29, &["old"])).await;
    app.store(runs(29..30, &["old", "spilling"])).await;
    app.store(runs(30..35, &[])).await;
    app.until_all_evaluated().await;
    let over = detail(&app, &id).await;
    assert_eq!(history(&over), ["open by service", "acknowledged by person", "resolved by service"]);
    assert_eq!(over["transitions"][2]["reason"], "the last 5 runs do not warn of spilling");

    app.store(runs(35..41, &["spilling"])).await;
    app.until_all_evaluated().await;
    let back = detail(&app, &id).await;
    assert_eq!(history(&back)[3], "regressed by service");
    assert_eq!(issues(&app, "").await.len(), 1, "the same issue");
}
