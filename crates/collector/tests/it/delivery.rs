//! Messages of issues, to receivers that fail in every way.

use std::sync::Arc;
use std::time::Duration;

use queryscope_delivery::testsuite::{Answer, TestReceiver};
use queryscope_delivery::{Config, Secrets, signature};
use queryscope_histories::{Change, Kind, Noise, Poster, Spec, generate};
use queryscope_issues::{Action, Person};
use queryscope_protocol::QueryId;
use queryscope_store::IssueStep;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::app::{Jobs, Setup, TOKEN, TestApp, eventually};
use crate::changes::{changed, near};
use crate::deploys;
use crate::events::{NOW_NS, SECOND_NS, batch, finished};
use crate::issues::issues;

/// A file with a webhook at an address.
fn webhook(url: &str) -> String {
    format!(
        r#"
        base_url = "https://q.example.com"
        group_wait = "0s"
        allow_private = ["127.0.0.1"]
        [receivers.hook]
        type = "webhook"
        url = "{url}/in"
        secret = "the key"
        [[routes]]
        name = "all"
        receiver = "hook"
        [[owners]]
        label = "l"
        owner = "team-l"
        "#
    )
}

async fn app(file: &str) -> TestApp {
    let config = Config::parse(file, Secrets::Read).unwrap_or_else(|problems| panic!("{problems:?}"));
    Setup::with(|settings| settings.delivery = Some(Arc::new(config))).start().await
}

/// Opens an issue; gives back its id. No job runs afterwards.
async fn opened(app: &TestApp) -> String {
    changed(app).await;
    issues(app, "").await[0]["id"].as_str().expect("an id").to_owned()
}

async fn act(app: &TestApp, id: &str, action: Action) {
    let unix_ns = queryscope_collector::Clock::unix_ns(&*app.clock);
    let step = IssueStep::Act(action, Person::default());
    app.store.move_issue(id, step, unix_ns).await.expect("moved");
}

/// Makes so many transitions of an issue: it is resolved and opened again.
async fn moved(app: &TestApp, id: &str, times: usize) {
    for n in 0..times {
        act(app, id, if n % 2 == 0 { Action::Resolve } else { Action::Reopen }).await;
    }
}

/// Waits while time passes, a second at each look.
async fn as_time_passes<T>(app: &TestApp, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    eventually(what, async || {
        app.clock.advance(Duration::from_secs(1));
        look()
    })
    .await
}

/// Waits until a receiver has taken so many messages, and nothing waits.
async fn until_delivered(app: &TestApp, receiver: &TestReceiver, count: usize) {
    as_time_passes(app, "the messages", || (receiver.taken().len() >= count).then_some(())).await;
    eventually("nothing to wait", async || {
        app.clock.advance(Duration::from_secs(1));
        let records = app.store.outbox().route_records().await.expect("a store");
        records.iter().all(|record| record.waiting == 0).then_some(())
    })
    .await;
}

async fn route(app: &TestApp) -> Value {
    let answer = app.get("/api/routes").await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()["routes"][0].clone()
}

fn jobs(app: &TestApp) -> Jobs {
    app.start_jobs()
}

