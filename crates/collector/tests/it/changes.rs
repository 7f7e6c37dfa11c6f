//! What the service says of runs that are posted to it: the same as a detector says of their features.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use queryscope_diagnosis::{Change, Context, Detector, RunFeatures, Status, Workspace};
use queryscope_histories::{self as histories, History, Kind, Noise, Poster, Spec, generate};
use queryscope_insights::Outlines;
use queryscope_protocol::Batch;
use serde_json::{Value, json};

use crate::app::{Setup, TestApp};
use crate::events::{NOW_NS, SECOND_NS, batch, finished, query, started, stream};

const LABEL: &str = "orders/daily";

/// A young query that becomes twice as slow.
fn history(kind: Kind, seed: u64) -> History {
    let change = Some(histories::Change { kind, factor: 2.0, decoy: false });
    generate(Spec { seed, noise: Noise::Plain, change, young: true })
}

fn batches(history: &History) -> Vec<String> {
    let mut poster = Poster::new(Some("orders-etl"), 1);
    history.runs.iter().map(|run| poster.ended(LABEL, run)).collect()
}

/// What a detector says of the runs of these batches, by id.
fn expected(batches: &[String]) -> BTreeMap<String, Value> {
    let (mut detector, mut workspace) = (Detector::default(), Workspace::default());
    let mut changes: BTreeMap<String, Change> = BTreeMap::new();
    for batch in batches {
        let mut batch = Batch::open(batch.as_bytes()).expect("a batch");
        let event = batch.events.next().expect("an event").expect("as the format wants it");
        let profile = event.profile().expect("a profile").expect("a profile");
        let context = Context {
            host: Some(batch.process.host.to_string().into()),
            environment: batch.process.environment.as_deref().map(Into::into),
            program_version: None,
        };
        let started = profile.started_unix_ns.expect("a start");
        let id = event.kind.query_id().expect("a query");
        let run = RunFeatures::from_profile(id, started, &profile, &context, &mut Outlines::default());
        for transition in detector.observe(run, &mut workspace) {
            let change = transition.change().clone();
            changes.insert(change.id.clone(), change);
        }
        changes.extend(detector.open().map(|change| (change.id.clone(), change.clone())));
    }
    let named = changes.into_iter().map(|(id, change)| {
        let change = Change {
            project: Some("default".into()),
            service: Some("orders-etl".into()),
            label: Some(LABEL.into()),
            ..change
        };
        (id, serde_json::to_value(&change).expect("JSON"))
    });
    named.collect()
}

async fn told(app: &TestApp) -> BTreeMap<String, Value> {
    let id = |change: &Value| change["id"].as_str().expect("an id").to_owned();
    app.changes("").await.into_iter().map(|change| (id(&change), change)).collect()
}

async fn post(app: &TestApp, batches: &[String]) {
    for batch in batches {
        app.store(batch.clone()).await;
    }
}

#[tokio::test]
async fn a_slowdown_is_found_within_five_runs_with_its_cause() {
    for (kind, cause) in [
        (Kind::MoreRows, "more_rows"),
        (Kind::Spill, "spilling"),
        (Kind::OtherJoin, "plan_change"),
        (Kind::SlowDisk, "waiting"),
    ] {
        let app = TestApp::new().await;
        let history = history(kind, 1);
        let batches = batches(&history);
        let _jobs = app.start_jobs();
        let (before, after) = batches.split_at(history.changed_at);
        post(&app, before).await;
        app.until_all_evaluated().await;
        assert_eq!(app.changes("kind=slower").await, [] as [Value; 0], "{kind:?}");
        post(&app, &after[..5]).await;
        app.until_all_evaluated().await;
        let open = app.changes("kind=slower&state=open&label=orders/daily&service=orders-etl").await;
        let [change] = &open[..] else { panic!("{kind:?}: {open:?}") };
        assert_eq!(change["causes"][0]["cause"], cause, "{change}");
        assert_eq!(change["since_query_id"], history.runs[history.changed_at].query_id.to_string());
        let id = change["id"].as_str().expect("an id");
        assert_eq!(app.get(&format!("/api/changes/{id}")).await.json(), *change);
        post(&app, &after[5..]).await;
        app.until_all_evaluated().await;
        assert_eq!(told(&app).await, expected(&batches), "{kind:?}");
    }
}

