//! 503: what could not be stored is to be sent again.

use std::convert::Infallible;
use std::pin::pin;
use std::time::Duration;

use axum::body::{Body, Bytes};
use futures_util::{StreamExt, poll, stream};
use serde_json::json;
use tokio::sync::oneshot;

use crate::app::{Answer, Setup, TestApp, eventually, post, with_header};
use crate::events::{batch, done, gzip, progress, query};
use crate::faulty::Fault;
use crate::socket::{self, Server};

fn check(answer: &Answer) {
    assert_eq!(answer.status, 503, "{answer:?}");
    let after: u64 = answer.header("retry-after").expect("Retry-After").parse().expect("seconds");
    assert!(after >= 1, "a sender spins on 0");
    assert!(answer.error().contains("try again"), "{answer:?}");
    assert!(!answer.text().contains("secret"), "what the store says is for the log: {answer:?}");
}

#[tokio::test]
async fn a_batch_that_could_not_be_stored_is_503_and_new_when_sent_again() {
    let app = TestApp::new().await;
    app.faults.set(Fault::Unavailable);
    check(&app.post(batch(1, [done(2, 1)])).await);
    app.faults.set(Fault::None);
    app.store(batch(1, [done(2, 1)])).await;
    assert!(!app.collector.failed().is_cancelled(), "such a failure may pass");
}

#[tokio::test]
async fn reading_from_a_store_that_fails_is_503() {
    let app = TestApp::new().await;
    app.store(batch(1, [done(2, 1)])).await;
    let one = format!("/api/queries/{}", query(1));
    app.faults.set(Fault::Unavailable);
    for path in ["/api/queries", "/api/queries?q=x", &one, &format!("{one}/recording")] {
        check(&app.get(path).await);
    }
    assert_eq!(app.get("/v1/health").await.status, 200, "liveness does not depend on the store");
    assert_eq!(app.get("/metrics").await.status, 200, "the figures are wanted most then");
}

#[tokio::test]
async fn health_says_what_is_degraded_until_it_is_not() {
    let app = TestApp::new().await;
    let _jobs = app.start_jobs();
    app.faults.set(Fault::Unavailable);
    let away = "queryscope_store_away_seconds";
    app.clock.advance(Duration::from_secs(1));
    eventually("the failure to be noticed", async || {
        app.clock.advance(Duration::from_secs(3));
        (app.metric(away).await >= 3).then_some(())
    })
    .await;
    let health = app.get("/v1/health").await;
    assert_eq!(health.status, 200, "it lives");
    assert_eq!(health.json()["status"], json!("ok"));
    assert_eq!(health.json()["state"], json!("degraded"));
    let reason = health.json()["reasons"][0].as_str().expect("a sentence").to_owned();
    assert!(reason.starts_with("the store can not be reached for "), "{reason}");
    assert!(!reason.contains("secret"), "why is in the log alone: {reason}");
    app.faults.set(Fault::None);
    eventually("its end to be noticed", async || (app.metric(away).await == 0).then_some(())).await;
    assert_eq!(app.get("/v1/health").await.json()["state"], json!("ready"));
}

/// The reasons health gives; the store of the test fails for health, too.
async fn reasons(app: &TestApp) -> String {
    app.get("/v1/health").await.json()["reasons"].to_string()
}