#[tokio::test]
async fn a_webhook_gets_a_signed_event() {
    let receiver = TestReceiver::start();
    let app = app(&webhook(&receiver.url())).await;
    let id = opened(&app).await;
    let _jobs = jobs(&app);
    until_delivered(&app, &receiver, 1).await;
    let got = receiver.received().remove(0);
    assert_eq!((got.path.as_str(), got.key()), ("/in", format!("{id}.1").as_str()));
    assert_eq!(got.headers["content-type"], "application/cloudevents+json; charset=utf-8");
    let said = &got.headers["queryscope-signature"];
    let seconds = said.strip_prefix("t=").and_then(|rest| rest.split_once(',')).expect("a time").0;
    let seconds = seconds.parse().expect("seconds");
    assert_eq!(*said, signature("the key", seconds, got.body.as_bytes()));
    let event: Value = serde_json::from_str(&got.body).expect("JSON");
    let expected = json!({
        "specversion": "1.0", "id": format!("{id}.1"), "source": "https://q.example.com/",
        "type": "io.queryscope.issue.alarm", "subject": id, "datacontenttype": "application/json",
    });
    for (name, value) in expected.as_object().expect("members") {
        assert_eq!(event[name], *value, "{name}");
    }
    let member = &event["data"]["members"][0];
    assert_eq!((&member["issue"]["id"], &member["owner"]), (&json!(id), &json!("team-l")));
    assert_eq!((&member["transition"]["to"], &event["data"]["route"]), (&json!("open"), &json!("all")));
    assert_eq!(event["data"]["link"], format!("https://q.example.com/issues/{id}"));
    assert_eq!(event["data"]["sentence"], "l takes 4.0 times as long (418 ms instead of 105 ms)");
    assert_eq!(member["account"], json!([]), "the counters of these runs do not say why");
    let shown = route(&app).await;
    assert_eq!(
        (&shown["sent"], &shown["waiting"], &shown["last_error"]),
        (&json!(1), &json!(0), &json!(null))
    );
    assert_eq!(app.metric(r#"queryscope_delivery_attempts_total{route="all",outcome="sent"}"#).await, 1);
}

/// Batches of a query that runs on three hosts in turn, whose runs on `etl-3` get slower with a version of the engine.
fn slower_on_one_host(service: &str, label: &str, number: u32) -> Vec<String> {
    let change = Some(Change { kind: Kind::EngineVersion, factor: 2.5, decoy: false });
    let history = generate(Spec { seed: 5, noise: Noise::Plain, change, young: true });
    let (before, after) = history.runs.split_at(history.changed_at);
    let mut poster = Poster::new(Some(service), number);
    let run = |n: usize| {
        let host = format!("etl-{}", n % 3 + 1);
        let is_new = host == "etl-3" && n >= 90;
        let of = if is_new { after } else { before };
        let mut run = of[n / 3 % of.len()].clone();
        run.query_id = QueryId::new(Uuid::from_u128((u128::from(number) << 64) + n as u128));
        run.started_unix_ns = NOW_NS - (200 - n as i64) * 600 * SECOND_NS;
        run.host = Some(host.into());
        // Some seconds: what is at stake is worth an issue.
        run.wall_ns *= 500;
        run.cpu_ns = run.cpu_ns.map(|ns| ns * 500);
        poster.ended(label, &run)
    };
    (0..132).map(run).collect()
}

#[tokio::test]
async fn a_version_that_is_slower_on_one_host_is_one_message_for_all_services() {
    let receiver = TestReceiver::start();
    let app = app(&webhook(&receiver.url()).replace("\"0s\"", "\"1m\"")).await;
    for (number, (service, label)) in (1..).zip([("etl", "orders"), ("etl", "customers"), ("web", "report")])
    {
        for batch in slower_on_one_host(service, label, number) {
            app.store(batch).await;
        }
    }
    let _jobs = jobs(&app);
    app.until_all_evaluated().await;
    let found = issues(&app, "kind=slower").await;
    let hosts: Vec<&Value> = found.iter().map(|issue| &issue["host"]).collect();
    assert_eq!(hosts, ["etl-3", "etl-3", "etl-3"]);
    until_delivered(&app, &receiver, 1).await;
    let taken = receiver.taken();
    let event: Value = serde_json::from_str(taken.values().next().expect("a message")).expect("JSON");
    assert_eq!(event["data"]["sentence"], "3 queries slower since polars 2.2.0 on etl-3");
    assert_eq!((taken.len(), event["data"]["members"].as_array().map(Vec::len)), (1, Some(3)));
}

#[tokio::test]
async fn a_message_names_the_deploy_its_issue_began_with() {
    let receiver = TestReceiver::start();
    let app = app(&webhook(&receiver.url())).await;
    // A run starts every minute; number 1,031 is the first slow one.
    let begins_unix_ns = NOW_NS - (5_000 - 1_031) * 60 * SECOND_NS;
    let deploy = json!({"service": "orders-etl", "version": "2.0", "unix_ns": begins_unix_ns - SECOND_NS});
    assert_eq!(deploys::post(&app, Some(TOKEN), &deploy).await.status, 201);
    opened(&app).await;
    let _jobs = jobs(&app);
    until_delivered(&app, &receiver, 1).await;
    let event: Value = serde_json::from_str(&receiver.received()[0].body).expect("JSON");
    let sentence = event["data"]["sentence"].as_str().expect("a sentence");
    assert!(sentence.ends_with(" since deploy 2.0"), "{sentence}");
    assert_eq!(event["data"]["facts"]["causes"], json!({"deploy": "2.0"}));
    let account = event["data"]["members"][0]["account"].as_array().expect("causes");
    assert_eq!(account.last(), Some(&json!("It began after deploy 2.0")));
}

#[tokio::test]
async fn whatever_a_receiver_does_each_message_arrives_once_by_its_key() {
    let receiver = TestReceiver::start();
    let app = app(&webhook(&receiver.url())).await;
    let id = opened(&app).await;
    moved(&app, &id, 4).await;
    receiver.script([
        Answer::Status(500),
        Answer::Silent,
        Answer::Status(200),
        Answer::RetryAfter(429, 2),
        Answer::Late(Duration::from_secs(11)),
        Answer::Status(302),
    ]);
    let _jobs = jobs(&app);
    until_delivered(&app, &receiver, 5).await;
    let keys: Vec<String> = receiver.taken().into_keys().collect();
    assert_eq!(keys, (1..=5).map(|number| format!("{id}.{number}")).collect::<Vec<_>>());
    let all = receiver.received();
    assert!(all.len() >= 9, "each failure was tried again: {all:?}");
    // What was taken without an answer came again, byte for byte (`taken` compares).
    let silent = all.iter().find(|got| got.answer == Answer::Silent).expect("one");
    assert!(all.iter().filter(|got| got.key() == silent.key()).count() >= 2);
    let shown = route(&app).await;
    assert_eq!((&shown["sent"], &shown["failed"]), (&json!(5), &json!(0)));
    assert!(shown["last_error"].as_str().is_some_and(|error| !error.contains("127.0.0.1")), "{shown}");
}

#[tokio::test]
async fn what_could_not_be_sent_is_sent_once_the_receiver_is_back() {
    let address = TestReceiver::start().address();
    let app = app(&webhook(&format!("http://{address}"))).await;
    let id = opened(&app).await;
    {
        let _jobs = jobs(&app);
        eventually("a failed attempt", async || {
            app.clock.advance(Duration::from_secs(1));
            route(&app).await["last_error"].as_str().map(|error| {
                assert!(error.contains("refused"), "{error}");
            })
        })
        .await;
    }
    moved(&app, &id, 2).await;
    // Another life of the service finds what waits.
    let app = app.restarted().await;
    assert_eq!((&route(&app).await["waiting"], &route(&app).await["sent"]), (&json!(1), &json!(0)));
    let receiver = TestReceiver::start_at(address);
    let _jobs = jobs(&app);
    until_delivered(&app, &receiver, 3).await;
    assert_eq!(receiver.received().len(), 3);
}

#[tokio::test]
async fn a_receiver_is_not_asked_before_the_time_it_named() {
    let receiver = TestReceiver::start();
    let app = app(&webhook(&receiver.url())).await;
    opened(&app).await;
    receiver.script([Answer::RetryAfter(503, 600)]);
    let _jobs = jobs(&app);
    eventually("the first attempt", async || (receiver.received().len() == 1).then_some(())).await;
    eventually("its failure", async || {
        let error = route(&app).await["last_error"].clone();
        (error == json!("the receiver answered 503 Service Unavailable: ok")).then_some(())
    })
    .await;
    app.clock.advance(Duration::from_secs(590));
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    assert_eq!(receiver.received().len(), 1);
    // The store keeps the time: another life of the service honours it, too.
    let due = app.store.outbox().due_deliveries("all", i64::MAX, 9).await.expect("a store");
    let wait_ns = due[0].due_unix_ns - due[0].created_unix_ns;
    assert!((600..=661).contains(&(wait_ns / 1_000_000_000)), "{wait_ns}");
}

#[tokio::test]
async fn who_was_not_told_of_a_cause_is_told_of_the_next_issue() {
    let receiver = TestReceiver::start();
    let file = webhook(&receiver.url()).replace(r#"type = "webhook""#, r#"type = "slack""#);
    let app = app(&file.replace(r#"secret = "the key""#, "")).await;
    // Run 31 of each query is the first slow one, and starts at this time.
    let starts_unix_ns = |place: i64| NOW_NS - (4_000 - place) * 60 * SECOND_NS;
    let deploy =
        json!({"service": "orders-etl", "version": "2.0", "unix_ns": starts_unix_ns(30) - SECOND_NS});
    assert_eq!(deploys::post(&app, Some(TOKEN), &deploy).await.status, 201);
    let runs = |stream: u64, label: &str| {
        let walls = [near(100.0, 30), near(400.0, 8)].concat();
        let each = walls.iter().zip(0..).map(|(wall_ms, place)| {
            let n = stream * 1_000 + place as u64;
            let starts = starts_unix_ns(place);
            finished(
                n,
                n,
                json!({"label": label, "failed": null, "wall_ms": wall_ms, "started_unix_ns": starts}),
            )
        });
        batch(stream, each.collect::<Vec<_>>())
    };
    receiver.script([Answer::Status(400)]);
    let _jobs = jobs(&app);
    app.store(runs(1, "l")).await;
    eventually("a refusal", async || (route(&app).await["failed"] == json!(1)).then_some(())).await;
    app.store(runs(2, "m")).await;
    as_time_passes(&app, "a message", || (receiver.taken().len() == 1).then_some(())).await;
    let told = receiver.taken().into_values().next().expect("a message");
    assert!(told.contains("m takes ") && told.contains(" since deploy 2.0"), "{told}");
}

#[tokio::test]
async fn what_is_refused_or_too_old_is_given_up_and_seen() {
    let receiver = TestReceiver::start();
    let app = app(&webhook(&receiver.url())).await;
    let id = opened(&app).await;
    receiver.script([Answer::Status(400)]);
    {
        let _jobs = jobs(&app);
        eventually("a refusal", async || (route(&app).await["failed"] == json!(1)).then_some(())).await;
    }
    assert_eq!(route(&app).await["last_error"], "the receiver answered 400 Bad Request: ok");
    // One fails for longer than a day.
    moved(&app, &id, 1).await;
    receiver.script([Answer::Status(500), Answer::Status(500)]);
    {
        let _jobs = jobs(&app);
        eventually("an attempt", async || (receiver.received().len() == 2).then_some(())).await;
        eventually("it to be given up", async || {
            app.clock.advance(Duration::from_hours(12));
            (route(&app).await["failed"] == json!(2)).then_some(())
        })
        .await;
    }
    let said = route(&app).await["last_error"].as_str().expect("an error").to_owned();
    assert!(said.starts_with("given up after ") && said.contains("500"), "{said}");
    // A transition of long ago is news to nobody.
    act(&app, &id, Action::Reopen).await;
    app.clock.advance(Duration::from_hours(25));
    let _jobs = jobs(&app);
    eventually("it to be dropped", async || {
        (app.metric("queryscope_notices_dropped_total").await == 1).then_some(())
    })
    .await;
    assert_eq!(receiver.taken().len(), 0);
}

#[tokio::test]
async fn an_address_that_is_not_public_is_not_asked() {
    let receiver = TestReceiver::start();
    // A name that leads to this machine, as one that an attacker's name service answers for.
    let url = format!("http://localhost:{}", receiver.address().port());
    let app = app(&webhook(&url).replace(r#""127.0.0.1""#, r#""10.0.0.0/8""#)).await;
    opened(&app).await;
    let _jobs = jobs(&app);
    eventually("a refusal", async || {
        let error = route(&app).await["last_error"].as_str().map(ToOwned::to_owned)?;
        assert!(error.contains("is not a public address: name it in allow_private"), "{error}");
        Some(())
    })
    .await;
    assert_eq!(receiver.received().len(), 0);
}

#[tokio::test]
async fn without_routes_notices_wait_for_somebody_who_has_some() {
    let receiver = TestReceiver::start();
    let app = app("").await;
    opened(&app).await;
    {
        let _jobs = jobs(&app);
        tokio::time::sleep(Duration::from_millis(700)).await;
    }
    assert_eq!(app.get("/api/routes").await.json(), json!({"routes": [], "owners": []}));
    assert_eq!(app.store.outbox().notices(9).await.expect("a store").len(), 1);
    let config = Config::parse(&webhook(&receiver.url()), Secrets::Read).expect("a file");
    let app = app.restarted_with(|settings| settings.delivery = Some(Arc::new(config))).await;
    let _jobs = jobs(&app);
    until_delivered(&app, &receiver, 1).await;
}

#[tokio::test]
async fn a_route_that_is_gone_takes_its_messages_along() {
    let address = TestReceiver::start().address();
    let app = app(&webhook(&format!("http://{address}"))).await;
    opened(&app).await;
    {
        let _jobs = jobs(&app);
        eventually("an attempt", async || (!route(&app).await["last_error"].is_null()).then_some(())).await;
    }
    let renamed = webhook(&format!("http://{address}")).replace("name = \"all\"", "name = \"other\"");
    let config = Config::parse(&renamed, Secrets::Read).expect("a file");
    let app = app.restarted_with(|settings| settings.delivery = Some(Arc::new(config))).await;
    let _jobs = jobs(&app);
    eventually("the old route to be given up", async || {
        let records = app.store.outbox().route_records().await.expect("a store");
        let old = records.iter().find(|record| record.route == "all").expect("it is kept");
        (old.waiting == 0 && old.failed == 1).then_some(())
    })
    .await;
}

#[tokio::test]
async fn issues_have_owners_and_are_found_by_them() {
    let app = app(&webhook("https://hooks.example.com")).await;
    let id = opened(&app).await;
    let labels = async |params: &str| {
        let found = issues(&app, params).await;
        found.iter().map(|issue| issue["owner"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(labels("").await, [json!("team-l")]);
    assert_eq!(labels("owner=team-l&limit=1").await, [json!("team-l")]);
    assert_eq!(labels("owner=other").await.len(), 0);
    assert_eq!(labels("owner=").await.len(), 0);
    let one = app.get(&format!("/api/issues/{id}")).await.json();
    assert_eq!(one["issue"]["owner"], "team-l");
    assert_eq!(app.get("/api/owners").await.json(), json!({"owners": ["team-l"]}));
    assert_eq!(app.get("/api/owners?project=default").await.json(), json!({"owners": ["team-l"]}));
    assert_eq!(app.get("/api/owners?project=other").await.json(), json!({"owners": []}));
    let shown = app.get("/api/routes").await;
    assert_eq!(shown.json()["owners"], json!([{"matches": "label", "pattern": "l", "owner": "team-l"}]));
    assert!(!shown.text().contains("the key") && !shown.text().contains("hooks.example.com"));
}
