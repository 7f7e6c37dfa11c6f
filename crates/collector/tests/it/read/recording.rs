//! A recording holds every event of a query once, in the order of seqs, byte for byte.

use serde_json::json;

use crate::app::{TestApp, eventually};
use crate::events::{
    DAY_NS, NOW_NS, batch, done, event, finished, process, process_with, progress, query, started,
};

/// Checks a recording while it is read from chunks, after it has been sealed, and after a restart.
async fn check(app: TestApp, n: u64, expected: &[String]) {
    let expected = [&[process(1)], expected].concat();
    assert_eq!(app.recorded(n).await, expected, "from chunks");
    app.seal().await;
    assert_eq!(app.recorded(n).await, expected, "sealed");
    assert_eq!(app.restarted().await.recorded(n).await, expected, "after a restart");
}

#[tokio::test]
async fn a_recording_is_there_once_the_query_does_not_run() {
    let app = TestApp::new().await;
    app.store(batch(1, [started(2, 1, json!({})), progress(3, 1)])).await;
    let answer = app.recording(1).await;
    assert_eq!(answer.status, 404);
    assert!(answer.error().contains("still runs"), "{answer:?}");
    app.store(batch(1, [done(4, 1)])).await;
    check(app, 1, &[started(2, 1, json!({})), progress(3, 1), done(4, 1)]).await;
}

#[tokio::test]
async fn its_headers_say_gzip_of_json_lines() {
    let app = TestApp::new().await;
    app.store(batch(1, [done(2, 1)])).await;
    app.seal().await;
    app.store(batch(1, [done(3, 2)])).await;
    for n in [1, 2] {
        let answer = app.recording(n).await;
        assert_eq!(answer.header("content-type"), Some("application/x-ndjson"));
        assert_eq!(answer.header("content-encoding"), Some("gzip"));
    }
    let answer = app.recording(1).await;
    assert_eq!(answer.header("content-length"), Some(answer.body.len().to_string().as_str()), "sealed");
}

#[tokio::test]
async fn its_path_names_the_day_of_the_start() {
    let app = TestApp::new().await;
    let old = finished(3, 2, json!({"started_unix_ns": 86_399_999_999_999_i64}));
    app.store(batch(1, [done(2, 1), old])).await;
    let path = |day: &str, n| json!(format!("{day}/{}.jsonl.gz", query(n)));
    assert_eq!(app.summary(1).await["recording"], path("2026/11/20", 1));
    assert_eq!(app.summary(2).await["recording"], path("1970/01/01", 2));
    app.seal().await;
    for n in [1, 2] {
        let file = app.summary(n).await["recording"].as_str().expect("a path").to_owned();
        assert!(app.recording_files().contains(&file), "{file}");
    }
}

#[tokio::test]
async fn batches_out_of_order_are_recorded_in_order() {
    let app = TestApp::new().await;
    app.store(batch(1, [done(9, 1), progress(7, 1)])).await;
    app.store(batch(1, [progress(5, 1), progress(8, 1)])).await;
    app.store(batch(1, [progress(6, 1), started(2, 1, json!({}))])).await;
    let samples = (5..9).map(|seq| progress(seq, 1));
    let expected: Vec<_> =
        [started(2, 1, json!({}))].into_iter().chain(samples).chain([done(9, 1)]).collect();
    check(app, 1, &expected).await;
}

#[tokio::test]
async fn queries_of_one_batch_have_their_own_events_alone() {
    let app = TestApp::new().await;
    app.store(batch(1, [progress(2, 1), progress(3, 2), done(4, 1), done(5, 2)])).await;
    assert_eq!(app.recorded(2).await, [process(1), progress(3, 2), done(5, 2)]);
    check(app, 1, &[progress(2, 1), done(4, 1)]).await;
}

#[tokio::test]
async fn a_late_event_joins_a_sealed_recording() {
    let app = TestApp::new().await;
    let note = event(6, "query.note", json!({"query_id": query(1)}));
    app.store(batch(1, [done(4, 1)])).await;
    let jobs = app.start_jobs();
    app.until_all_sealed().await;
    app.store(batch(1, [&progress(3, 1), &note])).await;
    assert_eq!(app.recorded(1).await.len(), 4, "from the sealed recording and a chunk");
    app.until_all_sealed().await;
    drop(jobs);
    let file = format!("2026/11/20/{}.jsonl.gz", query(1));
    assert_eq!(app.recording_files(), ["2026", "2026/11", "2026/11/20", &file]);
    check(app, 1, &[progress(3, 1), done(4, 1), note]).await;
}

#[tokio::test]
async fn a_recording_moves_with_the_day_of_its_start() {
    let app = TestApp::new().await;
    let day_before = json!({"started_unix_ns": NOW_NS - DAY_NS});
    app.store(batch(1, [progress(2, 1)])).await;
    app.store.end_silent(i64::MAX).await.expect("unfinished");
    let jobs = app.start_jobs();
    app.until_all_sealed().await;
    assert!(app.recording_files().contains(&format!("2026/11/20/{}.jsonl.gz", query(1))));
    app.store(batch(1, [finished(3, 1, day_before.clone())])).await;
    app.until_all_sealed().await;
    eventually("the old recording to be deleted", async || {
        (app.recording_files().last() == Some(&format!("2026/11/19/{}.jsonl.gz", query(1)))).then_some(())
    })
    .await;
    drop(jobs);
    check(app, 1, &[progress(2, 1), finished(3, 1, day_before)]).await;
}

#[tokio::test]
async fn the_process_event_is_the_first_its_stream_sent() {
    let app = TestApp::new().await;
    app.store(batch(1, [progress(2, 1)])).await;
    let renamed = process_with(1, json!({"service": "renamed"}));
    app.store(format!("{renamed}\n{}\n", done(3, 1))).await;
    check(app, 1, &[progress(2, 1), done(3, 1)]).await;
}

#[tokio::test]
async fn a_resent_event_is_recorded_once() {
    let app = TestApp::new().await;
    let first = batch(1, [progress(2, 1), done(3, 1)]);
    app.store(first.clone()).await;
    app.seal().await;
    let again = app.post(batch(1, [progress(2, 1), done(3, 1), progress(4, 1)])).await;
    assert_eq!(again.json(), json!({"accepted": 1, "duplicates": 2}));
    check(app, 1, &[progress(2, 1), done(3, 1), progress(4, 1)]).await;
}

#[tokio::test]
async fn a_lost_recording_is_an_error_and_not_an_empty_answer() {
    let app = TestApp::new().await;
    app.store(batch(1, [done(2, 1)])).await;
    app.seal().await;
    app.remove_recording(1).await;
    let answer = app.recording(1).await;
    assert!(!answer.status.is_success(), "{answer:?}");
    assert!(!answer.error().contains("recordings"), "no path of this machine: {answer:?}");
}
