//! Logging in and out, and the first user.

use std::time::Duration;

use axum::body::Body;
use axum::http::{Request, header};
use queryscope_collector::{hash_password, hash_token};
use queryscope_store::{Role, Scope, TokenRecord, User};
use serde_json::{Value, json};

use super::{NOW_MS, Says, add_token, ask, bearer};
use crate::app::{Answer, Setup, TestApp, with_header};

const PASSWORD: &str = "correct horse battery";

/// A service with a login and a user.
async fn with_user() -> TestApp {
    let app = Setup::with(|settings| settings.reading.login = true).start().await;
    let password = hash_password(PASSWORD).expect("hashed");
    let user =
        User { name: "ada".into(), role: Role::Admin, project: None, password, created_unix_ms: NOW_MS };
    assert!(app.store.access().add_user(user).await.expect("a store"));
    app
}

fn form(path: &str, fields: &[(&str, &str)]) -> Request<Body> {
    let encode = |text: &str| {
        let bytes: Vec<_> = text.bytes().map(|byte| format!("%{byte:02x}")).collect();
        bytes.concat()
    };
    let body: Vec<String> = fields.iter().map(|(name, value)| format!("{name}={}", encode(value))).collect();
    let request = Request::post(path).header(header::HOST, "localhost");
    let request = request.header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
    request.body(body.join("&").into()).expect("a request")
}

async fn log_in(app: &TestApp, user: &str, password: &str) -> Answer {
    app.send(form("/login", &[("user", user), ("password", password), ("next", "/now?a=b")])).await
}

/// What a browser says after an answer gave it a cookie.
fn cookie(answer: &Answer) -> Says {
    let cookie = answer.header("set-cookie").expect("a cookie");
    Says(Some(("cookie", cookie.split(';').next().expect("a value").to_owned())))
}

async fn actions(app: &TestApp) -> Vec<Value> {
    let log = app.store.access().access_log(None, 100).await.expect("a store");
    let shown = |entry: queryscope_store::AccessEntry| json!([entry.action, entry.actor, entry.subject]);
    log.into_iter().rev().map(|(_, entry)| shown(entry)).collect()
}

#[tokio::test]
async fn a_user_logs_in_and_out() {
    let app = with_user().await;
    let answer = log_in(&app, "ada", PASSWORD).await;
    assert_eq!((answer.status.as_u16(), answer.header("location")), (303, Some("/now?a=b")), "{answer:?}");
    let set = answer.header("set-cookie").expect("a cookie").to_owned();
    assert!(set.ends_with("; Path=/; HttpOnly; SameSite=Lax"), "{set}");
    let ada = cookie(&answer);
    let access = ask(&app, &ada, "GET", "/api/access").await.json();
    assert_eq!((&access["name"], &access["is_session"]), (&json!("ada"), &json!(true)), "{access}");
    assert_eq!(ask(&app, &ada, "GET", "/").await.status, 200);
    // Logging in again begins another session and ends the one before.
    let (name, value) = ada.header();
    let again = form("/login", &[("user", "ada"), ("password", PASSWORD)]);
    let later = cookie(&app.send(with_header(again, name, value)).await);
    assert_ne!(later, ada);
    assert_eq!(ask(&app, &ada, "GET", "/api/queries").await.status, 401);
    assert_eq!(ask(&app, &later, "GET", "/api/queries").await.status, 200);
    let out = ask(&app, &later, "POST", "/logout").await;
    assert_eq!((out.status.as_u16(), out.header("location")), (303, Some("/login")));
    assert!(out.header("set-cookie").expect("taken back").contains("Max-Age=0"));
    assert_eq!(ask(&app, &later, "GET", "/api/queries").await.status, 401);
    let login = json!(["login", "ada", null]);
    assert_eq!(actions(&app).await, [login.clone(), login, json!(["logout", "ada", null])]);
}

#[tokio::test]
async fn a_wrong_user_is_answered_as_a_wrong_password() {
    let app = with_user().await;
    let (wrong, nobody) = (log_in(&app, "ada", "x").await, log_in(&app, "eve", PASSWORD).await);
    assert_eq!((wrong.status.as_u16(), nobody.status.as_u16()), (401, 401));
    assert_eq!(wrong.text(), nobody.text().replace("eve", "ada"));
    for answer in [wrong, nobody] {
        assert_eq!((answer.header("set-cookie"), answer.header("location")), (None, None));
        assert!(!answer.text().contains(PASSWORD));
    }
    let failed = |subject: Value| json!(["login_failed", null, subject]);
    assert_eq!(actions(&app).await, [failed(json!("ada")), failed(Value::Null)]);
}

#[tokio::test]
async fn guessing_ends() {
    let app = with_user().await;
    for _ in 0..10 {
        assert_eq!(log_in(&app, "ada", "guess").await.status, 401);
    }
    let answer = log_in(&app, "ada", PASSWORD).await;
    assert_eq!(answer.status, 429, "{answer:?}");
    assert!(answer.header("retry-after").expect("a wait").parse::<u64>().expect("seconds") <= 301);
    assert_eq!(log_in(&app, "eve", "guess").await.status, 401, "others go on");
    assert_eq!(actions(&app).await.len(), 11);
}

