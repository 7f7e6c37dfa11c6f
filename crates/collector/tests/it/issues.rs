//! Issues: opened, resolved and brought back by runs that are posted, and moved by people.

mod findings;
mod growth;
mod late;
mod missing;
mod passing;

use std::time::Duration;

use axum::body::Body;
use axum::http::{Request, header};
use queryscope_store::{ChangesRequest, Evaluation, QueryEvaluation, QueryHistory};
use serde_json::{Value, json};

use crate::app::{Answer, Jobs, TestApp, eventually, with_header};
use crate::changes::{near, runs};
use crate::events::{NOW_NS, SECOND_NS};

fn asking(id: &str, action: &str, body: &Value) -> Request<Body> {
    let request = Request::post(format!("/api/issues/{id}/{action}"));
    let request = request.header(header::HOST, "localhost").header(header::CONTENT_TYPE, "application/json");
    request.body(body.to_string().into()).expect("a request")
}

async fn act(app: &TestApp, id: &str, action: &str, body: Value) -> Answer {
    app.send(asking(id, action, &body)).await
}

pub(crate) async fn issues(app: &TestApp, params: &str) -> Vec<Value> {
    let answer = app.get(&format!("/api/issues?{params}")).await;
    assert_eq!(answer.status, 200, "{params}: {answer:?}");
    answer.json()["issues"].as_array().expect("an array").clone()
}

async fn detail(app: &TestApp, id: &str) -> Value {
    let answer = app.get(&format!("/api/issues/{id}")).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()
}

/// States of an issue, each with who brought it there.
fn history(detail: &Value) -> Vec<String> {
    let all = detail["transitions"].as_array().expect("an array").iter();
    all.map(|moved| format!("{} by {}", moved["to"], moved["actor"]).replace('"', "")).collect()
}

/// Posts runs of a query that becomes four times as slow; the id of its issue.
async fn slowed(app: &TestApp) -> (Jobs, String) {
    let jobs = app.start_jobs();
    app.store(runs(1, &near(100.0, 40), None)).await;
    app.until_all_evaluated().await;
    assert_eq!(issues(app, "").await, [] as [Value; 0]);
    app.store(runs(41, &near(400.0, 16), None)).await;
    app.until_all_evaluated().await;
    let open = issues(app, "state=open").await;
    let [issue] = &open[..] else { panic!("{open:?}") };
    (jobs, issue["id"].as_str().expect("an id").to_owned())
}

#[tokio::test]
async fn runs_open_resolve_and_bring_back_an_issue() {
    let app = TestApp::new().await;
    let (_jobs, id) = slowed(&app).await;
    let open = detail(&app, &id).await;
    let (issue, change) = (&open["issue"], &open["change"]);
    assert_eq!(
        (&issue["kind"], &issue["label"], &issue["service"]),
        (&json!("slower"), &json!("l"), &json!("orders-etl"))
    );
    assert_eq!((&issue["change"], &change["state"]), (&change["id"], &json!("open")));
    let (stake, cost) = (issue["wall_ms_a_day"].as_f64().expect("known"), &change["cost"]["wall_ms_a_day"]);
    assert!((stake - cost.as_f64().expect("known")).abs() <= 0.5, "{open}");
    assert_eq!(history(&open), ["open by service"]);
    // Four runs as before are not enough.
    app.store(runs(57, &near(100.0, 4), None)).await;
    app.until_all_evaluated().await;
    assert_eq!(detail(&app, &id).await["issue"]["state"], "open");
    app.store(runs(61, &near(100.0, 8), None)).await;
    app.until_all_evaluated().await;
    let resolved = detail(&app, &id).await;
    assert_eq!(history(&resolved), ["open by service", "resolved by service"]);
    assert_eq!(resolved["transitions"][1]["reason"], "the last 5 runs took at most 10 % longer than before");
    app.store(runs(69, &near(400.0, 20), None)).await;
    app.until_all_evaluated().await;
    let back = detail(&app, &id).await;
    assert_eq!(back["issue"]["state"], "regressed", "{back}");
    assert_ne!(back["issue"]["change"], issue["change"], "another change brought it back");
    assert_eq!(issues(&app, "").await.len(), 1, "it is the same issue");
}

