//! The form of every answer, whatever is asked for.

use std::io::Read;

use axum::body::Body;
use axum::http::Request;
use flate2::read::GzDecoder;

use crate::app::{Answer, TestApp, with_header};
use crate::events::{batch, done, query};

fn inflated(body: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    GzDecoder::new(body).read_to_end(&mut text).expect("gzip");
    text
}

fn check_error(answer: &Answer, status: u16, asked: &str) {
    assert_eq!(answer.status, status, "{asked}: {answer:?}");
    assert_eq!(answer.header("content-type"), Some("application/json"), "{asked}: {answer:?}");
    assert!(!answer.error().is_empty(), "{asked}: {answer:?}");
}

#[tokio::test]
async fn what_is_not_there_is_404_with_a_reason() {
    let app = TestApp::new().await;
    for path in [
        "/v1",
        "/v1/",
        "/v1/events/",
        "/v1/event",
        "/v2/events",
        "/api",
        "/api/",
        "/api/queries/",
        "/api/queries/x",
        "/api/queries/%ff",
        "/api/queries/%",
        "/api/queries/a%2Fb",
        "/api/queries/x/recording",
        "/api/queries/%ff/recording",
        "/api/queries/x/y",
        "/nowhere",
        "//",
    ] {
        check_error(&app.get(path).await, 404, path);
    }
    let long = format!("/api/{}", "x".repeat(5000));
    let answer = app.get(&long).await;
    check_error(&answer, 404, "a long path");
    assert!(answer.body.len() < 300, "what was asked is quoted in part");
}

#[tokio::test]
async fn another_method_is_405_and_is_told_which_is_allowed() {
    let app = TestApp::new().await;
    let one = format!("/api/queries/{}", query(1));
    let recording = format!("{one}/recording");
    let reads = ["/v1/health", "/api/queries", &one, &recording, "/api/openapi.json", "/metrics", "/"];
    for (path, allowed) in reads.into_iter().map(|path| (path, "GET, HEAD")).chain([("/v1/events", "POST")]) {
        for method in ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"] {
            if allowed.contains(method) {
                continue;
            }
            let answer = app.call(method, path).await;
            assert_eq!(
                (answer.status.as_u16(), answer.header("allow")),
                (405, Some(allowed)),
                "{method} {path}"
            );
            if method != "HEAD" {
                check_error(&answer, 405, path);
            }
        }
    }
}

#[tokio::test]
async fn head_is_get_without_the_body() {
    let app = TestApp::new().await;
    app.store(batch(1, [done(2, 1)])).await;
    let one = format!("/api/queries/{}", query(1));
    let recording = format!("{one}/recording");
    for path in
        ["/v1/health", "/api/queries", "/api/queries?limit=0", "/api/queries/x", &one, &recording, "/"]
    {
        let (get, head) = (app.get(path).await, app.call("HEAD", path).await);
        assert_eq!((head.status, &head.headers), (get.status, &get.headers), "{path}");
        assert!(head.body.is_empty() && !get.body.is_empty(), "{path}");
    }
}

#[tokio::test]
async fn answers_are_packed_for_readers_that_take_it() {
    let app = TestApp::new().await;
    app.store(batch(1, (1..40).map(|n| done(n + 1, n)))).await;
    let ask = async |method: &str, path: &str, header: (&str, &str)| {
        let request = Request::builder().method(method).uri(path).header("host", "localhost");
        let request = request.header(header.0, header.1);
        app.send(request.body(Body::empty()).expect("a request")).await
    };
    let one = format!("/api/queries/{}", query(1));
    for path in
        ["/api/queries", &one, "/api/facets", "/api/groups", "/api/versions?label=", "/api/openapi.json"]
    {
        let plain = app.get(path).await;
        let packed = ask("GET", path, ("accept-encoding", "br, gzip;q=0.5")).await;
        assert_eq!((plain.header("content-encoding"), plain.header("vary")), (None, Some("accept-encoding")));
        assert_eq!(packed.header("vary"), Some("accept-encoding"), "{path}");
        assert_eq!(packed.header("etag"), plain.header("etag"), "{path}: the tag is that of the text");
        if plain.body.len() > 32 {
            assert_eq!(packed.header("content-encoding"), Some("gzip"), "{path}");
            assert_eq!(inflated(&packed.body), plain.body, "{path}");
        }
        let refused = ask("GET", path, ("accept-encoding", "gzip;q=0")).await;
        assert_eq!((refused.header("content-encoding"), &refused.body), (None, &plain.body), "{path}");
        let head = ask("HEAD", path, ("accept-encoding", "gzip")).await;
        assert_eq!(
            (head.status, head.header("content-encoding")),
            (packed.status, packed.header("content-encoding"))
        );
        assert!(head.body.is_empty(), "{path}");
        let tag = packed.header("etag").expect("a tag").to_owned();
        let same = ask("GET", path, ("if-none-match", &tag)).await;
        assert_eq!((same.status.as_u16(), same.body.len()), (304, 0), "{path}");
        assert_eq!(same.header("vary"), Some("accept-encoding"), "{path}");
    }
    // What is packed already stays as it is.
    let recording = ask("GET", &format!("{one}/recording"), ("accept-encoding", "gzip")).await;
    assert_eq!(recording.header("content-encoding"), Some("gzip"));
    assert_eq!(recording.lines().len(), 2);
}

#[tokio::test]
async fn an_overview_is_of_its_moment() {
    let app = TestApp::new().await;
    app.store(batch(1, [done(2, 1)])).await;
    let overview = app.get("/api/overview").await;
    assert_eq!((overview.header("cache-control"), overview.header("etag")), (Some("no-store"), None));
}

#[tokio::test]
async fn senders_have_routes_of_their_own() {
    let app = TestApp::new().await;
    let ask = async |path: &str| {
        let request = Request::get(path).body(Body::empty()).expect("a request");
        let response = tower::ServiceExt::oneshot(app.collector.ingest_routes(), request).await;
        response.expect("never fails").status().as_u16()
    };
    for (path, status) in
        [("/v1/health", 200), ("/v1/events", 405), ("/api/queries", 404), ("/", 404), ("/metrics", 404)]
    {
        assert_eq!(ask(path).await, status, "{path}");
    }
}

#[tokio::test]
async fn a_reader_that_has_the_current_answer_is_told_so() {
    let app = TestApp::new().await;
    for (n, path) in (1..).zip(["/api/queries", "/api/facets"]) {
        app.store(batch(n, [done(1, n)])).await;
        let first = app.get(path).await;
        assert_eq!((first.status.as_u16(), first.header("cache-control")), (200, Some("no-cache")), "{path}");
        let tag = first.header("etag").expect("a tag");
        let again = || {
            with_header(
                Request::get(path).header("host", "localhost").body(Body::empty()).expect("a request"),
                "if-none-match",
                tag,
            )
        };
        let same = app.send(again()).await;
        assert_eq!(
            (same.status.as_u16(), same.body.len(), same.header("etag")),
            (304, 0, Some(tag)),
            "{path}"
        );
        app.store(batch(n, [done(2, 100 + n)])).await;
        assert_eq!(app.send(again()).await.status, 200, "{path} has changed");
    }
    assert_eq!(app.get("/v1/health").await.header("etag"), None);
}
