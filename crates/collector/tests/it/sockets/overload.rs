//! More senders than the collector can take at once.

use std::collections::HashSet;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::poll;
use queryscope_collector::Settings;
use serde_json::json;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::app::{Setup, TestApp, eventually, post as request};
use crate::events::{batch, done, process};
use crate::socket::{Client, Reply, Server, patiently, post};

const CAPACITY: usize = 4;
const SENDERS: u64 = 3 * CAPACITY as u64;

/// A collector that works on few requests at once and lets none wait, over a store that commits when it gets a turn.
async fn small(turns: &Arc<Semaphore>) -> TestApp {
    let few = |settings: &mut Settings| {
        settings.requests_max = CAPACITY;
        settings.slot_deadline = Duration::ZERO;
    };
    Setup::with(few).turns(turns).start().await
}

/// The batch of the n-th sender, whose query and stream are its own.
fn batch_of(n: u64) -> String {
    batch(n, [done(2, n)])
}

async fn send(mut client: Client, n: u64) -> (u64, Client, Reply) {
    client.write(post(&batch_of(n))).await;
    let reply = client.reply().await;
    (n, client, reply)
}

fn check_busy(reply: &Reply) {
    assert_eq!(reply.status, 503, "{reply:?}");
    assert!(reply.head.contains("\r\nretry-after: 1"), "{reply:?}");
    assert!(reply.body.contains("too many requests are in flight"), "{reply:?}");
}

#[tokio::test]
async fn three_times_as_many_senders_are_stored_or_told_to_come_again() {
    let turns = Arc::new(Semaphore::new(0));
    let app = small(&turns).await;
    let server = Server::start(&app).await;
    let mut sending = JoinSet::new();
    for n in 1..=SENDERS {
        sending.spawn(send(server.connect().await, n));
    }
    // Nothing is stored, and all but as many as there may be have their answer.
    let mut refused = Vec::new();
    while refused.len() < SENDERS as usize - CAPACITY {
        let (n, client, reply) = patiently("503", sending.join_next()).await.expect("sent").expect("sent");
        check_busy(&reply);
        refused.push((n, client));
    }
    assert_eq!(app.metric("queryscope_requests_in_flight").await, CAPACITY as u64);
    let mut reader = server.connect().await;
    reader.write("GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    let health = reader.reply().await;
    assert_eq!(health.status, 200);
    let says = r#""state":"degraded","reasons":["more events arrive than can be stored"#;
    assert!(health.body.contains(says), "{health:?}");

    turns.add_permits(1000);
    let mut stored = HashSet::new();
    let mut busy = refused.len() as u64;
    for (n, client) in refused {
        sending.spawn(send(client, n));
    }
    while let Some(sent) = patiently("an answer", sending.join_next()).await {
        let (n, client, reply) = sent.expect("no panic");
        if reply.status == 202 {
            assert_eq!(reply.body, r#"{"accepted":1,"duplicates":0}"#, "of the refused nothing was stored");
            assert!(stored.insert(n));
        } else {
            check_busy(&reply);
            busy += 1;
            sending.spawn(send(client, n));
        }
    }
    assert_eq!(stored, (1..=SENDERS).collect());
    for n in 1..=SENDERS {
        assert_eq!(app.recorded(n).await, [process(n), done(2, n)]);
        assert_eq!(app.post(batch_of(n)).await.json(), json!({"accepted": 0, "duplicates": 1}));
    }
    for (name, count) in [
        ("queryscope_events_accepted_total", SENDERS),
        ("queryscope_batches_refused_total{reason=\"overload\"}", busy),
        ("queryscope_http_requests_total{path=\"/v1/events\",status=\"503\"}", busy),
        ("queryscope_requests_in_flight", 0),
        ("queryscope_body_bytes_in_flight", 0),
    ] {
        assert_eq!(app.metric(name).await, count, "{name}");
    }
    app.clock.advance(Duration::from_secs(10));
    assert_eq!(app.get("/v1/health").await.json()["state"], "ready");
}

#[tokio::test]
async fn a_batch_whose_sender_has_gone_takes_its_part_until_it_is_stored() {
    let turns = Arc::new(Semaphore::new(0));
    let app = small(&turns).await;
    for n in 1..=CAPACITY as u64 {
        let mut sending = pin!(app.send(request(batch_of(n))));
        assert!(poll!(&mut sending).is_pending());
        // Dropped here, as when a connection breaks.
    }
    let answer = app.post(batch_of(100)).await;
    assert_eq!((answer.status.as_u16(), answer.header("retry-after")), (503, Some("1")));
    assert!(app.metric("queryscope_body_bytes_in_flight").await > 0);
    turns.add_permits(1000);
    eventually("all to be stored", async || {
        (app.metric("queryscope_requests_in_flight").await == 0).then_some(())
    })
    .await;
    assert_eq!(app.metric("queryscope_body_bytes_in_flight").await, 0);
    assert_eq!(app.ids("").await.len(), CAPACITY);
    app.store(batch_of(100)).await;
}
