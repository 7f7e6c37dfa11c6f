//! 401: who has no token is told so before the body is read.

use axum::body::{Body, Bytes};
use axum::http::{Request, header};
use futures_util::stream;

use crate::app::{TOKEN, TestApp, post, with_header};
use crate::events::{batch, done};
use crate::socket::patiently;

/// A body of which no byte ever comes.
fn silent_body() -> Body {
    Body::from_stream(stream::pending::<Result<Bytes, std::io::Error>>())
}

async fn check(app: &TestApp, authorization: Option<&str>, body: Body, length: Option<u64>) {
    let mut request = Request::post("/v1/events");
    for (name, value) in [
        (header::AUTHORIZATION, authorization.map(Into::into)),
        (header::CONTENT_LENGTH, length.map(|length| length.to_string())),
    ] {
        if let Some(value) = value {
            request = request.header(name, value);
        }
    }
    let answer = patiently("401", app.send(request.body(body).expect("a request"))).await;
    assert_eq!(answer.status, 401, "{authorization:?}");
    assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
    assert!(answer.error().contains("token"), "{answer:?}");
}

#[tokio::test]
async fn a_missing_or_wrong_token_is_401() {
    let app = TestApp::new().await;
    let basic = format!("Basic {TOKEN}");
    let longer = format!("Bearer {TOKEN}x");
    let two = format!("Bearer {TOKEN}, Bearer {TOKEN}");
    for authorization in [
        None,
        Some(""),
        Some("Bearer"),
        Some("Bearer "),
        Some("Bearer wrong"),
        Some(TOKEN),
        Some(basic.as_str()),
        Some(longer.as_str()),
        Some(two.as_str()),
        Some("Bearer qs_default\u{e4}"),
    ] {
        check(&app, authorization, batch(1, [done(2, 1)]).into(), None).await;
    }
    app.store(batch(1, [done(2, 1)])).await;
}

#[tokio::test]
async fn who_has_no_token_is_told_so_before_any_byte_of_the_body() {
    let app = TestApp::new().await;
    check(&app, None, silent_body(), None).await;
    check(&app, Some("Bearer wrong"), silent_body(), Some(20 << 20)).await;
}

#[tokio::test]
async fn a_token_comes_before_every_other_complaint() {
    let app = TestApp::new().await;
    let mut request = post("no batch");
    for (name, value) in
        [("authorization", "Bearer wrong"), ("content-encoding", "br"), ("content-length", "99999999999")]
    {
        request = with_header(request, name, value);
    }
    assert_eq!(app.send(request).await.status, 401);
}
