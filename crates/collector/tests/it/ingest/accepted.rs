//! 202: every event is stored or was already stored.

use serde_json::json;

use crate::app::{Answer, Setup, TOKEN, TestApp, eventually, post, with_header};
use crate::events::{batch, done, event, finished, gzip, process, progress, query, started, stream};

fn check(answer: &Answer, accepted: u64, duplicates: u64) {
    assert_eq!(answer.status, 202, "{answer:?}");
    assert_eq!(answer.json(), json!({"accepted": accepted, "duplicates": duplicates}));
}

#[tokio::test]
async fn counts_tell_new_events_from_duplicates() {
    let app = TestApp::new().await;
    let three = batch(1, [started(2, 1, json!({})), progress(3, 1), done(4, 1)]);
    check(&app.post(three.clone()).await, 3, 0);
    check(&app.post(three).await, 0, 3);
    check(&app.post(batch(1, [done(4, 1), progress(5, 1)])).await, 1, 1);
    let other_stream = batch(2, [done(2, 2)]);
    check(&app.post(other_stream).await, 1, 0);
    assert_eq!(app.recorded(1).await.len(), 5, "the process event and four others");
}

#[tokio::test]
async fn of_a_seq_twice_in_a_batch_the_second_is_a_duplicate() {
    let app = TestApp::new().await;
    let (first, second) = (finished(2, 1, json!({"label": "a"})), finished(2, 1, json!({"label": "b"})));
    check(&app.post(batch(1, [&first, &second])).await, 1, 1);
    assert_eq!(app.recorded(1).await, [process(1), first]);
    assert_eq!(app.summary(1).await["label"], "a");
}

#[tokio::test]
async fn of_a_seq_sent_again_with_other_bytes_the_first_stays() {
    let app = TestApp::new().await;
    let (first, second) = (finished(2, 1, json!({"label": "a"})), finished(2, 1, json!({"failed": "no"})));
    check(&app.post(batch(1, [&first])).await, 1, 0);
    check(&app.post(batch(1, [&second, &progress(3, 1)])).await, 1, 1);
    assert_eq!(app.recorded(1).await, [process(1), first, progress(3, 1)]);
    assert_eq!(app.summary(1).await["status"], "finished");
}

#[tokio::test]
async fn events_that_come_again_with_other_bytes_are_counted() {
    let app = TestApp::new().await;
    let conflicts = async |expected: u64| {
        let name = "queryscope_conflicting_events_total";
        eventually("conflicts to be counted", async || (app.metric(name).await >= expected).then_some(()))
            .await;
        assert_eq!(app.metric(name).await, expected);
    };
    let first = batch(1, [progress(2, 1), done(3, 1), progress(4, 2)]);
    check(&app.post(first.clone()).await, 3, 0);
    // Batches are compared one after the other: what is counted of a later one comes after the earlier ones.
    check(&app.post(first.clone()).await, 0, 3);
    let other =
        [progress(2, 1) + " ", finished(3, 1, json!({"label": "other"})), progress(4, 2), progress(5, 2)];
    check(&app.post(batch(1, &other)).await, 1, 3);
    conflicts(2).await;
    app.seal().await;
    check(&app.post_gzip(gzip(batch(1, &other))).await, 0, 4);
    conflicts(4).await;
    let twice = batch(2, [progress(2, 3), progress(2, 3) + " ", progress(2, 3)]);
    check(&app.post(twice).await, 1, 2);
    conflicts(5).await;
    check(&app.post(first).await, 0, 3);
    check(&app.post(batch(1, [progress(4, 2) + " "])).await, 0, 1);
    conflicts(6).await;
    assert_eq!(app.metric("queryscope_batches_not_compared_total").await, 0);
}

#[tokio::test]
async fn a_process_event_is_never_counted() {
    let app = TestApp::new().await;
    check(&app.post(process(1)).await, 0, 0);
    check(&app.post(batch(1, [process(1), done(2, 1), process(1)])).await, 1, 0);
    check(&app.post(batch(1, [] as [&str; 0])).await, 0, 0);
    assert_eq!(app.recorded(1).await, [process(1), done(2, 1)]);
}

#[tokio::test]
async fn a_type_nobody_knows_is_stored_with_its_query() {
    let app = TestApp::new().await;
    let spilled = event(2, "query.spilled", json!({"query_id": query(1), "bytes": 7}));
    check(&app.post(batch(1, [&spilled])).await, 1, 0);
    assert_eq!(app.status(1).await, "running");
    app.store(batch(1, [done(3, 1)])).await;
    assert_eq!(app.recorded(1).await, [process(1), spilled, done(3, 1)]);
}

