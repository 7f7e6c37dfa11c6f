//! Deploys: posted, seen, listed, and named by issues.

use std::time::Duration;

use axum::body::Body;
use axum::http::{Request, header};
use queryscope_collector::hash_token;
use queryscope_store::{DeploySubject, DeploysRequest, Scope, SeenVersion, TokenRecord};
use serde_json::{Value, json};

use crate::access::{restricted, session};
use crate::app::{Answer, OTHER_TOKEN, TOKEN, TestApp, eventually, with_header};
use crate::changes::{near, runs};
use crate::events::{NOW_NS, SECOND_NS, finished, process_with, stream};
use crate::issues::issues;

pub(crate) async fn post(app: &TestApp, token: Option<&str>, body: &Value) -> Answer {
    let request = Request::post("/v1/deploys").header(header::HOST, "localhost");
    let request = request.header(header::CONTENT_TYPE, "application/json");
    let request = match token {
        Some(token) => request.header(header::AUTHORIZATION, format!("Bearer {token}")),
        None => request,
    };
    app.send(request.body(Body::from(body.to_string())).expect("a request")).await
}

async fn deploys(app: &TestApp, params: &str) -> Vec<Value> {
    let answer = app.get(&format!("/api/deploys?{params}")).await;
    assert_eq!(answer.status, 200, "{params}: {answer:?}");
    answer.json()["deploys"].as_array().expect("an array").clone()
}

/// Versions of deploys, the last one first.
fn versions(deploys: &[Value]) -> Vec<&str> {
    deploys.iter().map(|deploy| deploy["version"].as_str().expect("a version")).collect()
}

#[tokio::test]
async fn what_is_posted_twice_is_one_deploy() {
    let app = TestApp::new().await;
    let body = json!({
        "service": "orders-etl", "version": " 1.4.2 ", "commit": "4f2a9c1", "url": "https://ci.example/17",
        "unix_ns": NOW_NS - SECOND_NS,
    });
    let first = post(&app, Some(TOKEN), &body).await;
    assert_eq!(first.status, 201, "{first:?}");
    let deploy = first.json();
    let expected = json!({
        "id": deploy["id"], "project": "default", "service": "orders-etl", "environment": null, "source": "posted",
        "subject": "program", "engine": null, "version": "1.4.2", "commit": "4f2a9c1",
        "url": "https://ci.example/17", "unix_ns": NOW_NS - SECOND_NS, "last_unix_ns": NOW_NS - SECOND_NS,
    });
    assert_eq!(deploy, expected);
    // The build posts it again, without its time.
    let again = json!({"service": "orders-etl", "version": "1.4.2", "commit": "4f2a9c1"});
    let again = post(&app, Some(TOKEN), &again).await;
    assert_eq!((again.status.as_u16(), again.json()), (200, deploy.clone()));
    let other = post(&app, Some(OTHER_TOKEN), &json!({"version": "1.4.2"})).await;
    assert_eq!((other.status.as_u16(), &other.json()["project"]), (201, &json!("etl")));
    assert_eq!(deploys(&app, "").await.len(), 2);
    assert_eq!(deploys(&app, "project=default&service=orders-etl").await, [deploy]);
    for params in ["service=", "project=etl", "environment=prod&project=etl"] {
        assert_eq!(deploys(&app, params).await, [other.json()], "{params}");
    }
    assert_eq!(deploys(&app, &format!("since={NOW_NS}&service=orders-etl")).await, [] as [Value; 0]);
    let page = app.get("/api/deploys?limit=1").await;
    let next = page.json()["next"].as_str().expect("another page").to_owned();
    assert!(page.header("link").expect("a link").contains(&next));
    let rest = app.get(&format!("/api/deploys?limit=1&cursor={next}")).await.json();
    assert_eq!((rest["deploys"].as_array().expect("an array").len(), &rest["next"]), (1, &Value::Null));
}