#[tokio::test]
async fn pages_for_logging_in_have_a_form_and_no_script() {
    let app = with_user().await;
    let page = app.get("/login?next=/%22%3E%3Cscript%3E").await;
    let policy = page.header("content-security-policy").expect("a policy");
    assert!(policy.contains("form-action 'self'") && !policy.contains("script-src"), "{policy}");
    assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"), "{policy}");
    assert_eq!(page.header("referrer-policy"), Some("same-origin"));
    assert_eq!(page.header("cache-control"), Some("no-store"));
    let html = page.text();
    assert!(html.contains("<form method=\"post\" action=\"/login\">") && !html.contains("<script"), "{html}");
    let other = app.get("/api/openapi.json").await;
    assert!(other.header("content-security-policy").expect("a policy").contains("form-action 'none'"));
}

#[tokio::test]
async fn another_site_cannot_log_in_or_out() {
    let app = with_user().await;
    let ada = cookie(&log_in(&app, "ada", PASSWORD).await);
    let (name, value) = ada.header();
    for (header, said) in [
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
        ("origin", "https://evil.example"),
    ] {
        let login = form("/login", &[("user", "ada"), ("password", PASSWORD)]);
        assert_eq!(app.send(with_header(login, header, said)).await.status, 403, "{said}");
        let out = with_header(form("/logout", &[]), name, value);
        assert_eq!(app.send(with_header(out, header, said)).await.status, 403, "{said}");
    }
    assert_eq!(ask(&app, &ada, "GET", "/api/queries").await.status, 200, "nobody logged out");
    let own =
        with_header(form("/login", &[("user", "ada"), ("password", PASSWORD)]), "origin", "http://localhost");
    assert_eq!(app.send(own).await.status, 303);
}

#[tokio::test]
async fn forms_are_bounded() {
    let app = with_user().await;
    let long = "x".repeat(17 << 10);
    assert_eq!(log_in(&app, "ada", &long).await.status, 400);
    assert_eq!(app.send(form("/login", &[])).await.status, 401);
}

#[tokio::test]
async fn a_session_lives_as_long_as_it_is_used() {
    let app = with_user().await;
    let ada = cookie(&log_in(&app, "ada", PASSWORD).await);
    let hash = hash_token(ada.header().1.split_once('=').expect("a value").1);
    let used = async || {
        let found = app.store.access().session(hash, 0).await.expect("a store");
        found.map(|(session, _)| session.used_unix_ms)
    };
    let begun = used().await.expect("begun");
    app.clock.advance(Duration::from_hours(11));
    assert_eq!(ask(&app, &ada, "GET", "/api/queries").await.status, 200);
    assert_eq!(used().await, Some(begun + 11 * 3_600_000));
    let app = app.restarted().await;
    app.clock.advance(Duration::from_hours(11));
    assert_eq!(ask(&app, &ada, "GET", "/api/queries").await.status, 200, "it was used meanwhile");
    let app = app.restarted().await;
    app.clock.advance(Duration::from_hours(12) + Duration::from_millis(1));
    assert_eq!(ask(&app, &ada, "GET", "/api/queries").await.status, 401);
}

#[tokio::test]
async fn the_first_administrator_is_made_by_a_link_once() {
    let app = Setup::with(|settings| settings.reading.login = true).start().await;
    for (name, expires) in [("first", Some(NOW_MS + 1000)), ("late", Some(NOW_MS))] {
        add_token(&app, name, Scope::Invitation, TokenRecord::ALL_PROJECTS, expires).await;
    }
    add_token(&app, "read", Scope::Read, TokenRecord::ALL_PROJECTS, None).await;
    for key in ["", "late", "wrong", "read"] {
        assert_eq!(app.get(&format!("/login/first?key={key}")).await.status, 404, "{key}");
    }
    let page = app.get("/login/first?key=first").await;
    assert!(page.text().contains("name=\"key\" value=\"first\""), "{page:?}");
    let make = async |user: &str, password: &str, again: &str| {
        let fields = [("key", "first"), ("user", user), ("password", password), ("again", again)];
        app.send(form("/login/first", &fields)).await
    };
    for (user, password, again, reason) in [
        ("a b", PASSWORD, PASSWORD, "name of a user"),
        ("ada", "short", "short", "10 characters"),
        ("ada", PASSWORD, "another", "differ"),
    ] {
        let answer = make(user, password, again).await;
        assert_eq!(answer.status, 400, "{answer:?}");
        assert!(answer.text().contains(reason) && !answer.text().contains(PASSWORD), "{answer:?}");
    }
    let made = make("ada", PASSWORD, PASSWORD).await;
    assert_eq!((made.status.as_u16(), made.header("location")), (303, Some("/")), "{made:?}");
    assert_eq!(ask(&app, &cookie(&made), "GET", "/api/audit").await.status, 200);
    assert_eq!(make("eve", PASSWORD, PASSWORD).await.status, 404);
    assert_eq!(app.get("/login/first?key=first").await.status, 404);
    assert_eq!(log_in(&app, "ada", PASSWORD).await.status, 303);
    assert_eq!(ask(&app, &bearer("first"), "GET", "/api/queries").await.status, 401);
    let log = actions(&app).await;
    let expected = [
        json!(["token_revoked", "first link", "first"]),
        json!(["user_added", "first link", "ada"]),
        json!(["login", "ada", null]),
    ];
    assert_eq!(log[..3], expected);
}
