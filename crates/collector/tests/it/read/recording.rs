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
    let named = format!("attachment; filename=\"{}.jsonl\"", query(1));
    for n in [1, 2] {
        let answer = app.recording(n).await;
        assert_eq!(answer.header("content-length"), Some(answer.body.len().to_string().as_str()));
        assert_eq!(answer.header("content-disposition"), Some(named.replace(&query(1), &query(n)).as_str()));
        let head = app.call("HEAD", &format!("/api/queries/{}/recording", query(n))).await;
        assert_eq!((head.status.as_u16(), head.body.len()), (200, 0));
        for name in ["content-type", "content-encoding", "content-length", "content-disposition", "etag"] {
            assert_eq!(head.header(name), answer.header(name), "{name}");
        }
    }
}

#[tokio::test]
async fn a_decoder_of_one_gzip_member_reads_all_of_it() {
    let app = TestApp::new().await;
    for event in [started(2, 1, json!({})), progress(4, 1), done(5, 1), progress(3, 1)] {
        app.store(batch(1, [event])).await;
    }
    check(app, 1, &[started(2, 1, json!({})), progress(3, 1), progress(4, 1), done(5, 1)]).await;
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
async fn a_lost_recording_is_said_to_be_missing() {
    let app = TestApp::new().await;
    app.store(batch(1, [done(2, 1)])).await;
    app.seal().await;
    app.remove_recording(1).await;
    let id = query(1);
    let compare = format!("/api/compare?run={id}&base={id}");
    for path in [
        format!("/api/queries/{id}/recording"),
        format!("/api/live/{id}"),
        format!("/api/queries/{id}/insights"),
        compare,
    ] {
        let answer = app.get(&path).await;
        assert_eq!(answer.status, 410, "{path}: {answer:?}");
        assert!(answer.error().contains(&format!("the recording of query {id} is missing")), "{answer:?}");
        assert!(!answer.error().contains("recordings"), "no path of this machine: {answer:?}");
    }
    assert_eq!(app.get(&format!("/api/queries/{id}")).await.status, 200, "its summary is there");
    assert_eq!(app.metric("queryscope_recordings_failed_total{operation=\"read\"}").await, 4);
    assert_eq!(
        app.get(&format!("/api/queries/{}/recording", query(2))).await.status,
        404,
        "there is no such query"
    );
}

#[tokio::test]
async fn a_damaged_recording_is_no_answer() {
    let app = TestApp::new().await;
    app.store(batch(1, [done(2, 1)])).await;
    app.seal().await;
    let file = app.recording_file(1).await;
    let mut bytes = std::fs::read(&file).expect("there");
    let last = bytes.len() - 9;
    bytes[last] ^= 0x10;
    std::fs::write(&file, bytes).expect("written");
    let answer = app.recording(1).await;
    assert_eq!(answer.status, 503);
    assert!(answer.error().contains("damaged"), "{answer:?}");
}