#[tokio::test]
async fn restarts_between_steps_change_nothing() {
    let mut app = TestApp::new().await;
    let batches = batches(&history(Kind::Quota, 2));
    for (n, piece) in batches.chunks(7).enumerate() {
        let jobs = app.start_jobs();
        post(&app, piece).await;
        // Every other time it stops between the commit and the evaluation.
        if n % 2 == 0 {
            app.until_all_evaluated().await;
        }
        drop(jobs);
        app = app.restarted().await;
    }
    let _jobs = app.start_jobs();
    app.until_all_evaluated().await;
    let found = told(&app).await;
    assert_eq!(found, expected(&batches));
    assert!(found.values().any(|change| change["kind"] == "slower"), "{found:?}");
}

#[tokio::test]
async fn histories_and_duplicates_are_evaluated_by_start_and_once() {
    let app = TestApp::new().await;
    let batches = batches(&history(Kind::Skew, 3));
    // All of it before the first evaluation, the newest first.
    for batch in batches.iter().rev() {
        app.store(batch.clone()).await;
    }
    let _jobs = app.start_jobs();
    app.until_all_evaluated().await;
    let found = told(&app).await;
    assert_eq!(found, expected(&batches));
    for batch in &batches {
        let answer = app.post(batch.clone()).await;
        assert_eq!((answer.status.as_u16(), &answer.json()["duplicates"]), (202, &json!(1)));
    }
    app.until_all_evaluated().await;
    assert_eq!(told(&app).await, found);
    assert_eq!(app.metric("queryscope_evaluation_runs_total").await, batches.len() as u64);
}

#[tokio::test]
async fn sealed_runs_are_evaluated_too() {
    let app = TestApp::new().await;
    let batches = batches(&history(Kind::FewerThreads, 4));
    post(&app, &batches).await;
    app.seal().await;
    let _jobs = app.start_jobs();
    app.until_all_evaluated().await;
    assert_eq!(told(&app).await, expected(&batches));
}

#[tokio::test]
async fn runs_of_an_earlier_format_are_brought_forward() {
    let is_old = Arc::new(AtomicBool::new(true));
    let app = Setup::default().old(&is_old).start().await;
    let batches = batches(&history(Kind::UserCode, 5));
    let (earlier, since) = batches.split_at(batches.len() - 5);
    post(&app, earlier).await;
    app.seal().await;
    let other = |n: u64| finished(n + 1, n, json!({"label": "other", "started_unix_ns": NOW_NS + n as i64}));
    app.store(batch(9, (1..=20).map(other))).await;
    app.store(batch(9, [started(90, 90, json!({"label": "running"}))])).await;
    is_old.store(false, Ordering::SeqCst);
    post(&app, since).await;
    is_old.store(true, Ordering::SeqCst);
    let app = app.restarted().await;
    assert_eq!(app.store.pending_runs(None, 100).await.expect("a store").len(), 5);
    let _jobs = app.start_jobs();
    app.until_all_evaluated().await;
    assert_eq!(told(&app).await, expected(&batches));
    let evaluated = app.store.evaluated_queries(None, 10).await.expect("a store");
    assert_eq!(evaluated.iter().map(|key| key.label.as_str()).collect::<Vec<_>>().len(), 2, "{evaluated:?}");
    let runs = app.store.query_history(&evaluated[1]).await.expect("a store").expect("known").runs.len()
        + app.store.query_history(&evaluated[0]).await.expect("a store").expect("known").runs.len();
    assert_eq!(runs, batches.len() + 20);
}

/// Runs of a label that end after so long, each with an error of its own.
pub(crate) fn runs(from: u64, walls_ms: &[f64], failed: Option<&str>) -> String {
    let each = walls_ms.iter().enumerate().map(|(at, wall_ms)| {
        let n = from + at as u64;
        let started_unix_ns = NOW_NS - (5_000 - n as i64) * 60 * SECOND_NS;
        let members =
            json!({"label": "l", "wall_ms": wall_ms, "failed": failed, "started_unix_ns": started_unix_ns});
        finished(n + 1, n, members)
    });
    batch(1, each)
}

pub(crate) fn near(wall_ms: f64, count: u64) -> Vec<f64> {
    (0..count).map(|n| wall_ms * (1.0 + 0.01 * (n * 7 % 11) as f64)).collect()
}

