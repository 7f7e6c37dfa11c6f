//! Messages of issues, whatever is killed meanwhile: each transition is told, and none twice to receivers that honour
//! keys.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use queryscope_delivery::testsuite::{Answer, TestReceiver};
use serde_json::Value;

use crate::common::database::Databases;
use crate::common::{Service, command, queryscope, wait_for, wait_within};
use crate::evaluated::{batches, post, until_evaluated};
use crate::shared::TOKEN;

/// A lease of a collector that was killed ends within so long.
const TAKEN_OVER: Duration = Duration::from_mins(3);

/// Writes a file with a webhook at an address; gives back its path.
fn file(folder: &Path, receiver: SocketAddr) -> String {
    let path = folder.join("queryscope.toml");
    let text = format!(
        r#"
        group_wait = "0s"
        allow_private = ["127.0.0.1"]
        [receivers.hook]
        type = "webhook"
        url = "http://{receiver}/"
        [[routes]]
        name = "all"
        receiver = "hook"
        "#
    );
    std::fs::write(&path, text).expect("a file");
    path.to_str().expect("a text").to_owned()
}

fn issues(service: &Service) -> Vec<Value> {
    service.get("/api/issues").json()["issues"].as_array().expect("a list").clone()
}

fn act(service: &Service, id: &str, action: &str) {
    let url = format!("{}/api/issues/{id}/{action}", service.url);
    let answer = ureq::post(&url).header("content-type", "application/json").send("{}");
    assert_eq!(answer.expect("an answer").status(), 200, "{action}");
}

/// The keys of all transitions there are.
fn transitions(service: &Service) -> BTreeSet<String> {
    let all = issues(service);
    let keys = all.iter().flat_map(|issue| {
        let id = issue["id"].as_str().expect("an id").to_owned();
        (1..=issue["transitions"].as_u64().expect("a number")).map(move |number| format!("{id}.{number}"))
    });
    keys.collect()
}

/// The keys of the transitions a receiver knows of: those of members, whatever message they came in.
fn told(receiver: &TestReceiver) -> BTreeSet<String> {
    let mut keys = BTreeSet::new();
    for body in receiver.taken().into_values() {
        let event: Value = serde_json::from_str(&body).expect("JSON");
        for member in event["data"]["members"].as_array().expect("members") {
            let number = &member["transition"]["number"];
            let is_new = keys.insert(format!("{}.{number}", member["issue"]["id"].as_str().expect("an id")));
            assert!(is_new, "a transition is told by one key: {member}");
        }
    }
    keys
}

/// The steps of a delivery after which the service is killed.
#[derive(Debug, Clone, Copy)]
enum Step {
    /// The transition is stored with its notice.
    Stored,
    /// Its message waits, or was just sent.
    Composed,
    /// An attempt failed, and that was noted.
    Failed,
    /// The message was sent, and there is no answer.
    Sent,
    /// The receiver has answered.
    Answered,
}

#[test]
fn a_kill_between_any_two_steps_of_a_delivery_loses_nothing() {
    let root = tempfile::tempdir().expect("a folder");
    let data = root.path().join("data");
    let receiver = TestReceiver::start();
    let file = file(root.path(), receiver.address());
    let mut service = Service::start_with(&data, &["--config", &file]);
    post(&service, &batches(60));
    until_evaluated(&data);
    let id = issues(&service)[0]["id"].as_str().expect("an id").to_owned();
    let mut is_resolved = issues(&service)[0]["state"] == "resolved";
    let is_told = |service: &Service| {
        let waiting = service.get("/api/routes").json()["routes"][0]["waiting"].clone();
        (waiting == 0 && told(&receiver) == transitions(service)).then_some(())
    };
    wait_within(TAKEN_OVER, "the first messages", || is_told(&service));
    for step in [Step::Stored, Step::Composed, Step::Failed, Step::Sent, Step::Answered] {
        let before = (receiver.received().len(), receiver.answered());
        let waiting = |service: &Service| service.get("/api/routes").json()["routes"][0]["waiting"].as_u64();
        match step {
            Step::Failed => receiver.script([Answer::Status(500)]),
            Step::Sent => receiver.script([Answer::Late(Duration::from_secs(20))]),
            Step::Stored | Step::Composed | Step::Answered => {}
        }
        act(&service, &id, if is_resolved { "reopen" } else { "resolve" });
        is_resolved = !is_resolved;
        let is_received = || (receiver.received().len() > before.0).then_some(());
        match step {
            Step::Stored => {}
            Step::Composed => wait_for("a message", || {
                is_received().or_else(|| (waiting(&service) > Some(0)).then_some(()))
            }),
            Step::Failed => {
                let error = || service.get("/api/routes").json()["routes"][0]["last_error"].clone();
                wait_for("a noted failure", || error().is_string().then_some(()));
            }
            Step::Sent => wait_for("a request", is_received),
            Step::Answered => {
                wait_for("an answer", || (receiver.answered() > before.1).then_some(()));
            }
        }
        service.kill();
        service = Service::start_with(&data, &["--config", &file]);
        wait_within(TAKEN_OVER, &format!("messages after {step:?}"), || is_told(&service));
    }
    service.stop();
    let checked = queryscope(["check", "--data", &data.to_string_lossy()]).success();
    assert!(checked.ends_with(": sound\n"), "{checked}");
}

