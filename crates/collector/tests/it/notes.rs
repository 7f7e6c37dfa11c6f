//! Notes on queries: written, listed and deleted.

use axum::body::Body;
use axum::http::{Request, header};
use queryscope_store::NotesRequest;
use serde_json::{Value, json};

use crate::access::{Says, ask, bearer, restricted, session};
use crate::app::{Answer, TestApp, with_header};
use crate::events::{NOW_NS, SECOND_NS};

/// Sends a body to a path, in the name of somebody.
pub(crate) async fn send(
    app: &TestApp,
    says: Option<&Says>,
    method: &str,
    path: &str,
    body: &Value,
) -> Answer {
    let request = Request::builder().method(method).uri(path).header(header::HOST, "localhost");
    let request = request.header(header::CONTENT_TYPE, "application/json");
    let request = request.body(Body::from(body.to_string())).expect("a request");
    app.send(match says.map(Says::header) {
        Some((name, value)) => with_header(request, name, value),
        None => request,
    })
    .await
}

async fn add(app: &TestApp, path: &str, body: Value) -> Value {
    let answer = send(app, None, "POST", path, &body).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()
}

async fn notes(app: &TestApp, params: &str) -> Vec<Value> {
    let answer = app.get(&format!("/api/notes?{params}")).await;
    assert_eq!(answer.status, 200, "{params}: {answer:?}");
    answer.json()["notes"].as_array().expect("an array").clone()
}

#[tokio::test]
async fn a_note_is_added_listed_and_deleted() {
    let app = TestApp::new().await;
    let body = json!({
        "service": "orders-etl", "label": "orders/daily", "text": " the new join\n", "by": " Ada ",
        "unix_ns": NOW_NS - SECOND_NS,
    });
    let first = add(&app, "/api/notes", body).await;
    let expected = json!({
        "id": first["id"], "project": "default", "service": "orders-etl", "label": "orders/daily",
        "unix_ns": NOW_NS - SECOND_NS, "written_unix_ns": NOW_NS, "by": "Ada", "text": "the new join",
        "edited_unix_ns": null, "edited_by": null,
    });
    assert_eq!(first, expected);
    let other =
        add(&app, "/api/notes?project=etl", json!({"label": "orders/daily", "service": "", "text": "x"}))
            .await;
    assert_eq!(
        (&other["project"], &other["service"], &other["by"], &other["unix_ns"]),
        (&json!("etl"), &Value::Null, &Value::Null, &json!(NOW_NS))
    );
    let both = [other.clone(), first.clone()];
    assert_eq!(notes(&app, "label=orders%2Fdaily").await, both);
    let since = format!("since={NOW_NS}");
    let until = format!("until={}", NOW_NS - SECOND_NS);
    for (params, expected) in [
        ("project=default", &first),
        ("project=etl", &other),
        ("service=orders-etl", &first),
        ("service=", &other),
        (&since, &other),
        (&until, &first),
    ] {
        assert_eq!(notes(&app, params).await, std::slice::from_ref(expected), "{params}");
    }
    assert_eq!(notes(&app, "label=orders").await, [] as [Value; 0]);
    let page = app.get("/api/notes?limit=1").await;
    let next = page.json()["next"].as_str().expect("another page").to_owned();
    assert!(page.header("link").expect("a link").contains(&next));
    let rest = app.get(&format!("/api/notes?limit=1&cursor={next}")).await.json();
    assert_eq!((&rest["notes"], &rest["next"]), (&json!([first]), &Value::Null));

    let path = format!("/api/notes/{}", first["id"].as_str().expect("an id"));
    for (path, status) in [(format!("{path}?project=etl"), 404), (path.clone(), 204), (path, 404)] {
        let answer = send(&app, None, "DELETE", &path, &Value::Null).await;
        assert_eq!(answer.status, status, "{path}: {answer:?}");
    }
    assert_eq!(notes(&app, "").await, [other]);
}

#[tokio::test]
async fn an_edited_note_keeps_its_author_and_its_times() {
    let (app, ..) = restricted().await;
    let body = json!({"label": "l", "text": "x", "unix_ns": NOW_NS - SECOND_NS, "by": "Ada"});
    let first = send(&app, Some(&bearer("t-admin")), "POST", "/api/notes", &body).await.json();
    let path = format!("/api/notes/{}", first["id"].as_str().expect("an id"));
    let put = async |says: &Says, body: Value| send(&app, Some(says), "PUT", &path, &body).await;
    for (letter, status) in [('b', 404), ('d', 403), ('e', 200)] {
        let answer = put(&session(letter), json!({"text": " y\n"})).await;
        assert_eq!(answer.status, status, "{letter}: {answer:?}");
    }
    let mut expected = first.clone();
    expected["text"] = json!("y");
    expected["edited_unix_ns"] = json!(NOW_NS);
    expected["edited_by"] = json!("editor");
    let listed = ask(&app, &session('e'), "GET", "/api/notes").await.json();
    assert_eq!(listed["notes"], json!([expected]));
    for (body, says) in [
        (json!({"text": " "}), "text: must not be empty"),
        (json!({}), "missing field `text`"),
        (json!({"text": "x", "unix_ns": 1}), "unknown field `unix_ns`"),
    ] {
        let answer = put(&session('e'), body).await;
        assert_eq!(answer.status, 400);
        assert!(answer.error().contains(says), "{}", answer.error());
    }
    let other = send(&app, Some(&session('e')), "PUT", "/api/notes/none", &json!({"text": "x"})).await;
    assert_eq!(other.status, 404);
    let audit = ask(&app, &session('f'), "GET", "/api/audit?limit=1").await.json();
    let entry = &audit["entries"][0];
    assert_eq!(
        (&entry["action"], &entry["actor"], &entry["subject"]),
        (&json!("note_edited"), &json!("editor"), &json!("l"))
    );
}