#[tokio::test]
async fn a_full_disk_is_told_until_a_batch_is_stored() {
    let app = TestApp::new().await;
    app.faults.set(Fault::Full);
    check(&app.post(batch(1, [done(2, 1)])).await);
    app.faults.set(Fault::None);
    assert_eq!(reasons(&app).await, r#"["the disk is full, batches are refused"]"#);
    app.store(batch(1, [done(2, 1)])).await;
    assert_eq!(reasons(&app).await, "[]");
    assert!(!app.collector.failed().is_cancelled());
}

#[tokio::test]
async fn a_full_disk_that_has_room_again_is_noticed_while_nobody_sends() {
    let app = TestApp::new().await;
    let _jobs = app.start_jobs();
    app.faults.set(Fault::Full);
    check(&app.post(batch(1, [done(2, 1)])).await);
    app.clock.advance(Duration::from_mins(1));
    tokio::time::sleep(Duration::from_millis(1500)).await;
    assert!(reasons(&app).await.contains("the disk is full"), "it still is");
    app.faults.set(Fault::None);
    eventually("the room to be noticed", async || {
        app.clock.advance(Duration::from_secs(1));
        (reasons(&app).await == "[]").then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_store_whose_files_were_moved_ends_the_service_unless_they_come_back() {
    let app = TestApp::new().await;
    app.faults.set(Fault::Displaced);
    check(&app.post(batch(1, [done(2, 1)])).await);
    assert!(reasons(&app).await.contains("was deleted, moved or replaced"), "at once");
    assert!(!app.collector.failed().is_cancelled(), "it may come back");
    app.faults.set(Fault::None);
    let _jobs = app.start_jobs();
    eventually("their return to be noticed", async || (reasons(&app).await == "[]").then_some(())).await;
    app.store(batch(1, [done(2, 1)])).await;
    app.faults.set(Fault::Displaced);
    eventually("the end", async || app.collector.failed().is_cancelled().then_some(())).await;
}

#[tokio::test]
async fn the_first_fatal_failure_ends_acknowledging_and_the_service() {
    let app = TestApp::new().await;
    let server = Server::start(&app).await;
    let mut client = server.connect().await;
    client.write(socket::post(&batch(1, [done(2, 1)]))).await;
    assert_eq!(client.reply().await.status, 202);
    app.faults.set(Fault::Fatal);
    client.write(socket::post(&batch(1, [done(3, 2)]))).await;
    assert_eq!(client.reply().await.status, 503);
    let error = server.ended().await.expect_err("the store failed");
    assert!(error.to_string().contains("store"), "{error}");
    assert!(app.collector.failed().is_cancelled());
}

#[tokio::test]
async fn a_spent_budget_of_bytes_is_503_until_a_body_is_done() {
    let app = Setup::with(|settings| settings.body_budget_bytes = 10 << 10).start().await;
    let (send_body, body) = oneshot::channel::<Bytes>();
    let padded = batch(1, [done(2, 1)]).trim_end().to_owned() + &" ".repeat(6 << 10);
    let begin = stream::once(async { Ok::<_, Infallible>(Bytes::from(padded)) });
    let rest = stream::once(async { Ok(body.await.expect("sent")) });
    let mut slow = pin!(app.send(post(Body::from_stream(begin.chain(rest)))));
    assert!(poll!(&mut slow).is_pending(), "the rest of its body is awaited");
    assert_eq!(app.metric("queryscope_body_bytes_in_flight").await, 7168);

    check(&app.send(with_header(post(batch(2, [done(2, 2)])), "content-length", "4096")).await);
    let pieces = [done(2, 2), " ".repeat(4096)].map(Ok::<_, Infallible>);
    check(&app.post(Body::from_stream(stream::iter(pieces))).await);
    app.store(batch(3, [done(2, 3)])).await;

    send_body.send(Bytes::from_static(b" ")).expect("awaited");
    assert_eq!(slow.await.json(), json!({"accepted": 1, "duplicates": 0}));
    assert_eq!(app.metric("queryscope_body_bytes_in_flight").await, 0);
    app.send(with_header(post(batch(2, [done(2, 2)])), "content-length", "8192")).await;
    assert_eq!(app.status(2).await, "finished");
}

#[tokio::test]
async fn bytes_that_are_announced_and_do_not_come_keep_nobody_out() {
    let app = Setup::with(|settings| settings.body_budget_bytes = 10 << 10).start().await;
    let silent = || Body::from_stream(stream::pending::<Result<Bytes, Infallible>>());
    let mut lying: Vec<_> =
        (0..100).map(|_| Box::pin(app.send(with_header(post(silent()), "content-length", "8192")))).collect();
    for request in &mut lying {
        assert!(poll!(request).is_pending(), "its body is awaited");
    }
    app.store(batch(1, [done(2, 1)])).await;
}

#[tokio::test]
async fn a_batch_has_to_fit_the_budget_as_it_is_packed_too() {
    let app = Setup::with(|settings| settings.body_budget_bytes = 64 << 10).start().await;
    let of_queries = |count: u64| gzip(batch(1, (0..count).map(|n| progress(n + 2, n + 1))));
    let many = of_queries(200);
    assert!(many.len() < 16 << 10, "{}", many.len());
    check(&app.post_gzip(many).await);
    assert_eq!(app.metric("queryscope_body_bytes_in_flight").await, 0);
    assert_eq!(app.post_gzip(of_queries(20)).await.status, 202);
}