#[tokio::test]
async fn failures_are_an_issue_of_their_own() {
    let app = TestApp::new().await;
    let (_jobs, slower) = slowed(&app).await;
    app.store(runs(57, &near(10.0, 8), Some("ComputeError: boom"))).await;
    app.until_all_evaluated().await;
    let failing = issues(&app, "kind=failing").await;
    assert_eq!(failing.len(), 1, "{failing:?}");
    assert!(failing[0]["wall_ms_a_day"].as_f64().expect("known") > 0.0, "{failing:?}");
    assert!(failing[0]["severity"].as_f64().expect("known") > 0.9, "{failing:?}");
    assert_eq!(detail(&app, &slower).await["issue"]["state"], "open");
    for (kind, expected) in [("slower", 1), ("failing", 1), ("data_grew", 0)] {
        let name = format!("queryscope_issues{{kind=\"{kind}\",state=\"open\"}}");
        assert_eq!(app.metric(&name).await, expected, "{name}");
    }
}

#[tokio::test]
async fn people_move_an_issue() {
    let app = TestApp::new().await;
    let (_jobs, id) = slowed(&app).await;
    let answer = act(&app, &id, "acknowledge", json!({"by": " Ada ", "comment": "the new join"})).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.json(), detail(&app, &id).await);
    let moved = &answer.json()["transitions"][1];
    assert_eq!(
        (&moved["number"], &moved["from"], &moved["to"], &moved["actor"], &moved["by"], &moved["comment"]),
        (
            &json!(2),
            &json!("open"),
            &json!("acknowledged"),
            &json!("person"),
            &json!("Ada"),
            &json!("the new join")
        )
    );
    assert_eq!(
        act(&app, &id, "mute", json!({"times_worse": 3})).await.json()["issue"]["mute"]["times_worse"],
        3.0
    );
    assert_eq!(act(&app, &id, "resolve", json!({})).await.json()["issue"]["state"], "resolved");
    assert_eq!(act(&app, &id, "reopen", json!({"by": ""})).await.json()["issue"]["state"], "open");
    act(&app, &id, "note", json!({"text": " eins\nzwei ", "by": "Ada"})).await;
    let whole = act(&app, &id, "note", json!({"text": "drei"})).await.json();
    let notes: Vec<_> =
        whole["notes"].as_array().expect("notes").iter().map(|note| (&note["text"], &note["by"])).collect();
    assert_eq!(notes, [(&json!("eins\nzwei"), &json!("Ada")), (&json!("drei"), &json!(null))]);
    assert_eq!(
        history(&whole),
        [
            "open by service",
            "acknowledged by person",
            "muted by person",
            "resolved by person",
            "open by person"
        ]
    );
    let app = app.restarted().await;
    assert_eq!(detail(&app, &id).await, whole);
}

#[tokio::test]
async fn a_mute_ends_with_its_time() {
    let app = TestApp::new().await;
    let (_jobs, id) = slowed(&app).await;
    let answer = act(&app, &id, "mute", json!({"until_unix_ns": NOW_NS + 3_600 * SECOND_NS})).await;
    assert_eq!(answer.json()["issue"]["state"], "muted");
    app.clock.advance(Duration::from_hours(1));
    eventually("the mute to end", async || {
        (detail(&app, &id).await["issue"]["state"] == "open").then_some(())
    })
    .await;
    assert_eq!(detail(&app, &id).await["transitions"][2]["reason"], "the time of its mute is over");
}

