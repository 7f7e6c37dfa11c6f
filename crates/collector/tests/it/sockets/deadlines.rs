//! A slow connection is closed at a deadline.

use std::time::Duration;

use crate::app::{Setup, TestApp};
use crate::events::{batch, done};
use crate::socket::{Server, post, post_head};

const SHORT: Duration = Duration::from_millis(200);
/// Short, and long enough for a request to come first on any machine.
const RESTING: Duration = Duration::from_secs(2);

/// Head and body have different deadlines, of which one is short.
async fn impatient(head: Duration, body: Duration) -> (TestApp, Server) {
    let app = Setup::with(|settings| {
        settings.head_deadline = head;
        settings.body_deadline = body;
    });
    let app = app.start().await;
    let server = Server::start(&app).await;
    (app, server)
}

const LONG: Duration = Duration::from_mins(1);

#[tokio::test]
async fn a_slow_head_ends_the_connection() {
    let (_app, server) = impatient(SHORT, LONG).await;
    for begin in ["", "POST", "POST /v1/events HTTP/1.1\r\nHost: queryscope\r\nX-Slow: "] {
        let mut client = server.connect().await;
        client.write(begin).await;
        assert_eq!(client.closed().await, "", "{begin}");
    }
}

#[tokio::test]
async fn a_connection_that_rests_too_long_is_closed() {
    let (_app, server) = impatient(RESTING, LONG).await;
    let mut client = server.connect().await;
    client.write(post(&batch(1, [done(2, 1)]))).await;
    assert_eq!(client.reply().await.status, 202);
    assert_eq!(client.closed().await, "");
}

#[tokio::test]
async fn a_slow_body_is_408_and_ends_the_connection() {
    let (app, server) = impatient(LONG, SHORT).await;
    for length in ["Content-Length: 100", "Transfer-Encoding: chunked"] {
        let mut client = server.connect().await;
        client.write(post_head(&[length]) + "5\r\nbegin").await;
        let reply = client.reply().await;
        assert_eq!(reply.status, 408, "{reply:?}");
        assert!(reply.body.starts_with("{\"error\":"), "{reply:?}");
        assert!(reply.head.contains("connection: close"), "{reply:?}");
        assert_eq!(client.closed().await, "");
    }
    assert_eq!(app.metric("queryscope_body_bytes_in_flight").await, 0, "its share is given back");
}

#[tokio::test]
async fn slow_senders_do_not_keep_others_waiting() {
    let (_app, server) = impatient(LONG, LONG).await;
    let mut slow = Vec::new();
    for _ in 0..50 {
        let mut client = server.connect().await;
        client.write(post_head(&["Content-Length: 100"]) + "begin").await;
        slow.push(client);
    }
    let mut client = server.connect().await;
    client.write(post(&batch(1, [done(2, 1)]))).await;
    assert_eq!(client.reply().await.status, 202);
}