#[test]
fn what_waits_is_in_a_copy_and_a_check_finds_what_is_damaged() {
    let root = tempfile::tempdir().expect("a folder");
    let [data, copy] = ["data", "copy"].map(|name| root.path().join(name));
    // Nobody listens there yet.
    let address = TestReceiver::start().address();
    let file = file(root.path(), address);
    let service = Service::start_with(&data, &["--config", &file]);
    post(&service, &batches(60));
    until_evaluated(&data);
    let waiting = || service.get("/api/routes").json()["routes"][0]["waiting"].as_u64();
    wait_for("messages that wait", || (waiting() > Some(0)).then_some(()));
    let [data_arg, copy_arg] = [&data, &copy].map(|folder| folder.to_string_lossy().into_owned());
    queryscope(["backup", &copy_arg, "--data", &data_arg]).success();
    let expected = transitions(&service);
    service.stop();
    let check = |folder: &str, more: &[&str]| queryscope(["check", "--data", folder].iter().chain(more));
    assert!(check(&copy_arg, &[]).success().ends_with(": sound\n"));

    for (damage, says) in [
        (
            "UPDATE delivery SET body = 'none' WHERE state = 'waiting'",
            "it is a message of no state, or cannot be read",
        ),
        ("UPDATE delivery SET body = x'ff' WHERE state = 'waiting'", "messages of issues cannot be read: "),
        ("UPDATE delivery SET state = 'foo' WHERE state = 'waiting'", "messages of issues cannot be read: "),
        (
            "UPDATE delivery SET body = '{}' WHERE state = 'waiting'",
            " to all is damaged: `check --repair` gives it up",
        ),
        ("UPDATE delivery SET route = 'other' WHERE state = 'waiting'", " to other is damaged"),
        ("UPDATE notice SET body = '{}', done = 0", "it holds no transition"),
        (
            "UPDATE notice SET body = json_remove(body, '$.issue.label'), done = 0",
            "the notice of transition 1 of issue-slower-",
        ),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path().join("damaged");
        crate::common::copy(&data, &folder);
        let db = rusqlite::Connection::open(folder.join("queryscope.db")).expect("the database");
        assert!(db.execute(damage, []).expect("damaged") > 0, "{damage}");
        drop(db);
        let folder = folder.to_string_lossy();
        let found = check(&folder, &[]);
        assert!(found.out.contains(says), "{damage}: {found:?}");
        found.failure(1);
        let repaired = check(&folder, &["--repair"]).success();
        assert!(repaired.contains(": sound after "), "{damage}: {repaired}");
        assert!(check(&folder, &[]).success().ends_with(": sound\n"), "{damage}");
    }

    let receiver = TestReceiver::start_at(address);
    let service = Service::start_with(&copy, &["--config", &file]);
    wait_within(TAKEN_OVER, "what waited in the copy", || {
        (told(&receiver) == expected && transitions(&service) == expected).then_some(())
    });
    service.stop();
}