#[tokio::test]
async fn failures_are_told_and_cancelled_runs_are_none() {
    let app = TestApp::new().await;
    let _jobs = app.start_jobs();
    app.store(runs(1, &near(100.0, 40), None)).await;
    app.store(runs(41, &near(10.0, 20), Some("cancelled"))).await;
    app.store(runs(61, &near(100.0, 5), None)).await;
    app.until_all_evaluated().await;
    assert_eq!(app.changes("").await, [] as [Value; 0]);
    app.store(runs(66, &near(10.0, 6), Some("ComputeError: boom"))).await;
    app.until_all_evaluated().await;
    let changes = app.changes("").await;
    assert_eq!((changes.len(), &changes[0]["kind"]), (1, &json!("failing")), "{changes:?}");
    assert_eq!(changes[0]["causes"][0]["cause"], "failures");
}

#[tokio::test]
async fn the_overview_names_an_open_change_for_the_better_as_well() {
    let app = TestApp::new().await;
    let _jobs = app.start_jobs();
    app.store(runs(1, &near(3_000.0, 40), None)).await;
    app.store(runs(41, &near(1_000.0, 12), None)).await;
    app.until_all_evaluated().await;
    let changes = app.changes("state=open").await;
    assert_eq!((changes.len(), &changes[0]["kind"]), (1, &json!("faster")), "{changes:?}");
    let named = |overview: Value| overview["queries"][0]["change"].clone();
    assert_eq!(named(app.get("/api/overview").await.json()), changes[0]["id"]);
    // One for the worse stands before it.
    app.store(runs(53, &near(1_000.0, 8), Some("ComputeError: boom"))).await;
    app.until_all_evaluated().await;
    let failing = app.changes("state=open&kind=failing").await;
    assert_eq!(named(app.get("/api/overview").await.json()), failing[0]["id"]);
}

#[tokio::test]
async fn a_change_and_a_comparison_of_its_runs_tell_one_cause() {
    for kind in Kind::ALL.into_iter().filter(|kind| *kind != Kind::Failures) {
        let app = TestApp::new().await;
        let _jobs = app.start_jobs();
        post(&app, &batches(&history(kind, 1))).await;
        app.until_all_evaluated().await;
        let changes = app.changes("state=open").await;
        let [change] = &changes[..] else { panic!("{kind:?}: {changes:?}") };
        let example = |which: &str| change["examples"][which].as_str().expect("a run");
        let (base, run) = (example("base"), example("run"));
        for params in [format!("run={run}"), format!("run={run}&base={base}")] {
            let compared = app.get(&format!("/api/compare?{params}")).await.json();
            assert_eq!(compared["change"], change["id"], "{kind:?}");
            let (part, cause) = (&compared["account"]["parts"][0], &change["causes"][0]);
            let told = |told: &Value| [&told["cause"], &told["node"], &told["dimension"]].map(Clone::clone);
            assert_eq!(told(part), told(cause), "{kind:?}: {} {change}", compared["account"]);
        }
        // A run before the change is no run of it.
        let compared = app.get(&format!("/api/compare?run={base}&base={run}")).await.json();
        assert_eq!(compared["change"], Value::Null);
    }
}

/// Posts runs of a query that becomes slower; the id of the change.
pub(crate) async fn changed(app: &TestApp) -> String {
    let _jobs = app.start_jobs();
    app.store(runs(1_001, &near(100.0, 30), None).replace(&stream(1), &stream(77))).await;
    app.store(runs(1_031, &near(400.0, 6), None).replace(&stream(1), &stream(77))).await;
    app.until_all_evaluated().await;
    app.changes("").await[0]["id"].as_str().expect("an id").to_owned()
}