#[tokio::test]
async fn a_type_nobody_knows_without_a_query_is_only_remembered() {
    let app = TestApp::new().await;
    let resting =
        batch(1, [event(2, "process.resting", json!({})), event(3, "x", json!({"query_id": null}))]);
    check(&app.post(resting.clone()).await, 2, 0);
    check(&app.post(resting).await, 0, 2);
    assert_eq!(app.list("").await, Vec::<serde_json::Value>::new());
}

#[tokio::test]
async fn fields_counters_and_roles_nobody_knows_pass() {
    let app = TestApp::new().await;
    let plan = json!({
        "physical": [
            {"id": 4_294_967_299_u64, "kind": "warp", "role": "time-travel", "inputs": [], "metrics": {"warps": 3}}
        ],
        "logical": [], "mystical": 1,
    });
    check(&app.post(batch(1, [finished(2, 1, json!({"plan": plan, "mood": "good"}))])).await, 1, 0);
}

#[tokio::test]
async fn gaps_and_the_largest_seq_are_fine() {
    let app = TestApp::new().await;
    let top = i64::MAX as u64;
    check(&app.post(batch(1, [done(top, 1), progress(900, 2), progress(2, 2)])).await, 3, 0);
    check(&app.post(batch(1, [done(top, 1), progress(900, 2), progress(3, 2)])).await, 1, 2);
}

#[tokio::test]
async fn late_events_of_an_ended_query_join_its_recording() {
    let app = TestApp::new().await;
    check(&app.post(batch(1, [done(9, 1)])).await, 1, 0);
    check(&app.post(batch(1, [progress(12, 1), started(2, 1, json!({"label": "late"}))])).await, 2, 0);
    let expected = [process(1), started(2, 1, json!({"label": "late"})), done(9, 1), progress(12, 1)];
    assert_eq!(app.recorded(1).await, expected);
    let summary = app.summary(1).await;
    assert_eq!((&summary["status"], &summary["label"]), (&json!("finished"), &json!(null)));
}

#[tokio::test]
async fn a_body_is_plain_or_gzip_of_any_number_of_members() {
    let app = TestApp::new().await;
    let lines = |n| batch(n, [done(2, n), progress(3, n)]);
    let members = |n: u64| {
        let text = lines(n);
        let (head, tail) = text.split_at(text.len() / 2);
        [gzip(head), gzip(""), gzip(tail)].concat()
    };
    for (n, coding, body) in [
        (1, None, lines(1).into_bytes()),
        (2, Some("identity"), lines(2).into_bytes()),
        (3, Some("gzip"), gzip(lines(3))),
        (4, Some("GZip"), gzip(lines(4))),
        (5, Some("x-gzip"), gzip(lines(5))),
        (6, Some("gzip"), members(6)),
    ] {
        let request = match coding {
            Some(coding) => with_header(post(body), "content-encoding", coding),
            None => post(body),
        };
        check(&app.send(request).await, 2, 0);
        assert_eq!(app.recorded(n).await, [process(n), done(2, n), progress(3, n)], "{coding:?}");
    }
}

#[tokio::test]
async fn the_last_line_may_do_without_its_line_feed() {
    let app = TestApp::new().await;
    check(&app.post(format!("{}\n{}", process(1), done(2, 1))).await, 1, 0);
    assert_eq!(app.recorded(1).await, [process(1), done(2, 1)]);
}

#[tokio::test]
async fn bytes_of_a_line_are_kept_as_they_were_sent() {
    let app = TestApp::new().await;
    let spaced = done(2, 1).replace(',', " ,\t").replace("1500.5", "1.50050e3") + "\r";
    let text = format!("{}\n{spaced}\n", process(1));
    check(&app.post(text.clone()).await, 1, 0);
    let answer = app.recording(1).await;
    let recorded =
        std::io::read_to_string(flate2::read::MultiGzDecoder::new(&answer.body[..])).expect("gzip");
    assert_eq!(recorded, text);
}

#[tokio::test]
async fn the_scheme_of_the_token_is_read_in_any_case() {
    let app = TestApp::new().await;
    for (n, scheme) in [(1, "Bearer"), (2, "bearer"), (3, "BEARER")] {
        let request = post(batch(n, [done(2, n)]));
        check(&app.send(with_header(request, "authorization", &format!("{scheme} {TOKEN}"))).await, 1, 0);
    }
}