#[tokio::test]
async fn a_deploy_needs_a_token_and_what_is_wrong_is_named() {
    let app = TestApp::new().await;
    let read = TokenRecord::of_sender("read", "default", hash_token("t-read"), 0);
    let admin = TokenRecord { name: "all".into(), hash: hash_token("t-admin"), ..read.clone() };
    app.store.add_token(TokenRecord { scope: Scope::Read, ..read }).await.expect("a store");
    app.store.add_token(TokenRecord { scope: Scope::Admin, ..admin }).await.expect("a store");
    let app = app.restarted().await;
    let body = json!({"version": "1"});
    for (token, status) in [(None, 401), (Some("wrong"), 401), (Some("t-read"), 403), (Some("t-admin"), 201)]
    {
        assert_eq!(post(&app, token, &body).await.status, status, "{token:?}");
    }
    for (body, says) in [
        (json!({}), "missing field `version`"),
        (json!({"version": " "}), "version: must not be empty"),
        (json!({"version": "v".repeat(513)}), "version: longer than 512 characters"),
        (json!({"version": "1", "service": "a\0b"}), "service: must not hold the character U+0000"),
        (json!({"version": "1", "commit": "c".repeat(201)}), "commit: longer than 200 characters"),
        (json!({"version": "1", "url": "javascript:alert(1)"}), "url: must begin with https:// or http://"),
        (json!({"version": "1", "unix_ns": -1}), "unix_ns: must be from 0 to an hour from now"),
        (json!({"version": "1", "unix_ns": NOW_NS + 4_000 * SECOND_NS}), "unix_ns: must be from 0"),
        (json!({"version": "1", "sha": "x"}), "unknown field `sha`"),
    ] {
        let answer = post(&app, Some(TOKEN), &body).await;
        assert_eq!(answer.status, 400, "{body}");
        assert!(answer.error().contains(says), "{body}: {}", answer.error());
    }
    let answer = app.call("GET", "/v1/deploys").await;
    assert_eq!((answer.status.as_u16(), answer.header("allow")), (405, Some("POST")));
}

#[tokio::test]
async fn editors_tell_of_deploys_with_their_session() {
    let (app, ..) = restricted().await;
    let as_user = async |letter: char, site: Option<&str>| {
        app.clock.advance(Duration::from_secs(1));
        let request = Request::post("/v1/deploys").header(header::HOST, "localhost");
        let request = request.header("content-type", "application/json");
        let request = site.iter().fold(request, |request, site| request.header("sec-fetch-site", *site));
        let request = request.body(Body::from(json!({"version": letter}).to_string())).expect("a request");
        let says = session(letter);
        let (name, value) = says.header();
        app.send(with_header(request, name, value)).await
    };
    for (letter, status) in [('a', 403), ('9', 401), ('b', 201), ('e', 201), ('f', 201)] {
        let answer = as_user(letter, None).await;
        assert_eq!(answer.status, status, "{letter}: {answer:?}");
    }
    assert_eq!(as_user('f', Some("same-origin")).await.status, 200);
    assert_eq!(as_user('f', Some("cross-site")).await.status, 403);
    let of_etl =
        app.store.deploys().list_deploys(DeploysRequest { limit: 9, ..DeploysRequest::default() }).await;
    let projects: Vec<_> = of_etl.expect("a store").into_iter().map(|deploy| deploy.project).collect();
    assert_eq!(projects.iter().filter(|project| *project == "etl").count(), 1, "{projects:?}");
}

/// A batch of one run of a version of the program and of the engine, in a process of its own.
fn run_of(n: u64, program: &str, engine: &str, started_unix_ns: i64) -> String {
    let members = json!({"label": "l", "started_unix_ns": started_unix_ns, "engine_version": engine});
    let process = process_with(n, json!({"program_version": program}));
    format!("{process}\n{}\n", finished(2, n, members))
}