#[tokio::test]
async fn answers_are_told_from_the_open_change() {
    let app = TestApp::new().await;
    let _jobs = app.start_jobs();
    app.store(runs(1, &near(1_000.0, 40), None)).await;
    app.store(runs(41, &near(3_000.0, 12), None)).await;
    app.until_all_evaluated().await;
    let changes = app.changes("state=open").await;
    let [change] = &changes[..] else { panic!("{changes:?}") };
    assert_eq!(change["since_query_id"], query(41));
    // The run is compared with one from before.
    let compared = app.get(&format!("/api/compare?run={}", query(50))).await.json();
    assert_eq!((&compared["basis"], &compared["runs"]), (&json!("before_change"), &json!(40)));
    assert_eq!(compared["base"]["query_id"], change["examples"]["base"]);
    let compared = app.get(&format!("/api/compare?run={}", query(30))).await.json();
    assert_ne!(compared["basis"], json!("before_change"), "it ran before the change");
    // The overview names the change.
    for params in ["", "split=service", "label=l", "label=l&split=service"] {
        let overview = app.get(&format!("/api/overview?{params}")).await.json();
        assert_eq!(overview["queries"][0]["change"], change["id"], "{params}: {overview}");
    }
    let overview = app.get("/api/overview?environment=other").await.json();
    assert_eq!(overview["queries"], json!([]));
    // A run of now is judged by those since the change.
    let members = json!({"label": "l", "wall_ms": 1.0, "started_unix_ns": NOW_NS - SECOND_NS});
    app.store(batch(1, [started(900, 900, members)])).await;
    let progress = app.get(&format!("/api/queries/{}/progress", query(900))).await.json();
    assert_eq!(progress["change"], change["id"]);
    let (usual, p50) = (&progress["usual_wall_ms"], &progress["remaining_ms"]["p50"]);
    assert!((2_900.0..3_400.0).contains(&usual.as_f64().expect("known")), "{progress}");
    assert!((1_900.0..2_400.0).contains(&p50.as_f64().expect("known")), "{progress}");
    let [p10, p90] = ["p10", "p90"].map(|name| progress["remaining_ms"][name].as_f64().expect("known"));
    assert!(p10 < p90, "{progress}");
    assert_eq!(progress["basis"], "the last 12 runs of its plan since its change");
    // What was held of the query is of another revision once a run of it was evaluated.
    app.store(runs(53, &near(3_000.0, 1), None)).await;
    app.until_all_evaluated().await;
    for _ in 0..2 {
        let progress = app.get(&format!("/api/queries/{}/progress", query(900))).await.json();
        assert_eq!(progress["basis"], "the last 13 runs of its plan since its change");
    }
}

#[tokio::test]
async fn what_is_usual_is_of_before_the_first_of_two_slowdowns() {
    let app = TestApp::new().await;
    let _jobs = app.start_jobs();
    let walls = [near(170.0, 25), near(330.0, 60), near(920.0, 10)].concat();
    app.store(runs(1, &walls, None)).await;
    app.until_all_evaluated().await;
    let changes = app.changes("").await;
    let states: Vec<&Value> = changes.iter().map(|change| &change["state"]).collect();
    assert_eq!(states, ["open", "superseded"], "{changes:?}");
    let progress = app.get(&format!("/api/queries/{}/progress", query(95))).await.json();
    assert_eq!((&progress["change"], &progress["runs"]), (&changes[0]["id"], &json!(25)), "{progress}");
    assert!((160.0..190.0).contains(&progress["usual_wall_ms"].as_f64().expect("known")), "{progress}");
}

#[tokio::test]
async fn runs_of_a_slowdown_that_is_over_are_not_usual() {
    let app = TestApp::new().await;
    let _jobs = app.start_jobs();
    for (from, walls) in [(1, near(170.0, 30)), (31, near(450.0, 60)), (91, near(170.0, 12))] {
        app.store(runs(from, &walls, None)).await;
        app.until_all_evaluated().await;
    }
    let changes = app.changes("").await;
    assert_eq!((changes.len(), &changes[0]["state"]), (1, &json!("recovered")), "{changes:?}");
    let compared = app.get(&format!("/api/compare?run={}", query(102))).await.json();
    let base = compared["base"]["wall_ms"].as_f64().expect("a time");
    assert!((160.0..190.0).contains(&base), "{compared}");
}

#[tokio::test]
async fn a_run_is_compared_with_another_of_before_the_change_where_the_typical_one_is_deleted() {
    let app = TestApp::new().await;
    let _jobs = app.start_jobs();
    app.store(runs(1, &near(1_000.0, 40), None)).await;
    app.store(runs(41, &near(3_000.0, 12), None)).await;
    app.until_all_evaluated().await;
    let base = app.changes("state=open").await[0]["examples"]["base"].as_str().expect("an id").to_owned();
    let started =
        app.get(&format!("/api/queries/{base}")).await.json()["started_unix_ns"].as_i64().expect("a start");
    app.store.delete_before(started + 1, 1_000).await.expect("deleted");
    let compared = app.get(&format!("/api/compare?run={}", query(50))).await.json();
    assert_eq!(compared["basis"], "before_change", "{compared}");
    let base = compared["base"]["wall_ms"].as_f64().expect("a time");
    assert!((900.0..1_200.0).contains(&base), "{compared}");
}

