//! Parameters that cannot be meant.

use serde_json::json;

use crate::app::TestApp;
use crate::events::{NOW_NS, batch, done, finished, query};

/// Checks for a 400 that names the parameter and says what it takes.
async fn check(app: &TestApp, path: &str, parameter: &str, takes: &str) {
    let answer = app.get(path).await;
    assert_eq!(answer.status, 400, "{path}: {answer:?}");
    let error = answer.error();
    assert!(error.starts_with(&format!("{parameter}: ")) && error.contains(takes), "{path}: {error}");
}

#[tokio::test]
async fn an_invalid_value_is_400_and_says_what_is_allowed() {
    let app = TestApp::new().await;
    let time = "a time in Unix nanoseconds";
    for (params, parameter, takes) in [
        ("status=done", "status", "running, finished, failed or unfinished"),
        ("status=", "status", "running, finished, failed or unfinished"),
        ("status=Finished", "status", "running, finished, failed or unfinished"),
        ("order=up", "order", "newest, oldest, desc or asc"),
        ("order=", "order", "newest, oldest, desc or asc"),
        ("limit=0", "limit", "1 to 1000"),
        ("limit=1001", "limit", "1 to 1000"),
        ("limit=-1", "limit", "1 to 1000"),
        ("limit=1.5", "limit", "1 to 1000"),
        ("limit=ten", "limit", "1 to 1000"),
        ("limit=", "limit", "1 to 1000"),
        ("limit=99999999999999999999", "limit", "1 to 1000"),
        ("offset=-1", "offset", "0 to"),
        ("offset=x", "offset", "0 to"),
        ("offset=9223372036854775808", "offset", "0 to"),
        ("since=yesterday", "since", time),
        ("since=", "since", time),
        ("since=1.5", "since", time),
        ("since=9223372036854775808", "since", time),
        ("until=2026-11-20", "until", time),
        ("cursor=", "cursor", "Link"),
        ("cursor=x", "cursor", "Link"),
        ("cursor=AAAAAAAAAAAAAAAAAAAAAAA", "cursor", "Link"),
        ("offset=1&cursor=AQAAAAAAAAAAAAAAAAAAAAA", "offset", "cursor"),
    ] {
        check(&app, &format!("/api/queries?{params}"), parameter, takes).await;
    }
}

#[tokio::test]
async fn a_value_that_is_no_text_is_400() {
    let app = TestApp::new().await;
    let takes = "percent-encoded UTF-8";
    for value in ["%ff", "%zz", "%", "%4", "a%C3", "%ED%A0%80", "100%", "%u00e4"] {
        for name in ["label", "q", "service", "status", "limit", "cursor", "project"] {
            check(&app, &format!("/api/queries?x=y&{name}={value}"), name, takes).await;
        }
        check(&app, &format!("/api/overview?label={value}"), "label", takes).await;
        check(&app, &format!("/api/queries/{}/recording?project={value}", query(1)), "project", takes).await;
    }
    for value in ["%EF%BF%BD", "%C3%A4", "a+b%2B", "%00", "%25ff"] {
        assert_eq!(app.get(&format!("/api/queries?label={value}")).await.status, 200, "{value}");
    }
}

#[tokio::test]
async fn a_parameter_given_twice_is_400() {
    let app = TestApp::new().await;
    for name in [
        "project",
        "label",
        "fingerprint",
        "service",
        "environment",
        "host",
        "status",
        "since",
        "until",
        "q",
        "order",
        "limit",
        "offset",
        "cursor",
    ] {
        check(&app, &format!("/api/queries?{name}=1&x=y&{name}=1"), name, "twice").await;
    }
    for end in ["", "/recording"] {
        check(&app, &format!("/api/queries/{}{end}?project=a&project=a", query(1)), "project", "twice").await;
    }
}

#[tokio::test]
async fn a_cursor_is_of_one_order() {
    let app = TestApp::new().await;
    let at = |n: i64| json!({"started_unix_ns": NOW_NS + n});
    app.store(batch(1, [finished(2, 1, at(1)), finished(3, 2, at(2))])).await;
    let link = app.get("/api/queries?limit=1").await.header("link").expect("more").to_owned();
    let cursor = link.split_once("cursor=").and_then(|(_, rest)| rest.split_once('>')).expect("a cursor").0;
    assert_eq!(app.ids(&format!("cursor={cursor}")).await, [query(1)]);
    check(&app, &format!("/api/queries?order=oldest&cursor={cursor}"), "cursor", "order").await;
}

#[tokio::test]
async fn unknown_parameters_are_ignored() {
    let app = TestApp::new().await;
    app.store(batch(1, [done(2, 1)])).await;
    for params in
        ["mood=good&mood=bad", "Limit=0", "days=0", "&&=&", "%ff=%ff", "mood=%zz", "limit", "label%00=x"]
    {
        let status = if params == "limit" { 400 } else { 200 };
        assert_eq!(app.get(&format!("/api/queries?{params}")).await.status, status, "{params}");
    }
    assert_eq!(app.get(&format!("/api/queries/{}?limit=0&x=y", query(1))).await.status, 200);
}

#[tokio::test]
async fn an_error_quotes_no_more_than_a_line_of_what_was_asked() {
    let app = TestApp::new().await;
    let answer = app.get(&format!("/api/queries?limit={}", "9".repeat(5000))).await;
    assert!(answer.status == 400 && answer.body.len() < 300, "{answer:?}");
}
