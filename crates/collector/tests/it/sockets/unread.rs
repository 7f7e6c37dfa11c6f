//! Answers that are not read.

use std::time::Duration;

use crate::app::{Setup, TestApp, eventually};
use crate::events::{batch, done, progress, query};
use crate::large::{LARGE, store_large};
use crate::socket::{Server, post};

const CLOSED: &str = "queryscope_connections_closed_total{reason=\"stalled\"}";

async fn impatient(deadline: Duration) -> (TestApp, Server) {
    let app = Setup::with(|settings| settings.write_deadline = deadline).start().await;
    let server = Server::start(&app).await;
    (app, server)
}

#[tokio::test]
async fn a_reader_that_takes_nothing_is_let_go_of() {
    let (app, server) = impatient(Duration::from_millis(300)).await;
    let bytes = store_large(&app).await;
    let mut deaf = server.deaf(LARGE).await;
    eventually("its connection to be closed", async || (app.metric(CLOSED).await == 1).then_some(())).await;
    eventually("its answer to be dropped", async || {
        (app.metric("queryscope_readers").await == 0).then_some(())
    })
    .await;
    let rest = deaf.closed().await;
    assert!(rest.len() < bytes / 2, "{} bytes of it had been kept", rest.len());
    assert_eq!(app.metric("queryscope_connections").await, 0);
}

#[tokio::test]
async fn a_slow_reader_gets_all_of_it() {
    let (app, server) = impatient(Duration::from_secs(3)).await;
    let bytes = store_large(&app).await;
    let mut slow = server.deaf(LARGE).await;
    // It takes longer than the deadline in all, and never so long for one piece.
    for piece in 1..=20 {
        tokio::time::sleep(Duration::from_millis(250)).await;
        slow.read(piece * bytes / 20).await;
    }
    let reply = slow.reply().await;
    assert_eq!(reply.status, 200);
    assert!(reply.body.len() >= bytes);
    assert_eq!(app.metric(CLOSED).await, 0);
}

#[tokio::test]
async fn a_stream_on_which_nothing_happens_stays() {
    let (app, server) = impatient(Duration::from_millis(100)).await;
    app.store(batch(1, [progress(2, 1)])).await;
    let mut follower = server.connect().await;
    follower.get(&format!("/api/live/{}", query(1))).await;
    follower.read(1).await;
    let mut sender = server.connect().await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    sender.write(post(&batch(1, [done(3, 1)]))).await;
    assert_eq!(sender.reply().await.status, 202);
    follower.read_until("event: finished").await;
    assert_eq!(app.metric(CLOSED).await, 0);
}