#[tokio::test]
async fn changes_are_filtered_paged_and_validated() {
    let app = TestApp::new().await;
    let _jobs = app.start_jobs();
    for (n, label) in ["a", "b", "c"].into_iter().enumerate() {
        let from = 1 + 100 * n as u64;
        let walls = [near(100.0 * (n + 1) as f64, 30), near(400.0 * (n + 1) as f64, 8)].concat();
        app.store(runs(from, &walls, None).replace(r#""label":"l""#, &format!(r#""label":"{label}""#))).await;
    }
    app.until_all_evaluated().await;
    let labels = |changes: &[Value]| {
        changes
            .iter()
            .map(|change| change["label"].as_str().unwrap_or("").to_owned())
            .collect::<Vec<_>>()
            .concat()
    };
    assert_eq!(labels(&app.changes("").await), "cba", "what costs most a day comes first");
    for (params, expected) in [
        ("label=b", "b"),
        ("label=", ""),
        ("service=orders-etl", "cba"),
        ("service=", ""),
        ("project=default&environment=prod", "cba"),
        ("environment=", ""),
        ("host=worker-1", ""),
        ("kind=slower", "cba"),
        ("kind=failing", ""),
        ("state=recovered", ""),
        ("since=0&limit=2", "cb"),
        ("until=0", ""),
    ] {
        assert_eq!(labels(&app.changes(params).await), expected, "{params}");
    }
    let mut path = "/api/changes?limit=1&kind=slower".to_owned();
    let mut found = String::new();
    loop {
        let answer = app.get(&path).await;
        let page = answer.json();
        found += &labels(page["changes"].as_array().expect("an array"));
        let Some(next) = page["next"].as_str() else { break };
        let link = answer.header("link").expect("a link").to_owned();
        path = format!("/api/changes?limit=1&kind=slower&cursor={next}");
        assert_eq!(link, format!("<{path}>; rel=\"next\""));
    }
    assert_eq!(found, "cba");
    for (params, reason) in [
        ("kind=slow", "kind: \"slow\" is not slower, faster, failing or data_grew"),
        ("state=closed", "state: \"closed\" is not open, recovered or superseded"),
        ("limit=0", "limit: \"0\" is not a whole number from 1 to 1000"),
        ("cursor=AA", "cursor: not one from the Link header of such a page"),
        ("label=a&label=b", "label: given twice, once is allowed"),
    ] {
        let answer = app.get(&format!("/api/changes?{params}")).await;
        assert_eq!((answer.status.as_u16(), answer.error().as_str()), (400, reason), "{params}");
    }
    let answer = app.get("/api/changes/slower-1").await;
    assert_eq!((answer.status.as_u16(), answer.error().as_str()), (404, r#"there is no change "slower-1""#));
    let id = app.changes("label=a").await[0]["id"].as_str().expect("an id").to_owned();
    let answer = app.get(&format!("/api/changes/{id}?project=etl")).await;
    assert_eq!(answer.status, 404, "of another project");
    let answer = app.get(&format!("/api/changes/{id}")).await;
    let tag = answer.header("etag").expect("a tag").to_owned();
    let request = axum::http::Request::get(format!("/api/changes/{id}"))
        .header("host", "localhost")
        .header("if-none-match", tag)
        .body(axum::body::Body::empty())
        .expect("a request");
    assert_eq!(app.send(request).await.status, 304);
    insta::assert_json_snapshot!(answer.json());
}

#[tokio::test]
async fn what_cannot_be_read_is_passed_over_and_counted() {
    let app = TestApp::new().await;
    let before = near(100.0, 20);
    // The fifth has a file of its own.
    for (first, walls) in [(1, &before[..4]), (5, &before[4..5]), (6, &before[5..])] {
        app.store(runs(first, walls, None)).await;
        app.seal().await;
    }
    app.remove_recording(5).await;
    app.store(runs(21, &near(400.0, 8), None)).await;
    let _jobs = app.start_jobs();
    app.until_all_evaluated().await;
    assert_eq!(app.changes("kind=slower").await.len(), 1);
    assert_eq!(app.metric("queryscope_evaluation_runs_total").await, 27);
    assert_eq!(app.metric(r#"queryscope_evaluation_runs_skipped_total{reason="unreadable"}"#).await, 1);
}

#[test]
fn the_histories_hold_failed_and_cancelled_runs() {
    let history = generate(Spec { seed: 9, noise: Noise::Plain, change: None, young: false });
    assert!(history.runs.iter().any(|run| run.status != Status::Finished));
}
