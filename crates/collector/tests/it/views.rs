//! Views that are shared.

use serde_json::{Value, json};

use crate::access::{ask, restricted, session};
use crate::app::{Answer, TestApp};
use crate::events::NOW_NS;
use crate::notes::send;

async fn put(app: &TestApp, path: &str, body: Value) -> Answer {
    send(app, None, "PUT", path, &body).await
}

async fn views(app: &TestApp, params: &str) -> Value {
    let answer = app.get(&format!("/api/views{params}")).await;
    assert_eq!(answer.status, 200, "{params}: {answer:?}");
    answer.json()["views"].clone()
}

#[tokio::test]
async fn a_view_is_shared_replaced_and_taken_away() {
    let app = TestApp::new().await;
    let first =
        put(&app, "/api/views/Failed%20runs%2F%C3%A4", json!({"search": "?view=runs", "by": "Ada"})).await;
    assert_eq!(first.status, 200, "{first:?}");
    let expected = json!({
        "project": "default", "name": "Failed runs/ä", "search": "?view=runs", "by": "Ada", "unix_ns": NOW_NS,
    });
    assert_eq!(first.json(), expected);
    assert_eq!(views(&app, "").await, json!([expected]));
    let again = put(&app, "/api/views/%20Failed%20runs%2F%C3%A4%20", json!({"search": ""})).await.json();
    assert_eq!((&again["search"], &again["by"]), (&json!(""), &Value::Null));
    let other = put(&app, "/api/views/By%20day?project=etl", json!({"search": "?view=days"})).await.json();
    assert_eq!(views(&app, "").await, json!([other, again]));
    assert_eq!(views(&app, "?project=etl").await, json!([other]));
    for (path, status) in [
        ("/api/views/By%20day", 404),
        ("/api/views/By%20day?project=etl", 204),
        ("/api/views/By%20day?project=etl", 404),
    ] {
        let answer = send(&app, None, "DELETE", path, &Value::Null).await;
        assert_eq!(answer.status, status, "{path}: {answer:?}");
    }
    assert_eq!(views(&app, "").await, json!([again]));
}

#[tokio::test]
async fn what_is_wrong_with_a_view_is_named() {
    let app = TestApp::new().await;
    let long = format!("/api/views/{}", "x".repeat(61));
    let search = |text: &str| json!({ "search": text });
    for (path, body, says) in [
        ("/api/views/a", json!({}), "missing field `search`"),
        ("/api/views/a", search("view=runs"), "search: expected the query of an address"),
        ("/api/views/a", search("?q=ä"), "search: expected the query of an address"),
        ("/api/views/a", search("?q=a b"), "search: expected the query of an address"),
        ("/api/views/a", search(&format!("?{}", "x".repeat(2_000))), "search: longer than 2000 characters"),
        ("/api/views/%20", search(""), "name: must not be empty, . or .."),
        ("/api/views/%2E%2E", search(""), "name: must not be empty, . or .."),
        ("/api/views/a%00b", search(""), "name: must not hold the character U+0000"),
        (&*long, search(""), "name: longer than 60 characters"),
        ("/api/views/a?project=", search(""), "project: must not be empty"),
    ] {
        let answer = put(&app, path, body.clone()).await;
        assert_eq!(answer.status, 400, "{path} {body}: {answer:?}");
        assert!(answer.error().contains(says), "{path} {body}: {}", answer.error());
    }
    for number in 0..100 {
        assert_eq!(put(&app, &format!("/api/views/{number}"), search("")).await.status, 200);
    }
    let full = put(&app, "/api/views/more", search("")).await;
    assert_eq!((full.status.as_u16(), full.error().contains("as many views")), (409, true));
    assert_eq!(put(&app, "/api/views/7", search("?q=x")).await.status, 200);
    let answer = app.call("GET", "/api/views/7").await;
    assert_eq!((answer.status.as_u16(), answer.header("allow")), (405, Some("PUT, DELETE")));
}

#[tokio::test]
async fn what_editors_share_is_in_the_log_of_access() {
    let (app, ..) = restricted().await;
    let body = json!({"search": "?view=days", "by": "somebody else"});
    let shared = send(&app, Some(&session('b')), "PUT", "/api/views/By%20day", &body).await.json();
    assert_eq!((&shared["project"], &shared["by"]), (&json!("etl"), &json!("editor of etl")));
    assert_eq!(ask(&app, &session('d'), "GET", "/api/views").await.json(), json!({"views": []}));
    assert_eq!(ask(&app, &session('a'), "GET", "/api/views").await.json(), json!({"views": [shared]}));
    assert_eq!(ask(&app, &session('c'), "DELETE", "/api/views/By%20day").await.status, 204);
    let audit = ask(&app, &session('f'), "GET", "/api/audit?limit=2").await.json();
    let told = |at: usize| ["action", "actor", "subject"].map(|member| audit["entries"][at][member].clone());
    assert_eq!(told(0), ["view_deleted", "admin of etl", "By day"].map(|text| json!(text)));
    assert_eq!(told(1), ["view_shared", "editor of etl", "By day"].map(|text| json!(text)));
}