#[tokio::test]
async fn facets_name_the_engines_of_a_version() {
    let app = TestApp::new().await;
    let jobs = app.start_jobs();
    let branded = |n, engine: &str, version| {
        run_of(n, "1.0", version, NOW_NS).replace("engine-telemetry", &format!("{engine}-telemetry"))
    };
    app.store(branded(1, "polars", "2.0.0")).await;
    app.store(branded(2, "duckdb", "2.0.0")).await;
    app.store(branded(3, "polars", "2.1.0")).await;
    app.store(run_of(4, "1.0", "2.1.0", NOW_NS)).await;
    app.store(run_of(5, "1.0", "daft 0.7", NOW_NS)).await;
    let found = eventually("all versions", async || {
        let found = app.get("/api/facets").await.json()["engine_version"].clone();
        found
            .as_array()?
            .iter()
            .all(|one| {
                one["value"] == "daft 0.7" || one["engines"].as_array().is_some_and(|all| all.len() == 2)
            })
            .then_some(found)
    })
    .await;
    let expected = json!([
        {"value": "2.0.0", "runs": 2, "engines": ["duckdb", "polars"]},
        {"value": "2.1.0", "runs": 2, "engines": [null, "polars"]},
        {"value": "daft 0.7", "runs": 1},
    ]);
    assert_eq!(found, expected, "an engine that the version names itself is not named twice");
    assert_eq!(app.get("/api/facets?project=none").await.json()["engine_version"], json!([]));
    drop(jobs);
}

#[tokio::test]
async fn versions_that_processes_name_are_deploys() {
    let app = TestApp::new().await;
    let jobs = app.start_jobs();
    let at = |minute: i64| NOW_NS - (600 - minute) * 60 * SECOND_NS;
    app.store(run_of(1, "1.0", "polars 2.0.0", at(0))).await;
    app.store(run_of(2, "2.0", "polars 2.0.0", at(10))).await;
    app.store(run_of(3, "2.0", "polars 2.1.0", at(20))).await;
    // A process of before goes on.
    app.store(run_of(4, "1.0", "polars 2.0.0", at(30))).await;
    let found = eventually("two deploys", async || {
        let found = deploys(&app, "environment=prod").await;
        (found.len() == 2).then_some(found)
    })
    .await;
    assert_eq!(versions(&found), ["polars 2.1.0", "2.0"]);
    assert_eq!((&found[0]["unix_ns"], &found[1]["unix_ns"]), (&json!(at(20)), &json!(at(10))));
    assert_eq!((&found[0]["subject"], &found[0]["engine"]), (&json!("engine"), &json!("polars")));
    drop(jobs);
    let app = app.restarted().await;
    app.store(run_of(5, "2.0", "polars 2.1.0", at(40))).await;
    assert_eq!(deploys(&app, "").await, found, "known after a restart");
}

/// Runs that become four times as slow with the 41st; the only issue.
async fn slowed(app: &TestApp) -> Value {
    app.store(runs(1, &near(100.0, 40), None)).await;
    app.store(runs(41, &near(400.0, 16), None)).await;
    app.until_all_evaluated().await;
    let found = issues(app, "kind=slower").await;
    let [issue] = &found[..] else { panic!("{found:?}") };
    issue.clone()
}

