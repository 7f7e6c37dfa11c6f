//! Live streams keep within the wall, and end with the session or the token.

use std::time::Duration;

use axum::body::Body;
use axum::http::{Request, header};
use http_body_util::BodyExt;
use queryscope_collector::{IDLE, hash_token};
use queryscope_store::{LastAdmin, UserOutcome};

use super::{Says, bearer, id_of, restricted, session};
use crate::app::{TestApp, with_header};
use crate::events::query;

/// Streams look every second and a half, and what is known of a session may be as old.
const PATIENCE: Duration = Duration::from_mins(1);

async fn open(app: &TestApp, says: &Says, path: &str) -> Body {
    let request = Request::get(path).header(header::HOST, "localhost").body(Body::empty());
    let (name, value) = says.header();
    let answer = app.open(with_header(request.expect("a request"), name, value)).await;
    assert_eq!(answer.status(), 200, "{path}");
    answer.into_body()
}

/// What a stream says until a text comes.
async fn until(body: &mut Body, text: &str) -> String {
    let mut heard = String::new();
    let hear = async {
        while !heard.contains(text) {
            let frame = body.frame().await.expect("it goes on").expect("a frame");
            heard.push_str(&String::from_utf8_lossy(&frame.into_data().expect("data")));
        }
    };
    tokio::time::timeout(PATIENCE, hear).await.expect("it comes");
    heard
}

async fn ends(mut body: Body) {
    let rest = async { while body.frame().await.is_some() {} };
    tokio::time::timeout(PATIENCE, rest).await.expect("it ends");
}

#[tokio::test]
async fn a_stream_tells_of_one_project() {
    let (app, ..) = restricted().await;
    let _jobs = app.start_jobs();
    for (says, sees) in [(session('a'), false), (bearer("t-default"), true), (session('f'), true)] {
        let heard = until(&mut open(&app, &says, "/api/live").await, "event: snapshot").await;
        assert_eq!(heard.contains("secret-label"), sees, "{says:?}: {heard}");
    }
}

#[tokio::test]
async fn who_only_follows_a_stream_is_idle() {
    let (app, ..) = restricted().await;
    let _jobs = app.start_jobs();
    let mut body = open(&app, &session('d'), "/api/live").await;
    until(&mut body, "event: snapshot").await;
    for _ in 0..2 {
        app.clock.advance(IDLE / 2 + Duration::from_secs(1));
        // It is looked meanwhile whether the session holds, which is no use of it.
        tokio::time::sleep(Duration::from_secs(4)).await;
    }
    ends(body).await;
}

#[tokio::test]
async fn streams_end_with_their_session_and_token() {
    let (app, ..) = restricted().await;
    let _jobs = app.start_jobs();
    let of_run = format!("/api/live/{}", query(2));
    let mut streams = Vec::new();
    for says in [session('d'), session('e'), bearer("t-default")] {
        for path in ["/api/live", &of_run] {
            let mut body = open(&app, &says, path).await;
            until(&mut body, "event: ").await;
            streams.push(body);
        }
    }
    let mut stays = open(&app, &session('f'), "/api/live").await;
    // As another collector does it: this one is not told.
    assert!(app.store.access().end_session(hash_token(&id_of('d'))).await.expect("a store"));
    let removed = app.store.access().remove_user("editor", LastAdmin::Stays).await.expect("a store");
    assert_eq!(removed, UserOutcome::Made);
    assert!(app.store.revoke_token("t-default").await.expect("a store"));
    for stream in streams {
        ends(stream).await;
    }
    until(&mut stays, "event: snapshot").await;
}
