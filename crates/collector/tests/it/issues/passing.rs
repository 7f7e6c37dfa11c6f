//! Changes that begin and end before they are evaluated.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde_json::{Value, json};

use super::{detail, history, issues};
use crate::app::{Setup, TestApp};
use crate::changes::{near, runs};

/// Wall times of a query that is four times as slow for a while, and again later. Up to 64 runs are evaluated at once.
fn walls() -> Vec<f64> {
    [near(100.0, 30), near(400.0, 16), near(100.0, 18), near(400.0, 20)].concat()
}

/// The issue of a query of which these runs ended, so many between two evaluations.
async fn issue_of(walls: &[f64], at_once: usize) -> Value {
    let app = TestApp::new().await;
    let mut from = 1;
    for some in walls.chunks(at_once) {
        app.store(runs(from, some, None)).await;
        from += some.len() as u64;
        let _jobs = app.start_jobs();
        app.until_all_evaluated().await;
    }
    let found = issues(&app, "").await;
    let [issue] = &found[..] else { panic!("{found:?}") };
    detail(&app, issue["id"].as_str().expect("an id")).await
}

fn reasons(detail: &Value) -> Vec<Value> {
    let all = detail["transitions"].as_array().expect("an array").iter();
    all.map(|moved| json!([moved["to"], moved["reason"], moved["change"]])).collect()
}

#[tokio::test]
async fn a_change_that_has_passed_is_an_issue_that_is_resolved() {
    let whole = issue_of(&walls()[..64], 64).await;
    assert_eq!(history(&whole), ["open by service", "resolved by service"], "{whole}");
    assert_eq!(whole["change"]["state"], "recovered", "{whole}");
    assert_eq!(whole["transitions"][1]["reason"], "the last 5 runs took at most 10 % longer than before");
}

#[tokio::test]
async fn what_becomes_of_an_issue_does_not_depend_on_how_many_runs_are_evaluated_at_once() {
    let expected = issue_of(&walls(), 1).await;
    assert_eq!(
        history(&expected),
        ["open by service", "resolved by service", "regressed by service"],
        "{expected}"
    );
    for at_once in [7, 30, 84] {
        let whole = issue_of(&walls(), at_once).await;
        assert_eq!(reasons(&whole), reasons(&expected), "{at_once} at once");
        assert_eq!(whole["issue"]["id"], expected["issue"]["id"]);
    }
}

#[tokio::test]
async fn what_was_over_before_this_version_came_is_no_issue() {
    let app = Setup::default().old(&Arc::new(AtomicBool::new(true))).start().await;
    app.store(runs(1, &walls()[..64], None)).await;
    let app = app.restarted().await;
    let _jobs = app.start_jobs();
    crate::app::eventually("the changes", async || {
        (!app.changes("state=recovered").await.is_empty()).then_some(())
    })
    .await;
    assert_eq!(issues(&app, "").await, [] as [Value; 0]);
}
