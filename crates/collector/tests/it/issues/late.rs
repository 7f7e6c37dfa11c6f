//! Running runs that run longer than all before.

use std::time::Duration;

use serde_json::{Value, json};

use super::{act, detail, history, issues};
use crate::app::{TestApp, eventually};
use crate::changes::{near, runs};
use crate::events::{NOW_NS, SECOND_NS, batch, finished, query, started};

/// A run of label `l` that starts now.
fn running(n: u64, label: &str, started_unix_ns: i64) -> String {
    let members = json!({"label": label, "wall_ms": 0.0, "started_unix_ns": started_unix_ns});
    batch(1, [started(1_000 + 2 * n, n, members)])
}

fn ended(n: u64, wall_ms: f64) -> String {
    let members = json!({"label": "l", "wall_ms": wall_ms, "failed": null});
    batch(1, [finished(1_001 + 2 * n, n, members)])
}

async fn until_state(app: &TestApp, id: &str, state: &str) -> Value {
    eventually(state, async || {
        let found = detail(app, id).await;
        (found["issue"]["state"] == state).then_some(found)
    })
    .await
}

#[tokio::test]
async fn a_run_is_late_until_it_ends_and_the_next_late_one_brings_the_issue_back() {
    let app = TestApp::new().await;
    app.store(runs(1, &near(100.0, 20), None)).await;
    // Of another label, too few runs are known.
    let few = (30..35).map(|n| finished(n + 1, n, json!({"label": "young", "wall_ms": 100.0})));
    app.store(batch(1, few)).await;
    app.store(running(200, "l", NOW_NS)).await;
    app.store(running(201, "young", NOW_NS)).await;
    app.clock.advance(Duration::from_secs(20));
    let _jobs = app.start_jobs();
    let issue = eventually("an issue", async || issues(&app, "").await.into_iter().next()).await;
    let id = issue["id"].as_str().expect("an id").to_owned();
    assert_eq!(issues(&app, "").await.len(), 1, "the other label is not known");
    assert_eq!(
        (&issue["kind"], &issue["label"], &issue["change"], &issue["run"]),
        (&json!("late"), &json!("l"), &Value::Null, &json!(query(200)))
    );
    assert!(issue["severity"].as_f64().expect("known") > 100.0, "{issue}");
    let text = issue["detail"].as_str().expect("a text");
    assert!(
        text.starts_with(
            "the run started 20.0 s ago and has not ended; nine tenths of the last 20 runs of its query took at most 1"
        ),
        "{text}"
    );
    let open = detail(&app, &id).await;
    assert_eq!((history(&open), &open["change"]), (vec!["open by service".to_owned()], &Value::Null));
    assert_eq!(act(&app, &id, "acknowledge", json!({})).await.status, 200);

    app.store(ended(200, 21_000.0)).await;
    let over = until_state(&app, &id, "resolved").await;
    assert_eq!(over["transitions"][2]["reason"], "the late run finished after 21.0 s");

    app.store(running(202, "l", NOW_NS + 20 * SECOND_NS)).await;
    app.clock.advance(Duration::from_secs(40));
    let back = until_state(&app, &id, "regressed").await;
    assert_eq!(back["issue"]["run"], query(202));
    // A person calls it over: the same run brings it back no more, and the end of that run is no news.
    assert_eq!(act(&app, &id, "resolve", json!({})).await.status, 200);
    app.store(ended(202, 41_000.0)).await;
    app.until_all_evaluated().await;
    let states = ["open by service", "acknowledged by person", "resolved by service", "regressed by service"];
    let states = states.map(str::to_owned).into_iter().chain(["resolved by person".to_owned()]);
    assert_eq!(history(&detail(&app, &id).await), states.collect::<Vec<_>>());
}
