//! Which requests are answered, and what a browser may do with an answer.

use axum::body::Body;
use axum::http::{Request, header};
use queryscope_collector::hash_token;
use queryscope_store::TokenRecord;
use serde_json::json;

use crate::app::{OTHER_TOKEN, Setup, TOKEN, TestApp, eventually, post, with_header};
use crate::events::{batch, done, progress, query};

fn asking(path: &str, host: Option<&str>) -> Request<Body> {
    let request = Request::get(path);
    let request = match host {
        Some(host) => request.header(header::HOST, host),
        None => request,
    };
    request.body(Body::empty()).expect("a request")
}

const READS: [&str; 5] = ["/api/queries", "/api/queries/x/recording", "/api/openapi.json", "/metrics", "/"];

#[tokio::test]
async fn the_read_side_answers_to_addresses_localhost_and_allowed_names() {
    let app = Setup::with(|settings| settings.allowed_hosts = vec!["scope.example".into()]).start().await;
    for (host, allowed) in [
        (Some("127.0.0.1:7766"), true),
        (Some("127.0.0.1"), true),
        (Some("192.168.7.7:80"), true),
        (Some("[::1]:7766"), true),
        (Some("localhost"), true),
        (Some("LOCALHOST:7766"), true),
        (Some("scope.example"), true),
        (Some("Scope.Example:443"), true),
        (Some("evil.example"), false),
        (Some("scope.example.evil.example"), false),
        (Some("127.0.0.1.evil.example"), false),
        (Some("localhost.evil.example"), false),
        (Some("evil@localhost"), false),
        (Some("localhost/evil"), false),
        (Some(""), false),
        (None, false),
    ] {
        for path in READS {
            let answer = app.send(asking(path, host)).await;
            assert_eq!(answer.status != 403, allowed, "{path} for {host:?}: {answer:?}");
            if !allowed {
                assert!(answer.error().contains("--allowed-host"), "{answer:?}");
            }
        }
    }
}

#[tokio::test]
async fn senders_may_use_any_name() {
    let app = TestApp::new().await;
    for (n, host) in ["evil.example", "collector.internal:7766"].into_iter().enumerate() {
        let n = n as u64 + 1;
        let answer = app.send(with_header(post(batch(n, [done(2, n)])), "host", host)).await;
        assert_eq!(answer.status, 202, "{host}");
        assert_eq!(app.send(asking("/v1/health", Some(host))).await.status, 200, "{host}");
    }
    assert_eq!(app.post(batch(3, [done(2, 3)])).await.status, 202, "without a Host");
}

#[tokio::test]
async fn every_answer_keeps_a_browser_from_what_it_does_not_need() {
    let app = TestApp::new().await;
    app.store(batch(1, [done(2, 1)])).await;
    let recording = format!("/api/queries/{}/recording", query(1));
    for answer in [
        app.get("/").await,
        app.get("/api/queries").await,
        app.get(&recording).await,
        app.get("/metrics").await,
        app.get("/v1/health").await,
        app.get("/api/queries?limit=0").await,
        app.get("/api/queries/x").await,
        app.get("/nowhere").await,
        app.call("PUT", "/api/queries").await,
        app.call("OPTIONS", "/v1/events").await,
        app.send(asking("/", Some("evil.example"))).await,
        app.post(batch(1, [done(3, 2)])).await,
        app.post("no batch").await,
        app.post_as("wrong", "").await,
    ] {
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{answer:?}");
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"), "{answer:?}");
        assert_eq!(answer.header("cross-origin-resource-policy"), Some("same-origin"), "{answer:?}");
        let policy = answer.header("content-security-policy").expect("a policy");
        assert!(
            policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"),
            "{policy}"
        );
        assert!(!policy.contains("unsafe") && !policy.contains('*') && !policy.contains("http"), "{policy}");
    }
}

#[tokio::test]
async fn no_other_site_may_read_an_answer() {
    let app = TestApp::new().await;
    for (method, path) in [
        ("GET", "/api/queries"),
        ("OPTIONS", "/api/queries"),
        ("OPTIONS", "/v1/events"),
        ("GET", "/v1/health"),
    ] {
        let mut request = with_header(asking(path, Some("localhost")), "origin", "https://evil.example");
        *request.method_mut() = method.parse().expect("a method");
        let request = with_header(request, "access-control-request-method", "GET");
        let answer = app.send(request).await;
        let cors: Vec<_> =
            answer.headers.keys().filter(|name| name.as_str().starts_with("access-control")).collect();
        assert!(cors.is_empty(), "{method} {path}: {cors:?}");
    }
}

