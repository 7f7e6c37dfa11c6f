//! An answer reaches a sender that is still sending.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use crate::app::TestApp;
use crate::events::{batch, done};
use crate::socket::{PATIENCE, Reply, Server, parse, post, post_head};

const BODY_BYTES: usize = 20 << 20;

/// A client that looks for an answer only once it has written everything.
fn write_then_read(address: SocketAddr, head: &str, chunked: bool) -> Reply {
    let mut stream = TcpStream::connect(address).expect("accepted");
    stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
    stream.set_write_timeout(Some(PATIENCE)).expect("a socket");
    stream.write_all(head.as_bytes()).expect("read by the server");
    let piece = vec![b' '; 64 << 10];
    for _ in 0..BODY_BYTES / piece.len() {
        if chunked {
            stream.write_all(format!("{:x}\r\n", piece.len()).as_bytes()).expect("read by the server");
        }
        stream.write_all(&piece).expect("read by the server");
        if chunked {
            stream.write_all(b"\r\n").expect("read by the server");
        }
    }
    if chunked {
        stream.write_all(b"0\r\n\r\n").expect("read by the server");
    }
    let mut read = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let bytes = stream.read(&mut piece).expect("no reset before the answer");
        assert!(bytes > 0, "closed before the answer: {}", read.escape_ascii());
        read.extend_from_slice(&piece[..bytes]);
        if let Some(answer) = read.strip_prefix(b"HTTP/1.1 100 Continue\r\n\r\n") {
            read = answer.to_vec();
        }
        if let Some((reply, _)) = parse(&read) {
            return reply;
        }
    }
}

async fn check(lines: &[&str], status: u16) {
    let app = TestApp::new().await;
    let server = Server::start(&app).await;
    let (address, head) = (server.address, post_head(lines));
    let chunked = head.contains("chunked");
    let sender = tokio::task::spawn_blocking(move || write_then_read(address, &head, chunked));
    let reply = sender.await.expect("an answer");
    assert_eq!(reply.status, status, "{lines:?}: {reply:?}");
    assert!(reply.body.starts_with("{\"error\":"), "{reply:?}");
}

const LENGTH: &str = "Content-Length: 20971520";
const CHUNKED: &str = "Transfer-Encoding: chunked";
const EXPECT: &str = "Expect: 100-continue";

#[tokio::test]
async fn a_sender_of_too_much_learns_413() {
    check(&[LENGTH], 413).await;
    check(&[CHUNKED], 413).await;
}

#[tokio::test]
async fn a_sender_without_a_token_learns_401() {
    let app = TestApp::new().await;
    let server = Server::start(&app).await;
    let address = server.address;
    for line in [LENGTH, CHUNKED] {
        let head = format!("POST /v1/events HTTP/1.1\r\nHost: queryscope\r\n{line}\r\n\r\n");
        let chunked = line == CHUNKED;
        let sender = tokio::task::spawn_blocking(move || write_then_read(address, &head, chunked));
        assert_eq!(sender.await.expect("an answer").status, 401, "{line}");
    }
}

#[tokio::test]
async fn a_sender_in_an_unknown_coding_learns_415() {
    check(&[LENGTH, "Content-Encoding: br"], 415).await;
}

#[tokio::test]
async fn a_sender_that_expects_100_and_does_not_wait_learns_413() {
    check(&[LENGTH, EXPECT], 413).await;
    check(&[CHUNKED, EXPECT], 413).await;
}

#[tokio::test]
async fn a_sender_that_waits_for_100_is_refused_without_it() {
    let app = TestApp::new().await;
    let server = Server::start(&app).await;
    let mut client = server.connect().await;
    client.write(post_head(&[LENGTH, EXPECT])).await;
    let reply = client.reply().await;
    assert_eq!(reply.status, 413, "no 100 comes before it");
    // Whether a body follows cannot be known, so nothing else may.
    assert!(reply.head.contains("connection: close"), "{reply:?}");
}

#[tokio::test]
async fn a_sender_that_waits_for_100_gets_it_when_its_body_is_wanted() {
    let app = TestApp::new().await;
    let server = Server::start(&app).await;
    let mut client = server.connect().await;
    let text = batch(1, [done(2, 1)]);
    client.write(post_head(&[&format!("Content-Length: {}", text.len()), EXPECT])).await;
    assert_eq!(client.reply().await.status, 100);
    client.write(text).await;
    assert_eq!(client.reply().await.status, 202);
}

#[tokio::test]
async fn a_refused_batch_leaves_the_connection_open_for_the_next() {
    let app = TestApp::new().await;
    let server = Server::start(&app).await;
    let mut client = server.connect().await;
    let refused = post("no batch").replace("Authorization", "X-Nothing");
    for (request, status) in [
        (refused, 401),
        (post("no batch"), 400),
        (post("{}").replace("Content-Length", "Content-Encoding: br\r\nContent-Length"), 415),
        (post(&batch(1, [done(2, 1)])), 202),
    ] {
        client.write(request).await;
        assert_eq!(client.reply().await.status, status);
    }
}

#[tokio::test]
async fn a_sender_that_never_ends_is_cut_off() {
    let app = TestApp::new().await;
    let server = Server::start(&app).await;
    let mut client = server.connect().await;
    client.write(post_head(&[CHUNKED]).replace("Authorization", "X-Nothing")).await;
    let chunk = format!("10000\r\n{}\r\n", " ".repeat(0x10000));
    let chunks = 2 * (64 << 20) / 0x10000;
    let mut sent = 0;
    while sent < chunks && client.try_write(&chunk).await {
        sent += 1;
    }
    assert!(sent < chunks, "at most 64 MiB are read of a body that was refused");
}