#[test]
fn of_three_collectors_one_tells_and_another_takes_over() {
    let root = tempfile::tempdir().expect("a folder");
    let data = root.path().join("data");
    // The receiver is down while the folder is served: what waits is moved.
    let address = TestReceiver::start().address();
    let file = file(root.path(), address);
    let service = Service::start_with(&data, &["--config", &file]);
    post(&service, &batches(60));
    until_evaluated(&data);
    let before = transitions(&service);
    assert!(!before.is_empty());
    service.stop();
    let databases = Databases::start();
    let database = databases.make("delivered");
    for _ in 0..2 {
        queryscope(["migrate", "--from", &data.to_string_lossy(), "--to", &database.address()]).success();
    }

    let receiver = TestReceiver::start_at(address);
    let start = |number: usize| {
        let data = root.path().join(format!("node-{number}"));
        std::fs::create_dir_all(&data).expect("a folder");
        std::fs::write(data.join("token"), TOKEN).expect("a file");
        let recordings = root.path().join("recordings").to_string_lossy().into_owned();
        let address = database.address();
        let args = ["--database", &address, "--recordings", &recordings, "--token", TOKEN, "--config", &file];
        Service::start_as(&mut command(), &data, &args)
    };
    let mut collectors: Vec<Service> = (0..3).map(start).collect();
    wait_within(TAKEN_OVER, "what was moved", || (told(&receiver).is_superset(&before)).then_some(()));
    let id = issues(&collectors[0])[0]["id"].as_str().expect("an id").to_owned();
    let is_resolved = issues(&collectors[0])[0]["state"] == "resolved";
    let both = if is_resolved { ["reopen", "resolve"] } else { ["resolve", "reopen"] };
    act(&collectors[1], &id, both[0]);
    let is_told = |service: &Service| told(&receiver) == transitions(service);
    wait_within(TAKEN_OVER, "the message", || is_told(&collectors[2]).then_some(()));
    // One message each: the others have sent nothing.
    let sends = |service: &Service| {
        let text = String::from_utf8(service.get("/metrics").body).expect("UTF-8");
        text.contains(r#"queryscope_delivery_attempts_total{route="all",outcome="sent"}"#)
    };
    let sending: Vec<usize> = (0..3).filter(|&n| sends(&collectors[n])).collect();
    let [sending] = sending[..] else { panic!("{sending:?} send") };
    assert_eq!(receiver.received().len(), receiver.taken().len());
    // It is killed, and another goes on.
    collectors.remove(sending).kill();
    act(&collectors[0], &id, both[1]);
    wait_within(TAKEN_OVER, "the message", || is_told(&collectors[1]).then_some(()));
    assert_eq!(collectors.iter().filter(|collector| sends(collector)).count(), 1);
    assert_eq!(receiver.received().len(), receiver.taken().len());
}

#[test]
fn a_file_is_judged_and_a_route_is_tried() {
    let root = tempfile::tempdir().expect("a folder");
    let receiver = TestReceiver::start();
    let good = file(root.path(), receiver.address());
    let says = queryscope(["config", "check", &good]).success();
    assert_eq!(says, format!("{good}: 1 route, 0 rules of owners: valid\n"));
    let says = queryscope(["alert", "test", "all", "--config", &good]).success();
    assert_eq!(says, "all: the receiver took it (hook, webhook)\n");
    let event: Value = serde_json::from_str(&receiver.received()[0].body).expect("JSON");
    assert_eq!(event["type"], "io.queryscope.issue.test");
    let says = queryscope(["alert", "test", "other", "--config", &good]).failure(1);
    assert!(says.contains("there is no route \"other\": the file names all"), "{says}");
    receiver.script([Answer::Status(503)]);
    let says = queryscope(["alert", "test", "all", "--config", &good]).failure(1);
    assert!(says.contains("503 Service Unavailable: ok; the service would try again"), "{says}");

    let bad = root.path().join("bad.toml");
    std::fs::write(&bad, "[[routes]]\nname = \"x\"\nreceiver = \"y\"\n").expect("a file");
    let bad = bad.to_string_lossy();
    let expected = format!("{bad}:3:12: there is no receiver \"y\": the file names none");
    for args in [
        &["config", "check", &bad][..],
        &["serve", "--config", &bad],
        &["alert", "test", "x", "--config", &bad],
    ] {
        let says = queryscope(args).failure(1);
        assert!(says.contains(&expected), "{args:?}: {says}");
    }
    std::fs::write(&*bad, "[receivers.x]\ntype = \"slack\"\nurl = { env = \"QUERYSCOPE_NONE\" }\n")
        .expect("a file");
    let says = queryscope(["config", "check", &bad]).failure(1);
    assert!(says.contains(":3:7: the environment variable QUERYSCOPE_NONE is not set"), "{says}");
    queryscope(["config", "check", &bad, "--without-secrets"]).success();
}