#[tokio::test]
async fn an_issue_names_the_deploy_between_its_last_good_run_and_its_first_bad_one() {
    let app = TestApp::new().await;
    let _jobs = app.start_jobs();
    let start_of = |n: i64| NOW_NS - (5_000 - n) * 60 * SECOND_NS;
    let deploy = async |version: &str, unix_ns: i64, members: Value| {
        let mut body = json!({"service": "orders-etl", "version": version, "unix_ns": unix_ns});
        body.as_object_mut().expect("an object").extend(members.as_object().expect("an object").clone());
        let answer = post(&app, Some(TOKEN), &body).await;
        assert_eq!(answer.status, 201, "{answer:?}");
    };
    deploy("before", start_of(40) - SECOND_NS, json!({})).await;
    deploy("after", start_of(41) + 1, json!({})).await;
    deploy("elsewhere", start_of(41) - SECOND_NS, json!({"environment": "test"})).await;
    deploy("of another", start_of(41) - SECOND_NS, json!({"service": "reports"})).await;
    let issue = slowed(&app).await;
    assert_eq!(
        (&issue["good_unix_ns"], &issue["since_unix_ns"]),
        (&json!(start_of(40)), &json!(start_of(41)))
    );
    assert_eq!((&issue["deploys"], &issue["after_deploys"]), (&json!([]), &Value::Null));
    // Where a deploy lies is asked when an issue is read: a build may post late, with its time.
    deploy("2.0", start_of(40) + SECOND_NS, json!({"environment": "prod"})).await;
    let issue = issues(&app, "kind=slower").await[0].clone();
    assert_eq!(versions(issue["deploys"].as_array().expect("an array")), ["2.0"]);
    assert_eq!(issue["after_deploys"], "after deploy 2.0");
    deploy("2.1", start_of(41) - SECOND_NS, json!({})).await;
    let id = issue["id"].as_str().expect("an id");
    let detail = app.get(&format!("/api/issues/{id}")).await.json();
    assert_eq!(detail["issue"]["after_deploys"], "after 2 deploys: 2.0 and 2.1");
    assert_eq!(detail["issue"], issues(&app, "kind=slower").await[0]);
}

#[tokio::test]
async fn a_version_of_another_program_of_the_service_is_no_deploy_of_a_query() {
    let app = TestApp::new().await;
    let _jobs = app.start_jobs();
    let start_of = |n: i64| NOW_NS - (5_000 - n) * 60 * SECOND_NS;
    // A program of the service names a version between the last good and the first bad run of a query whose program
    // names none.
    app.store(runs(1, &near(100.0, 40), None)).await;
    app.store(runs(41, &near(400.0, 16), None)).await;
    app.until_all_evaluated().await;
    let issue = eventually("an issue", async || issues(&app, "kind=slower").await.into_iter().next()).await;
    assert_eq!(issue["program_version"], Value::Null);
    let span = [&issue["good_unix_ns"], &issue["since_unix_ns"]].map(|at| at.as_i64().expect("a time"));
    assert!(span[0] < start_of(41) && start_of(41) <= span[1], "{span:?}");
    let version = SeenVersion {
        project: "default".into(),
        service: Some("orders-etl".into()),
        environment: issue["environment"].as_str().map(Into::into),
        subject: DeploySubject::Program,
        engine: None,
        version: "1.1".into(),
        first_unix_ns: span[1] - 1,
        seen_unix_ns: span[1],
    };
    let before = SeenVersion { version: "1.0".into(), first_unix_ns: span[0] - 9, ..version.clone() };
    app.store.deploys().note_versions(vec![before, version]).await.expect("stored");
    assert_eq!(deploys(&app, "").await.len(), 1);
    let issue = issues(&app, "kind=slower").await[0].clone();
    assert_eq!((&issue["deploys"], &issue["after_deploys"]), (&json!([]), &Value::Null));
}

#[tokio::test]
async fn an_issue_that_begins_with_a_version_names_it() {
    let app = TestApp::new().await;
    let _jobs = app.start_jobs();
    let version = |text: String, n: u64, version: &str| {
        let (process, rest) = text.split_once('\n').expect("a process event");
        let named = process_with(n, json!({"program_version": version}));
        assert!(process.contains(&stream(1)), "{process}");
        format!("{named}\n{rest}")
    };
    app.store(version(runs(1, &near(100.0, 40), None), 1, "1.0")).await;
    app.store(version(runs(41, &near(400.0, 16), None), 2, "2.0")).await;
    app.until_all_evaluated().await;
    let issue = eventually("a deploy", async || {
        issues(&app, "kind=slower").await.into_iter().find(|issue| !issue["after_deploys"].is_null())
    })
    .await;
    assert_eq!(issue["after_deploys"], "after deploy 2.0");
    assert_eq!(issue["deploys"][0]["source"], "seen");
}