/// What a browser says of a request: from where it is, how it is made and what for.
fn fetching(path: &str, site: &str, mode: &str, dest: &str) -> Request<Body> {
    [("sec-fetch-site", site), ("sec-fetch-mode", mode), ("sec-fetch-dest", dest)]
        .into_iter()
        .fold(asking(path, Some("localhost")), |request, (name, value)| with_header(request, name, value))
}

#[tokio::test]
async fn pages_of_other_sites_can_ask_nothing() {
    let app = TestApp::new().await;
    app.store(batch(1, [done(2, 1)])).await;
    let recording = format!("/api/queries/{}/recording", query(1));
    for path in ["/api/queries", "/api/overview", "/api/live", &recording, "/api/openapi.json", "/metrics"] {
        for (site, mode, dest) in [
            ("cross-site", "no-cors", "image"),
            ("cross-site", "no-cors", "script"),
            ("cross-site", "cors", "empty"),
            ("same-site", "cors", "empty"),
            ("cross-site", "navigate", "iframe"),
            ("cross-site", "navigate", "embed"),
        ] {
            let answer = app.send(fetching(path, site, mode, dest)).await;
            assert_eq!(answer.status, 403, "{path} {site} {mode} {dest}");
            assert!(answer.error().contains("another site"), "{answer:?}");
        }
    }
}

/// A link in a chat leads to a page, and to a recording, too.
#[tokio::test]
async fn people_may_come_from_other_sites_and_from_none() {
    let app = TestApp::new().await;
    app.store(batch(1, [done(2, 1)])).await;
    let recording = format!("/api/queries/{}/recording", query(1));
    for path in ["/", "/queries", "/favicon.svg", "/favicon.ico", "/api/queries", &recording, "/metrics"] {
        for (site, mode, dest) in [
            ("cross-site", "navigate", "document"),
            ("none", "navigate", "document"),
            ("same-origin", "cors", "empty"),
            ("same-origin", "no-cors", "image"),
        ] {
            assert_eq!(app.send(fetching(path, site, mode, dest)).await.status, 200, "{path} {site} {mode}");
        }
    }
    let sending = with_header(post(batch(2, [done(2, 2)])), "sec-fetch-site", "cross-site");
    assert_eq!(app.send(sending).await.status, 202, "it has a token");
}

#[tokio::test]
async fn a_query_has_the_project_of_its_token_alone() {
    let app = TestApp::new().await;
    app.store(batch(1, [progress(2, 1)])).await;
    assert_eq!(app.post_as(OTHER_TOKEN, batch(2, [done(2, 2)])).await.status, 202);
    assert_eq!(app.summary(1).await["project"], "default");
    assert_eq!(app.summary(2).await["project"], "etl");
    for (n, token) in [(1, OTHER_TOKEN), (2, TOKEN)] {
        let answer = app.post_as(token, batch(n, [done(9, n)])).await;
        assert_eq!(answer.status, 403, "{answer:?}");
    }
    assert_eq!(app.status(1).await, "running");
    assert_eq!(app.ids("project=default").await, [query(1)]);
}

#[tokio::test]
async fn the_token_is_in_no_answer() {
    let app = TestApp::new().await;
    for answer in [app.post_as("qs_secret", "").await, app.post("no batch").await, app.get("/metrics").await]
    {
        assert!(!answer.text().contains("qs_"), "{answer:?}");
    }
}

fn ci_token() -> TokenRecord {
    TokenRecord::of_sender("ci", "builds", hash_token("qs_ci"), 0)
}

#[tokio::test]
async fn tokens_of_the_store_take_effect_without_a_restart() {
    let app = TestApp::new().await;
    let _jobs = app.start_jobs();
    let accepted = async || app.post_as("qs_ci", batch(1, [done(2, 1)])).await.status == 202;
    let comes_about = async |change, works| {
        eventually(change, async || (accepted().await == works).then_some(())).await;
    };
    assert!(!accepted().await);
    assert!(app.store.add_token(ci_token()).await.expect("stored"));
    comes_about("the new token to work", true).await;
    assert!(app.store.revoke_token("ci").await.expect("stored"));
    comes_about("the revoked token to fail", false).await;
    assert_eq!(app.summary(1).await["project"], json!("builds"));
    app.store(batch(2, [done(2, 2)])).await;
}

#[tokio::test]
async fn tokens_of_the_store_work_from_the_start() {
    let app = TestApp::new().await;
    assert!(app.store.add_token(ci_token()).await.expect("stored"));
    let app = app.restarted().await;
    assert_eq!(app.post_as("qs_ci", batch(1, [done(2, 1)])).await.status, 202);
}
