//! What is too old goes, and stays gone.

use std::time::Duration;

use serde_json::{Value, json};

use crate::app::{Setup, TestApp, eventually};
use crate::events::{DAY_NS, NOW_NS, batch, done, event, finished, process, progress, query, started};

const KEEP: Duration = Duration::from_hours(7 * 24);

async fn keeping() -> TestApp {
    Setup::with(|settings| {
        settings.keep = Some(KEEP);
        settings.silent_after = Duration::from_hours(10_000);
    })
    .start()
    .await
}

/// The start of a query that is so many days old.
fn days_old(days: i64) -> Value {
    json!({"started_unix_ns": NOW_NS - days * DAY_NS})
}

fn is_recording(file: &str) -> bool {
    file.ends_with(".jsonl.gz")
}

#[tokio::test]
async fn nothing_is_deleted_for_an_hour_after_a_step_of_the_clock() {
    let app = keeping().await;
    app.store(batch(1, [finished(2, 1, days_old(6))])).await;
    app.clock.step(30 * DAY_NS);
    let jobs = app.start_jobs();
    app.until_all_sealed().await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(app.ids("").await, [query(1)]);
    drop(jobs);
    // The clock was right: another start finds it so.
    let app = app.restarted().await;
    let _jobs = app.start_jobs();
    until_gone(&app, 1).await;
}

async fn until_gone(app: &TestApp, n: u64) {
    eventually("retention", async || {
        let answer = app.get(&format!("/api/queries/{}", query(n))).await;
        (answer.status == 404).then_some(())
    })
    .await;
}

#[tokio::test]
async fn old_queries_go_with_their_recordings_and_empty_folders() {
    let app = keeping().await;
    let old =
        [finished(2, 1, days_old(8)), finished(3, 2, days_old(40)), finished(4, 3, days_old(6)), done(5, 4)];
    app.store(batch(1, old)).await;
    // First they are sealed by a service that keeps everything for long.
    app.seal().await;
    let files = app.recording_files();
    assert_eq!(files.iter().filter(|file| is_recording(file)).count(), 4, "{files:?}");

    let _jobs = app.start_jobs();
    until_gone(&app, 1).await;
    until_gone(&app, 2).await;
    assert_eq!(app.ids("").await, [query(4), query(3)]);
    assert_eq!(app.recording(1).await.status, 404);
    eventually("files and folders to go", async || {
        let left = ["2026", "2026/11", "2026/11/14", "2026/11/20"].map(str::to_owned);
        let folders: Vec<_> = app.recording_files().into_iter().filter(|file| !is_recording(file)).collect();
        (folders == left && app.recording_files().len() == 6).then_some(())
    })
    .await;
    assert_eq!(app.recorded(3).await, [process(1), finished(4, 3, days_old(6))]);
}

#[tokio::test]
async fn old_queries_go_before_they_are_sealed_too() {
    let app = keeping().await;
    let old = finished(2, 1, days_old(8));
    app.store(batch(1, [&old, &done(3, 2)])).await;
    let _jobs = app.start_jobs();
    until_gone(&app, 1).await;
    assert_eq!(app.recorded(2).await, [process(1), done(3, 2)]);
    assert_eq!(app.ids("").await, [query(2)]);
}

#[tokio::test]
async fn after_thirty_days_and_a_restart_what_comes_again_is_known() {
    let app = TestApp::new().await;
    let events = [started(2, 1, json!({})), done(3, 1), progress(4, 2), event(5, "x", json!({}))];
    app.store(batch(1, &events)).await;
    app.seal().await;
    app.clock.advance(Duration::from_hours(30 * 24));
    let app = app.restarted().await;
    let _jobs = app.start_jobs();
    app.clock.advance(Duration::from_mins(2));
    app.until_status(2, "unfinished").await;
    let again = app.post(batch(1, &events)).await;
    assert_eq!(again.json(), json!({"accepted": 0, "duplicates": 4}));
    assert_eq!(app.recorded(1).await, [process(1), events[0].clone(), events[1].clone()]);
    assert_eq!(app.recorded(2).await, [process(1), events[2].clone()]);
}

#[tokio::test]
async fn a_late_resend_is_a_duplicate_and_stores_nothing() {
    let app = keeping().await;
    let text = batch(1, [finished(2, 1, days_old(8))]);
    app.store(text.clone()).await;
    let _jobs = app.start_jobs();
    until_gone(&app, 1).await;
    assert_eq!(app.post(text.clone()).await.json(), json!({"accepted": 0, "duplicates": 1}));
    assert!(app.ids("").await.is_empty());
    let app = app.restarted().await;
    assert_eq!(app.post(text).await.json(), json!({"accepted": 0, "duplicates": 1}));
    assert!(app.ids("").await.is_empty());
}

#[tokio::test]
async fn a_running_query_stays_however_old_it_is() {
    let app = keeping().await;
    app.store(batch(1, [started(2, 1, days_old(90)), finished(3, 2, days_old(90))])).await;
    let _jobs = app.start_jobs();
    until_gone(&app, 2).await;
    assert_eq!(app.status(1).await, "running");
    app.store(batch(1, [progress(4, 1)])).await;
    app.store(batch(1, [finished(5, 1, days_old(90))])).await;
    assert_eq!(app.recorded(1).await.len(), 4);
}

#[tokio::test]
async fn an_unfinished_query_goes_by_its_start() {
    let app = keeping().await;
    app.store(batch(1, [started(2, 1, days_old(90)), progress(3, 2)])).await;
    app.store.end_silent(i64::MAX).await.expect("unfinished");
    let _jobs = app.start_jobs();
    until_gone(&app, 1).await;
    assert_eq!(app.ids("").await, [query(2)]);
}

#[tokio::test]
async fn without_a_limit_everything_stays() {
    let app = TestApp::new().await;
    app.store(batch(1, [finished(2, 1, json!({"started_unix_ns": 0}))])).await;
    app.seal().await;
    assert_eq!(app.ids("").await, [query(1)]);
    assert_eq!(app.recorded(1).await.len(), 2);
}

#[tokio::test]
async fn more_than_one_round_goes_at_once() {
    let app = keeping().await;
    app.store(batch(1, (2..=600).map(|seq| finished(seq, seq, days_old(30))))).await;
    app.store(batch(1, [done(601, 1)])).await;
    let _jobs = app.start_jobs();
    eventually("all to be counted", async || {
        (app.metric("queryscope_queries_deleted_total").await == 599).then_some(())
    })
    .await;
    assert_eq!(app.ids("limit=1000").await, [query(1)]);
}