#[tokio::test]
async fn a_long_name_of_a_query_is_that_of_its_runs() {
    let app = TestApp::new().await;
    let sql = "SELECT 1 ".repeat(100);
    let note = add(&app, "/api/notes", json!({"label": sql, "text": "x"})).await;
    assert_eq!(note["label"].as_str().expect("a text").chars().count(), 512);
    let encoded = sql.replace(' ', "%20");
    assert_eq!(notes(&app, &format!("label={encoded}")).await, [note]);
}

#[tokio::test]
async fn what_is_wrong_with_a_note_is_named() {
    let app = TestApp::new().await;
    for (path, body, says) in [
        ("/api/notes", json!({"text": "x"}), "missing field `label`"),
        ("/api/notes", json!({"label": "l"}), "missing field `text`"),
        ("/api/notes", json!({"label": "", "text": "x"}), "label: must not be empty"),
        ("/api/notes", json!({"label": "a\0b", "text": "x"}), "label: must not hold the character U+0000"),
        ("/api/notes", json!({"label": "l", "text": " \n"}), "text: must not be empty"),
        (
            "/api/notes",
            json!({"label": "l", "text": "x".repeat(10_001)}),
            "text: longer than 10000 characters",
        ),
        ("/api/notes", json!({"label": "l", "text": "a\0b"}), "text: must not hold the character U+0000"),
        ("/api/notes", json!({"label": "l", "text": "x", "by": "y".repeat(201)}), "by: longer than 200"),
        (
            "/api/notes",
            json!({"label": "l", "text": "x", "unix_ns": -1}),
            "unix_ns: must be from 0 to an hour",
        ),
        (
            "/api/notes",
            json!({"label": "l", "text": "x", "unix_ns": NOW_NS + 4_000 * SECOND_NS}),
            "unix_ns: must be from 0 to an hour",
        ),
        ("/api/notes", json!({"label": "l", "text": "x", "id": "1"}), "unknown field `id`"),
        ("/api/notes?project=", json!({"label": "l", "text": "x"}), "project: must not be empty"),
    ] {
        let answer = send(&app, None, "POST", path, &body).await;
        assert_eq!(answer.status, 400, "{body}");
        assert!(answer.error().contains(says), "{body}: {}", answer.error());
    }
    let form = Request::post("/api/notes").header(header::HOST, "localhost");
    let form = form.body(Body::from(r#"{"label": "l", "text": "x"}"#)).expect("a request");
    assert_eq!(app.send(form).await.status, 415);
    for (method, path, allow) in [
        ("PUT", "/api/notes", "GET, HEAD, POST"),
        ("GET", "/api/notes/x", "PUT, DELETE"),
        ("POST", "/api/notes/x", "PUT, DELETE"),
    ] {
        let answer = app.call(method, path).await;
        assert_eq!((answer.status.as_u16(), answer.header("allow")), (405, Some(allow)), "{method} {path}");
    }
    assert_eq!(app.get("/api/notes?limit=101").await.status, 400);
    assert_eq!(app.get("/api/notes?cursor=x").await.status, 400);
    let none = app.store.notes().query_notes(NotesRequest { limit: 9, ..NotesRequest::default() }).await;
    assert_eq!(none.expect("a store"), []);
}

#[tokio::test]
async fn notes_are_signed_and_stay_within_a_project() {
    let (app, ..) = restricted().await;
    let body = json!({"label": "l", "text": "x", "by": "somebody else"});
    let by = async |says: &Says, path: &str| send(&app, Some(says), "POST", path, &body).await;
    let of_etl = by(&session('b'), "/api/notes").await.json();
    assert_eq!((&of_etl["by"], &of_etl["project"]), (&json!("editor of etl"), &json!("etl")));
    assert_eq!(by(&session('b'), "/api/notes?project=default").await.status, 404);
    let of_default = by(&bearer("t-admin"), "/api/notes").await.json();
    assert_eq!((&of_default["by"], &of_default["project"]), (&json!("somebody else"), &json!("default")));
    for (letter, expected) in
        [('a', vec![&of_etl]), ('d', vec![&of_default]), ('0', vec![&of_default, &of_etl])]
    {
        let listed = ask(&app, &session(letter), "GET", "/api/notes").await.json();
        let listed = listed["notes"].as_array().expect("a list");
        assert_eq!(listed.len(), expected.len(), "{letter}");
        assert!(expected.iter().all(|note| listed.contains(note)), "{letter}: {listed:?}");
    }
    let path = format!("/api/notes/{}", of_default["id"].as_str().expect("an id"));
    let site =
        Request::delete(&path).header(header::HOST, "localhost").header("sec-fetch-site", "cross-site");
    let editor = session('e');
    let (name, value) = editor.header();
    let site = with_header(site.body(Body::empty()).expect("a request"), name, value);
    assert_eq!(app.send(site).await.status, 403);
    for (letter, status) in [('b', 404), ('d', 403), ('e', 204)] {
        assert_eq!(ask(&app, &session(letter), "DELETE", &path).await.status, status, "{letter}");
    }
    let audit = ask(&app, &session('f'), "GET", "/api/audit?limit=1").await.json();
    let entry = &audit["entries"][0];
    assert_eq!(
        (&entry["action"], &entry["actor"], &entry["subject"]),
        (&json!("note_deleted"), &json!("editor"), &json!("l"))
    );
}