#[tokio::test]
async fn refusals_say_what_is_allowed() {
    let app = TestApp::new().await;
    let (_jobs, id) = slowed(&app).await;
    let before = detail(&app, &id).await;
    let long = "x".repeat(201);
    for (action, body, status, reason) in [
        ("reopen", json!({}), 409, "the issue is open already"),
        (
            "acknowledge",
            json!({"who": "Ada"}),
            400,
            "the body is not valid: unknown field `who`, expected `by` or `comment` at line 1 column 6",
        ),
        (
            "acknowledge",
            json!({"by": 7}),
            400,
            "the body is not valid: invalid type: integer `7`, expected a string at line 1 column 7",
        ),
        ("acknowledge", json!({"by": long}), 400, "by: longer than 200 characters"),
        ("resolve", json!({"comment": "a\u{0}b"}), 400, "comment: must not hold the character U+0000"),
        ("mute", json!({}), 400, "one of until_unix_ns, times_worse and until_other is needed"),
        (
            "mute",
            json!({"times_worse": 2, "until_unix_ns": 1}),
            400,
            "one of until_unix_ns, times_worse and until_other is needed",
        ),
        ("mute", json!({"until_unix_ns": NOW_NS}), 400, "until_unix_ns: the time has passed"),
        ("mute", json!({"times_worse": 1}), 400, "times_worse: a number above 1 and up to 1000 is allowed"),
        (
            "mute",
            json!({"until_other": "host"}),
            400,
            "the body is not valid: unknown variant `host`, expected `engine` or `program` at line 1 column 21",
        ),
        (
            "mute",
            json!({"until_other": "program"}),
            409,
            "until_other: no run of the query has named a version of the program",
        ),
        ("note", json!({}), 400, "the body is not valid: missing field `text` at line 1 column 2"),
        ("note", json!({"text": " "}), 400, "text: must not be empty"),
    ] {
        let answer = act(&app, &id, action, body.clone()).await;
        assert_eq!((answer.status.as_u16(), answer.error().as_str()), (status, reason), "{action} {body}");
    }
    let answer =
        app.send(with_header(asking(&id, "resolve", &json!({})), "content-type", "text/plain")).await;
    assert_eq!(
        (answer.status.as_u16(), answer.error().as_str()),
        (415, "Content-Type must be application/json")
    );
    let answer = act(&app, &id, "note", json!({"text": "x".repeat(70_000)})).await;
    assert_eq!(answer.status, 413, "{answer:?}");
    for (path, reason) in [("issue-1", "there is no issue \"issue-1\""), ("%00", "there is no issue \"\\0\"")]
    {
        for (action, body) in [("acknowledge", json!({})), ("note", json!({"text": "x"}))] {
            let answer = act(&app, path, action, body).await;
            assert_eq!((answer.status.as_u16(), answer.error().as_str()), (404, reason), "{action}");
        }
        assert_eq!(app.get(&format!("/api/issues/{path}")).await.status, 404);
    }
    assert_eq!(act(&app, &id, "close", json!({})).await.status, 404, "there is no such action");
    let foreign = Request::post(format!("/api/issues/{id}/resolve?project=etl"))
        .header(header::HOST, "localhost")
        .header(header::CONTENT_TYPE, "application/json")
        .body(Body::from("{}"));
    assert_eq!(app.send(foreign.expect("a request")).await.status, 404, "it is another project's");
    let answer = app.get(&format!("/api/issues/{id}/resolve")).await;
    assert_eq!((answer.status.as_u16(), answer.header("allow")), (405, Some("POST")));
    assert_eq!(detail(&app, &id).await, before);
}

