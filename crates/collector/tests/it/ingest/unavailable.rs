//! 503: what could not be stored is to be sent again.

use std::convert::Infallible;
use std::pin::pin;

use axum::body::{Body, Bytes};
use futures_util::{poll, stream};
use serde_json::json;
use tokio::sync::oneshot;

use crate::app::{Answer, Setup, TestApp, post, with_header};
use crate::events::{batch, done, query};
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
    for path in ["/api/queries", "/api/queries?q=x", &one, &format!("{one}/recording"), "/metrics"] {
        check(&app.get(path).await);
    }
    assert_eq!(app.get("/v1/health").await.status, 200, "liveness does not depend on the store");
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
    let slow = with_header(post(Body::from_stream(stream::once(body))), "content-length", "8192");
    let mut slow = pin!(app.send(slow));
    assert!(poll!(&mut slow).is_pending(), "its body is awaited, and 8 KiB are set aside for it");
    assert_eq!(app.metric("queryscope_body_bytes_in_flight").await, 8192);

    check(&app.send(with_header(post(batch(2, [done(2, 2)])), "content-length", "4096")).await);
    let pieces = [done(2, 2), " ".repeat(4096)].map(Ok::<_, Infallible>);
    check(&app.post(Body::from_stream(stream::iter(pieces))).await);
    app.store(batch(3, [done(2, 3)])).await;

    send_body.send(batch(1, [done(2, 1)]).into()).expect("awaited");
    assert_eq!(slow.await.json(), json!({"accepted": 1, "duplicates": 0}));
    assert_eq!(app.metric("queryscope_body_bytes_in_flight").await, 0);
    app.send(with_header(post(batch(2, [done(2, 2)])), "content-length", "8192")).await;
    assert_eq!(app.status(2).await, "finished");
}