#[tokio::test]
async fn the_content_type_does_not_matter() {
    let app = TestApp::new().await;
    for (n, form) in
        [(1, "application/x-ndjson"), (2, "text/plain"), (3, "application/json; charset=utf-8"), (4, "?")]
    {
        check(&app.send(with_header(post(batch(n, [done(2, n)])), "content-type", form)).await, 1, 0);
    }
}

#[tokio::test]
async fn health_lists_the_brands_that_were_configured() {
    let app = Setup::with(|settings| settings.engines = vec!["polars".into(), "arrow".into()]).start().await;
    let protocol = ["engine-telemetry/events@1", "arrow-telemetry/events@1", "polars-telemetry/events@1"];
    assert_eq!(app.get("/v1/health").await.json()["protocol"], json!(protocol));
    app.store(batch(1, [done(2, 1)]).replace("engine-", "polars-")).await;
    assert_eq!(app.get("/v1/health").await.json()["protocol"], json!(protocol), "each once");
}

#[tokio::test]
async fn every_brand_of_the_format_is_taken_and_listed() {
    let app = TestApp::new().await;
    let branded = |n: u64, brand: &str| {
        batch(n, [done(2, n)]).replace("engine-telemetry/", &format!("{brand}-telemetry/"))
    };
    let before = app.get("/v1/health").await.json();
    assert_eq!(
        before,
        json!({"status": "ok", "protocol": ["engine-telemetry/events@1"], "state": "ready", "reasons": []})
    );
    for (n, brand) in [(1, "polars"), (2, "data-fusion2"), (3, "engine")] {
        check(&app.post(branded(n, brand)).await, 1, 0);
    }
    for (n, engine) in [(1, json!("polars")), (2, json!("data-fusion2")), (3, json!(null))] {
        assert_eq!(app.summary(n).await["engine"], engine);
    }
    let protocol =
        ["engine-telemetry/events@1", "data-fusion2-telemetry/events@1", "polars-telemetry/events@1"];
    assert_eq!(
        app.get("/v1/health").await.json(),
        json!({"status": "ok", "protocol": protocol, "state": "ready", "reasons": []})
    );
}

#[tokio::test]
async fn a_batch_without_http_is_stored_the_same_way() {
    let app = TestApp::new().await;
    let text = batch(1, [done(2, 1)]);
    let ingested = app.collector.import("etl", text.clone().into_bytes()).await.expect("stored");
    assert_eq!((ingested.accepted, ingested.duplicates), (1, 0));
    assert_eq!(
        (&app.summary(1).await["project"], &app.summary(1).await["stream_id"]),
        (&json!("etl"), &json!(stream(1)))
    );
    let error = app.collector.import("default", text.into_bytes()).await.expect_err("of another project");
    assert_eq!(error.status(), 403);
    let error = app.collector.import("etl", b"x".to_vec()).await.expect_err("no batch");
    assert_eq!((error.status().as_u16(), error.line()), (400, Some(1)));
}

#[tokio::test]
async fn a_run_of_an_import_without_an_end_is_unfinished_at_once() {
    let app = TestApp::new().await;
    let told = |n: u64| batch(n, [started(2, n, json!({})), progress(3, n)]);
    let sent = |n: u64, value| with_header(post(told(n)), "queryscope-imported", value);
    check(&app.send(sent(1, "1")).await, 2, 0);
    assert_eq!(app.summary(1).await["status"], "unfinished");
    // What is not "1" says nothing.
    check(&app.send(sent(2, "no")).await, 2, 0);
    assert_eq!(app.summary(2).await["status"], "running");
    check(&app.post(batch(1, [progress(4, 1)])).await, 1, 0);
    assert_eq!(app.summary(1).await["status"], "running", "it is heard of after all");
}

#[tokio::test]
async fn what_nobody_reads_may_be_nested_a_million_deep() {
    let app = TestApp::new().await;
    let deep = "[".repeat(1_000_000) + &"]".repeat(1_000_000);
    let nested = done(2, 1).replace("\"logical\":[]", &format!("\"logical\":[],\"deep\":{deep}"));
    check(&app.post(batch(1, [&nested])).await, 1, 0);
    assert_eq!(app.recorded(1).await, [process(1), nested]);
}
