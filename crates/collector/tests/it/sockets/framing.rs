//! Where a request ends: with and without a length, half closed, pipelined, and smuggled.

use crate::app::TestApp;
use crate::events::{batch, done, process};
use crate::socket::{Client, Server, get, post, post_head};

async fn start() -> (TestApp, Server, Client) {
    let app = TestApp::new().await;
    let server = Server::start(&app).await;
    let client = server.connect().await;
    (app, server, client)
}

fn chunked(text: &str) -> String {
    let (head, tail) = text.split_at(text.len() / 2);
    format!("{:x}\r\n{head}\r\n{:X};note=1\r\n{tail}\r\n0\r\n\r\n", head.len(), tail.len())
}

#[tokio::test]
async fn a_body_may_come_in_chunks_without_a_length() {
    let (app, _server, mut client) = start().await;
    client.write(post_head(&["Transfer-Encoding: chunked"]) + &chunked(&batch(1, [done(2, 1)]))).await;
    assert_eq!(client.reply().await.body, r#"{"accepted":1,"duplicates":0}"#);
    assert_eq!(app.recorded(1).await, [process(1), done(2, 1)]);
}

#[tokio::test]
async fn who_has_closed_its_side_still_gets_its_answer() {
    let (_app, _server, mut client) = start().await;
    client.write(post(&batch(1, [done(2, 1)]))).await;
    client.half_close().await;
    assert_eq!(client.reply().await.status, 202);
    assert_eq!(client.closed().await, "");
}

#[tokio::test]
async fn a_body_that_ends_early_is_400_and_stores_nothing() {
    let (app, server, _client) = start().await;
    let text = batch(1, [done(2, 1)]);
    let whole = text.len();
    for head in [format!("Content-Length: {}", whole + 1), "Transfer-Encoding: chunked".into()] {
        let body = if head.contains("chunked") { format!("{whole:x}\r\n{text}") } else { text.clone() };
        let mut client = server.connect().await;
        client.write(post_head(&[&head]) + &body).await;
        client.half_close().await;
        let reply = client.reply().await;
        assert_eq!(reply.status, 400, "{reply:?}");
        assert_eq!(client.closed().await, "");
    }
    assert!(app.ids("").await.is_empty());
}

#[tokio::test]
async fn one_connection_serves_many_requests() {
    let (app, _server, mut client) = start().await;
    for seq in 2..=101 {
        client.write(post(&batch(1, [done(seq, seq)]))).await;
        assert_eq!(client.reply().await.status, 202);
    }
    assert_eq!(app.ids("limit=1000").await.len(), 100);
}

#[tokio::test]
async fn requests_sent_ahead_are_answered_in_order() {
    let (_app, _server, mut client) = start().await;
    let requests = [post(&batch(1, [done(2, 1)])), post("no batch"), post(&batch(1, [done(3, 2)]))];
    client.write(requests.concat()).await;
    for status in [202, 400, 202] {
        assert_eq!(client.reply().await.status, status);
    }
}

#[tokio::test]
async fn a_request_whose_end_is_unclear_is_400_and_the_last_of_its_connection() {
    let (app, server, _client) = start().await;
    let text = batch(1, [done(2, 1)]);
    let right = format!("Content-Length: {}", text.len());
    for lines in [
        &[right.as_str(), "Content-Length: 5"][..],
        &["Content-Length: -1"],
        &["Content-Length: +5"],
        &["Content-Length: 5, 6"],
        &["Content-Length: 99999999999999999999999"],
        &["Content-Length: x"],
        &["Transfer-Encoding: gzip"],
        &["Transfer-Encoding: chunked, identity"],
        &["Transfer-Encoding : chunked"],
        &["X: y\r\n folded", right.as_str()],
    ] {
        let mut client = server.connect().await;
        client.write(post_head(lines) + &text).await;
        let reply = client.reply().await;
        assert_eq!(reply.status, 400, "{lines:?}: {reply:?}");
        assert_eq!(client.closed().await, "", "{lines:?}");
    }
    assert!(app.ids("").await.is_empty());
}

#[tokio::test]
async fn chunks_win_over_a_length_and_nothing_is_smuggled_behind_them() {
    let (app, server, _client) = start().await;
    let smuggled = post(&batch(2, [done(2, 2)]));
    for lines in [
        ["Content-Length: 4", "Transfer-Encoding: chunked"],
        ["Transfer-Encoding: chunked", "Content-Length: 4"],
    ] {
        let mut client = server.connect().await;
        client.write(post_head(&lines) + &chunked(&batch(1, [done(2, 1)])) + &smuggled).await;
        assert_eq!(client.reply().await.status, 202);
        assert_eq!(client.closed().await, "", "RFC 9112, 6.1: the connection ends with such a request");
    }
    assert_eq!(app.ids("").await, [crate::events::query(1)]);
}

/// Ways to make one reader end a request where another goes on (CL.TE, TE.CL, TE.TE, and lines that only some
/// take for a header): what is hidden behind the end of chunks is the body to the one and a request to the other.
#[tokio::test]
async fn a_request_hidden_in_a_body_is_never_taken_for_one() {
    let (app, server, _client) = start().await;
    let hidden = format!("0\r\n\r\n{}", post(&batch(2, [done(2, 2)])));
    let length = format!("Content-Length: {}", hidden.len());
    for lines in [
        &[length.as_str(), "Transfer-Encoding: chunked"][..],
        &["Transfer-Encoding: chunked", &length],
        &[&length, "Transfer-Encoding: chunked", "Transfer-Encoding: identity"],
        &[&length, "Transfer-Encoding: identity", "Transfer-Encoding: chunked"],
        &[&length, "Transfer-Encoding: chunked, chunked"],
        &[&length, "Transfer-Encoding: xchunked"],
        &[&length, "Transfer-Encoding: \"chunked\""],
        &[&length, "Transfer-Encoding:\tchunked"],
        &[&length, "Transfer-Encoding: chunked\t"],
        &[&length, "Transfer-Encoding : chunked"],
        &[&length, " Transfer-Encoding: chunked"],
        &[&length, "X: y\r\n Transfer-Encoding: chunked"],
        &[&length, "X: y\rTransfer-Encoding: chunked"],
        &[&length, "X: y\nTransfer-Encoding: chunked"],
        &[&length, "Transfer-Encoding\0: chunked"],
        &[&length, "Transfer-Encoding: chunked\0"],
        &[&length, "Transfer_Encoding: chunked"],
        &[&length, "Content-Length: 0"],
        &["Content-Length: 0", &length],
        &[&length, &length],
    ] {
        let mut client = server.connect().await;
        client.write(post_head(lines) + &hidden).await;
        client.half_close().await;
        let rest = client.closed().await;
        assert_eq!(rest.matches("HTTP/1.1 ").count(), 1, "{lines:?}: {rest}");
        assert!(rest.starts_with("HTTP/1.1 400"), "no batch begins like that: {lines:?}: {rest}");
    }
    assert!(app.ids("").await.is_empty());
}

/// Checks for an answer of the service, whole and the last of its connection.
async fn check_refused(mut client: Client, status: u16, says: &str) {
    let reply = client.reply().await;
    assert_eq!(reply.status, status, "{reply:?}");
    assert!(reply.body.starts_with("{\"error\":\"") && reply.body.contains(says), "{reply:?}");
    for line in ["content-type: application/json", "content-security-policy: ", "connection: close", "date: "]
    {
        assert!(reply.head.contains(line), "{line}: {reply:?}");
    }
    assert_eq!(reply.head.matches("content-length").count(), 1, "{reply:?}");
    assert_eq!(client.closed().await, "");
}

#[tokio::test]
async fn a_head_that_is_too_large_is_431() {
    let (_app, server, _client) = start().await;
    let many = (0..200).map(|n| format!("X-{n}: y\r\n")).collect::<Vec<_>>().concat();
    let long = |bytes| "X: ".to_owned() + &"y".repeat(bytes);
    for lines in [long(40 << 10), long(200 << 10), many] {
        let mut client = server.connect().await;
        // It is refused before all of it has come, and read on for a while.
        client.write(post_head(&[lines.trim_end(), "Content-Length: 0"])).await;
        check_refused(client, 431, "32 KiB").await;
    }
    let mut client = server.connect().await;
    client.write(get(&format!("/api/queries?label={}", "x".repeat(200 << 10)))).await;
    check_refused(client, 431, "address").await;
    let mut client = server.connect().await;
    client.write(get(&format!("/api/queries?label={}", "x".repeat(30 << 10)))).await;
    assert_eq!(client.reply().await.status, 200, "a long address that fits");
}

#[tokio::test]
async fn what_is_no_request_is_400_with_a_reason() {
    let (_app, server, _client) = start().await;
    for request in [
        get("/api/queries?label=<x>"),
        get("/api/queries?label={x}").replace("GET", "G=T"),
        get("/").replace("HTTP/1.1", "HTTP/9.9"),
        get("/").replace("Host", "Ho st"),
        post_head(&["Content-Length: x"]),
        get("/").replace("Host", "Transfer-Encoding: gzip\r\nHost"),
        // A TLS greeting.
        "\x16\x03\x01\x02\0\x01\0\x01\x7c\x03\x03".into(),
    ] {
        let mut client = server.connect().await;
        client.write(&request).await;
        check_refused(client, 400, "not valid").await;
    }
}

/// The answer before it is whole, and its own, too.
#[tokio::test]
async fn what_is_no_request_is_400_behind_others() {
    let (_app, _server, mut client) = start().await;
    client.write(get("/v1/health") + &get("/v1/health") + &get("/<")).await;
    assert_eq!(client.reply().await.status, 200);
    assert_eq!(client.reply().await.status, 200);
    check_refused(client, 400, "not valid").await;
}

#[tokio::test]
async fn two_hosts_are_400() {
    let (app, server, _client) = start().await;
    let second = "Host: localhost\r\nHost: ";
    for (path, host) in [("/api/queries", "localhost"), ("/api/queries", "evil.example"), ("/", "localhost")]
    {
        let mut client = server.connect().await;
        client.write(get(path).replace("Host: ", &format!("{second}{host}\r\nX: "))).await;
        check_refused(client, 400, "Host").await;
    }
    let mut client = server.connect().await;
    client.write(post(&batch(1, [done(2, 1)])).replace("Host: ", "Host: other\r\nHost: ")).await;
    let reply = client.reply().await;
    assert_eq!((reply.status, app.ids("").await.len()), (400, 0), "{reply:?}");
}

/// RFC 9112, 3.2.2: the address of such a request counts, not its `Host`.
#[tokio::test]
async fn an_absolute_address_names_the_host() {
    let (_app, server, _client) = start().await;
    for (address, host, status) in [
        ("http://evil.example/api/queries", "localhost", 403),
        ("http://evil.example:7766/", "localhost", 403),
        ("http://x@localhost/api/queries", "localhost", 403),
        ("http://localhost:7766/api/queries", "localhost", 200),
        ("http://localhost/api/queries", "evil.example", 403),
        ("http://127.0.0.1/", "localhost", 200),
        ("http://evil.example/v1/health", "localhost", 200),
    ] {
        let mut client = server.connect().await;
        client.write(get(address).replace("Host: localhost", &format!("Host: {host}"))).await;
        assert_eq!(client.reply().await.status, status, "{address} of {host}");
    }
}

/// Each holds a whole batch, which a reader that is less strict would store.
#[tokio::test]
async fn broken_chunks_are_400_and_store_nothing() {
    let (app, server, _client) = start().await;
    let text = batch(1, [done(2, 1)]);
    let size = format!("{:x}", text.len());
    let end = "0\r\n\r\n";
    for body in [
        format!("{size}g\r\n{text}\r\n{end}"),
        format!("-{size}\r\n{text}\r\n{end}"),
        format!("+{size}\r\n{text}\r\n{end}"),
        format!("0x{size}\r\n{text}\r\n{end}"),
        format!("fffffffffffffff{size}\r\n{text}\r\n{end}"),
        format!("{size}\n{text}\r\n{end}"),
        format!("{size};a\nb\r\n{text}\r\n{end}"),
        format!("{size};{}\r\n{text}\r\n{end}", "x".repeat(1 << 20)),
        format!("{size}\r\n{text}\n{end}"),
        format!("{size}\r\n{text}XX{end}"),
    ] {
        let mut client = server.connect().await;
        client.try_write(post_head(&["Transfer-Encoding: chunked"]) + &body).await;
        let reply = client.reply().await;
        assert_eq!(reply.status, 400, "{body:.40}: {reply:?}");
    }
    assert!(app.ids("").await.is_empty());
}

#[tokio::test]
async fn what_is_not_http_is_400_or_closed() {
    let (_app, server, _client) = start().await;
    for bytes in [
        &b"\x16\x03\x01\x02\x00\x01\x00"[..],
        b"hello\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"\0\0\0\0\r\n\r\n",
    ] {
        let mut client = server.connect().await;
        client.write(bytes).await;
        client.half_close().await;
        let rest = client.closed().await;
        assert!(rest.is_empty() || rest.starts_with("HTTP/1.1 400"), "{rest}");
    }
    let mut client = server.connect().await;
    client.write("GET /v1/health HTTP/1.1\r\nHost: h\r\n\r\n").await;
    assert_eq!(client.reply().await.status, 200, "nobody else has noticed");
}
