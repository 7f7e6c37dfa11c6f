//! A stop answers what has been accepted.

use std::time::Duration;

use tokio::net::TcpStream;

use crate::app::{Setup, TestApp, eventually};
use crate::events::{batch, done, process};
use crate::socket::{Client, Server, post, post_head};

/// How often a test looks whether what should not happen does.
const LOOKS: usize = 500;

/// A request whose head has been read and whose body has not been sent.
async fn in_flight(server: &Server, text: &str) -> Client {
    let mut client = server.connect().await;
    let length = format!("Content-Length: {}", text.len());
    client.write(post_head(&[&length, "Expect: 100-continue"])).await;
    assert_eq!(client.reply().await.status, 100, "the service waits for the body");
    client
}

#[tokio::test]
async fn a_request_in_flight_is_answered_and_stored_before_the_service_ends() {
    let app = Setup::with(|settings| settings.stop_deadline = Duration::from_hours(1)).start().await;
    let server = Server::start(&app).await;
    let text = batch(1, [done(2, 1)]);
    let mut client = in_flight(&server, &text).await;
    server.stop.cancel();
    eventually("new connections to be refused", async || TcpStream::connect(server.address).await.err())
        .await;
    // As long as it has not been answered, nothing it needs may end. Were the service not to wait for it, the store
    // would soon be closed.
    for _ in 0..LOOKS {
        app.store.engines().await.expect("the store is open");
    }
    client.write(text).await;
    let reply = client.reply().await;
    assert_eq!((reply.status, reply.body.as_str()), (202, r#"{"accepted":1,"duplicates":0}"#));
    assert_eq!(client.closed().await, "");
    server.ended().await.expect("in order");
    let app = app.restarted().await;
    assert_eq!(app.recorded(1).await, [process(1), done(2, 1)]);
}

#[tokio::test]
async fn connections_that_rest_do_not_hold_up_a_stop() {
    let app = Setup::with(|settings| settings.stop_deadline = Duration::from_hours(1)).start().await;
    let server = Server::start(&app).await;
    let _fresh = server.connect().await;
    let mut rests = server.connect().await;
    rests.write(post(&batch(1, [done(2, 1)]))).await;
    assert_eq!(rests.reply().await.status, 202);
    server.stop.cancel();
    server.ended().await.expect("in order");
}

#[tokio::test]
async fn a_request_that_does_not_end_is_cut_off_at_the_deadline() {
    let setup = Setup::with(|settings| {
        settings.stop_deadline = Duration::from_millis(200);
        // Nothing else is to end it.
        settings.body_deadline = Duration::from_hours(1);
    });
    let app = setup.start().await;
    let server = Server::start(&app).await;
    let _client = in_flight(&server, "never sent").await;
    server.stop.cancel();
    server.ended().await.expect("in order");
}

#[tokio::test]
async fn senders_and_readers_may_have_addresses_of_their_own() {
    let app = TestApp::new().await;
    let server = Server::start_split(&app).await;
    for (mut client, path, status) in [
        (server.connect_to_ingest().await, "/v1/health", 200),
        (server.connect_to_ingest().await, "/api/queries", 404),
        (server.connect().await, "/api/queries", 200),
        (server.connect().await, "/v1/health", 200),
    ] {
        client.write(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n")).await;
        assert_eq!(client.reply().await.status, status, "{path}");
    }
    server.stop.cancel();
    server.ended().await.expect("in order");
}