#[tokio::test]
async fn pages_of_other_sites_move_nothing() {
    let app = TestApp::new().await;
    let (_jobs, id) = slowed(&app).await;
    for headers in [
        vec![("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "cors")],
        vec![("sec-fetch-site", "same-site"), ("sec-fetch-mode", "no-cors")],
        // A form that another site has a person send.
        vec![
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-mode", "navigate"),
            ("sec-fetch-dest", "document"),
        ],
        // A browser that says nothing of the site.
        vec![("origin", "https://evil.example")],
        vec![("origin", "null")],
    ] {
        let request = headers.iter().fold(asking(&id, "resolve", &json!({})), |request, (name, value)| {
            with_header(request, name, value)
        });
        let answer = app.send(request).await;
        assert_eq!(answer.status, 403, "{headers:?}: {answer:?}");
    }
    let rebound = with_header(asking(&id, "resolve", &json!({})), "host", "evil.example");
    assert_eq!(app.send(rebound).await.status, 403);
    assert_eq!(detail(&app, &id).await["issue"]["state"], "open");
    // The dashboard may, also behind a proxy that names another host.
    let own = with_header(asking(&id, "acknowledge", &json!({})), "origin", "https://scope.example");
    assert_eq!(app.send(with_header(own, "sec-fetch-site", "same-origin")).await.status, 200);
    let own = with_header(asking(&id, "resolve", &json!({})), "origin", "http://localhost");
    assert_eq!(app.send(own).await.status, 200);
}

#[tokio::test]
async fn issues_are_filtered_paged_and_validated() {
    let app = TestApp::new().await;
    let _jobs = app.start_jobs();
    for (n, label) in ["a", "b", "c"].into_iter().enumerate() {
        let from = 1 + 100 * n as u64;
        let walls = [near(100.0 * (n + 1) as f64, 30), near(400.0 * (n + 1) as f64, 8)].concat();
        app.store(runs(from, &walls, None).replace(r#""label":"l""#, &format!(r#""label":"{label}""#))).await;
    }
    app.until_all_evaluated().await;
    let labels = |issues: &[Value]| {
        issues.iter().map(|issue| issue["label"].as_str().unwrap_or("")).collect::<String>()
    };
    let all = issues(&app, "").await;
    assert_eq!(labels(&all), "cba", "the most at stake comes first");
    act(&app, all[0]["id"].as_str().expect("an id"), "resolve", json!({})).await;
    for (params, expected) in [
        ("label=b", "b"),
        ("label=", ""),
        ("service=orders-etl", "cba"),
        ("service=", ""),
        ("project=default", "cba"),
        ("project=etl", ""),
        ("kind=slower", "cba"),
        ("kind=failing", ""),
        ("state=resolved", "c"),
        ("state=open,regressed", "ba"),
        ("state=open,resolved&limit=2", "cb"),
    ] {
        assert_eq!(labels(&issues(&app, params).await), expected, "{params}");
    }
    let (mut path, mut found) = ("/api/issues?limit=1".to_owned(), String::new());
    loop {
        let answer = app.get(&path).await;
        let page = answer.json();
        found += &labels(page["issues"].as_array().expect("an array"));
        let Some(next) = page["next"].as_str() else { break };
        path = format!("/api/issues?limit=1&cursor={next}");
        assert_eq!(answer.header("link"), Some(format!("<{path}>; rel=\"next\"").as_str()));
    }
    assert_eq!(found, "cba");
    for (params, reason) in [
        ("kind=faster", "kind: \"faster\" is not slower, failing, data_grew, late, missing or new_finding"),
        (
            "state=open,closed",
            "state: \"open,closed\" is not one or more of open, acknowledged, muted, resolved and regressed, \
             separated by commas",
        ),
        ("limit=0", "limit: \"0\" is not a whole number from 1 to 1000"),
        ("cursor=AA", "cursor: not one from the Link header of such a page"),
        ("state=open&state=muted", "state: given twice, once is allowed"),
    ] {
        let answer = app.get(&format!("/api/issues?{params}")).await;
        assert_eq!((answer.status.as_u16(), answer.error().as_str()), (400, reason), "{params}");
    }
}

/// A collector over a store that has what this one found of its queries, and no issues: an earlier version kept none.
async fn without_issues(app: &TestApp) -> TestApp {
    let other = TestApp::new().await;
    let mut evaluation = Evaluation { holder: "earlier".into(), ..Evaluation::default() };
    let all = ChangesRequest { limit: 100, ..ChangesRequest::default() };
    let changes = app.store.changes(all).await.expect("a store");
    for key in app.store.evaluated_queries(None, 100).await.expect("a store") {
        let history = app.store.query_history(&key).await.expect("a store").expect("known");
        let changes = changes.iter().filter(|change| change.key == key).cloned().collect();
        let QueryHistory { saved, runs: added, plans } = history;
        evaluation.queries.push(QueryEvaluation { key, saved, keep: added.len(), added, plans, changes });
    }
    let lease = async |ttl| other.store.evaluation_lease("earlier", ttl).await.expect("a store");
    assert!(lease(Duration::from_mins(1)).await);
    assert!(other.store.record_evaluation(evaluation).await.expect("a store"));
    lease(Duration::ZERO).await;
    other.restarted().await
}

#[tokio::test]
async fn changes_of_an_earlier_version_get_issues() {
    let found = TestApp::new().await;
    let (_jobs, id) = slowed(&found).await;
    let expected = detail(&found, &id).await;
    let app = without_issues(&found).await;
    assert_eq!(app.changes("state=open").await.len(), 1);
    assert_eq!(issues(&app, "").await, [] as [Value; 0]);
    let jobs = app.start_jobs();
    // No run of the query ends.
    eventually("the issue", async || (!issues(&app, "").await.is_empty()).then_some(())).await;
    let opened = detail(&app, &id).await;
    assert_eq!(history(&opened), ["open by service"]);
    for member in ["id", "label", "service", "kind", "change", "wall_ms_a_day", "severity", "environment"] {
        assert_eq!(opened["issue"][member], expected["issue"][member], "{member}");
    }
    assert_eq!(opened["change"], expected["change"]);
    // The change lasts. When the service starts again, what a person closed stays closed.
    assert_eq!(act(&app, &id, "resolve", json!({})).await.status, 200);
    let resolved = detail(&app, &id).await;
    drop(jobs);
    let app = app.restarted().await;
    let _jobs = app.start_jobs();
    app.store(runs(900, &[1.0], None).replace(r#""label":"l""#, r#""label":"other""#)).await;
    app.until_all_evaluated().await;
    assert_eq!(app.changes("state=open").await.len(), 1);
    assert_eq!(detail(&app, &id).await, resolved);
}
