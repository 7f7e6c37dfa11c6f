//! An address that has as many connections as it takes.

use std::time::Duration;

use crate::app::{Setup, TestApp, eventually};
use crate::events::{batch, done, progress};
use crate::large::{LARGE, store_large};
use crate::socket::{Client, Reply, Server, get, post, post_head};

const CONNECTIONS: usize = 16;
/// Of these, live streams at most, and requests of readers at most.
const LIVE: usize = 12;
const READERS: usize = 14;

async fn small() -> (TestApp, Server) {
    let setup = Setup::with(|settings| {
        settings.connections_max = CONNECTIONS;
        // Nothing else is to close a connection.
        settings.head_deadline = Duration::from_hours(1);
        settings.write_deadline = Duration::from_hours(1);
    });
    let app = setup.start().await;
    let server = Server::start(&app).await;
    (app, server)
}

/// Checks that a sender and whoever asks for health are answered, each on a connection of its own.
async fn check_v1(server: &Server, n: u64) {
    let mut sender = server.connect().await;
    sender.write(post(&batch(n, [done(2, n)]))).await;
    assert_eq!(sender.reply().await.status, 202);
    let mut other = server.connect().await;
    other.get("/v1/health").await;
    assert_eq!(other.reply().await.status, 200);
}

fn check_refused(reply: &Reply) {
    assert_eq!(reply.status, 503, "{reply:?}");
    assert!(reply.body.starts_with("{\"error\":"), "{reply:?}");
    for line in ["retry-after: 5", "connection: close", "content-security-policy: ", "application/json"] {
        assert!(reply.head.contains(line), "{line}: {reply:?}");
    }
}

/// A client whose stream has begun.
async fn follow(server: &Server, path: &str) -> Client {
    let mut client = server.connect().await;
    client.get(path).await;
    client.read(1).await;
    client
}

#[tokio::test]
async fn live_readers_leave_room_for_senders() {
    let (app, server) = small().await;
    app.store(batch(1, [progress(2, 1)])).await;
    let one = format!("/api/live/{}", crate::events::query(1));
    let mut followers = vec![follow(&server, &one).await];
    for _ in 1..LIVE {
        followers.push(follow(&server, "/api/live").await);
    }
    for path in ["/api/live", one.as_str()] {
        let mut late = server.connect().await;
        late.get(path).await;
        let reply = late.reply().await;
        check_refused(&reply);
        assert!(reply.body.contains("live readers"), "{reply:?}");
        assert_eq!(late.closed().await, "", "its connection is for others");
    }
    let refused = "queryscope_readers_refused_total{reason=\"live\"}";
    assert_eq!(app.metric(refused).await, 2);
    assert_eq!(app.metric("queryscope_live_subscribers").await, LIVE as u64);
    check_v1(&server, 2).await;

    followers.pop();
    eventually("the place to be free", async || {
        (app.metric("queryscope_live_subscribers").await < LIVE as u64).then_some(())
    })
    .await;
    followers.push(follow(&server, "/api/live").await);
    assert_eq!(app.metric(refused).await, 2);
}

#[tokio::test]
async fn readers_that_do_not_read_leave_room_for_senders() {
    let (app, server) = small().await;
    store_large(&app).await;
    let mut deaf = Vec::new();
    for n in 1..=READERS as u64 {
        deaf.push(server.deaf(LARGE).await);
        eventually("its answer to begin", async || {
            (app.metric("queryscope_readers").await == n).then_some(())
        })
        .await;
    }
    let mut late = server.connect().await;
    late.get("/api/queries").await;
    check_refused(&late.reply().await);
    assert_eq!(late.closed().await, "");
    assert!(app.metric("queryscope_readers_refused_total{reason=\"all\"}").await >= 1);
    check_v1(&server, 2000).await;

    deaf.pop();
    eventually("the place to be free", async || {
        let mut next = server.connect().await;
        next.get("/api/queries?limit=1").await;
        (next.reply().await.status == 200).then_some(())
    })
    .await;
}

#[tokio::test]
async fn idle_connections_give_way_the_oldest_first() {
    let (app, server) = small().await;
    let mut idle = Vec::new();
    for begun in ["", "GET /api", "", ""].iter().cycle().take(3 * CONNECTIONS) {
        let mut client = server.connect().await;
        // A head that has begun is no request yet.
        client.try_write(begun).await;
        idle.push(client);
    }
    check_v1(&server, 1).await;
    for client in &mut idle[..2 * CONNECTIONS] {
        assert_eq!(client.closed().await, "");
    }
    // The sender and the last to ask took the places of two more.
    assert!(idle[2 * CONNECTIONS + 2..].iter().all(Client::is_open));
    let closed = "queryscope_connections_closed_total{reason=\"full\"}";
    assert_eq!(app.metric(closed).await, 2 * CONNECTIONS as u64 + 2);
    // Those two have been left.
    eventually("the others to be open", async || {
        (app.metric("queryscope_connections").await == CONNECTIONS as u64 - 2).then_some(())
    })
    .await;
}

#[tokio::test]
async fn what_is_worked_on_does_not_give_way() {
    let (app, server) = small().await;
    let text = batch(1, [done(2, 1)]);
    let mut sender = server.connect().await;
    sender.write(post_head(&[&format!("Content-Length: {}", text.len()), "Expect: 100-continue"])).await;
    assert_eq!(sender.reply().await.status, 100, "its body is waited for");
    let follower = follow(&server, "/api/live").await;
    let mut rests = server.connect().await;
    rests.get("/v1/health").await;
    assert_eq!(rests.reply().await.status, 200);
    let mut idle = Vec::new();
    for _ in 0..2 * CONNECTIONS {
        idle.push(server.connect().await);
    }
    assert_eq!(rests.closed().await, "", "between two requests a connection is idle");
    assert!(follower.is_open());
    sender.write(text).await;
    assert_eq!(sender.reply().await.status, 202);
    assert_eq!(app.metric("queryscope_live_subscribers").await, 1);
}

/// All connections are worked on: a further one waits until one of them is not.
#[tokio::test]
async fn a_connection_waits_while_all_are_worked_on() {
    let (_app, server) = small().await;
    let text = batch(1, [done(2, 1)]);
    let mut senders = Vec::new();
    for _ in 0..CONNECTIONS {
        let mut sender = server.connect().await;
        sender.write(post_head(&[&format!("Content-Length: {}", text.len()), "Expect: 100-continue"])).await;
        assert_eq!(sender.reply().await.status, 100);
        senders.push(sender);
    }
    let mut waits = server.connect().await;
    waits.write(get("/v1/health")).await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(waits.is_open(), "it has no answer yet");
    for sender in &mut senders {
        sender.write(&text).await;
        assert_eq!(sender.reply().await.status, 202, "nobody lost its request");
    }
    assert_eq!(waits.reply().await.status, 200);
}
