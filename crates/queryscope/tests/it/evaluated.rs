//! The evaluation of ended runs, whatever is killed meanwhile: each run once, and the same changes as undisturbed.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use queryscope_histories::{Change, Kind, Noise, Poster, Spec, generate};
use queryscope_protocol::QueryId;
use rusqlite::Connection;
use serde_json::Value;
use uuid::Uuid;

use crate::common::database::{Database, Databases};
use crate::common::{Running, Service, command, copy, queryscope, wait_for, wait_within};
use crate::shared::collector;

/// How often the service is killed; a variable of this name says otherwise.
const KILLS: &str = "EVALUATION_KILLS";
const MINUTE_NS: i64 = 60_000_000_000;
/// Wednesday, 4 November 2026, 00:00 UTC.
pub(crate) const START_UNIX_NS: i64 = 1_793_750_400_000_000_000;
/// A lease of a collector that was killed ends within so long.
const TAKEN_OVER: Duration = Duration::from_mins(3);

/// Batches of one ended run each, by start: one label gets slower, recovers and gets slower again, one does once.
pub(crate) fn batches(runs: i64) -> Vec<String> {
    batches_from(START_UNIX_NS, runs)
}

/// The same, whose first runs start then; half an hour lies between two runs of a label.
pub(crate) fn batches_from(start_unix_ns: i64, runs: i64) -> Vec<String> {
    let change = Some(Change { kind: Kind::MoreRows, factor: 2.0, decoy: false });
    let history = generate(Spec { seed: 3, noise: Noise::Plain, change, young: true });
    let mut poster = Poster::new(Some("orders-etl"), (start_unix_ns / MINUTE_NS) as u32);
    let mut all = Vec::new();
    for n in 0..runs {
        for (label, times) in [("orders/daily", [1, 3, 1, 3]), ("orders/weekly", [1, 1, 1, 4])] {
            let mut run = history.runs[0].clone();
            let of_label = all.len() as u128 % 2;
            // 6 % more or less, no two alike.
            let wobble = 940 + (n * 7919 + of_label as i64 * 31) % 121;
            let nth = usize::try_from(n * 4 / runs).expect("a quarter");
            run.wall_ns = (times[nth] * 100_000 * wobble + n) as u64;
            run.cpu_ns = Some(run.wall_ns / 10 * 9);
            run.started_unix_ns = start_unix_ns + n * 30 * MINUTE_NS;
            let minute = (run.started_unix_ns / MINUTE_NS) as u128;
            run.query_id = QueryId::new(Uuid::from_u128((0x9e37 << 112) + (minute << 64) + of_label + 1));
            all.push(poster.ended(label, &run));
        }
    }
    all
}

pub(crate) fn post(service: &Service, batches: &[String]) {
    for batch in batches {
        assert_eq!(service.post(batch.as_bytes()).status, 202);
    }
}

/// Waits until no run of a folder waits for its evaluation.
pub(crate) fn until_evaluated(data: &Path) {
    let db = Connection::open(data.join("queryscope.db")).expect("the database");
    wait_for("the evaluation", || {
        let waiting = db.query_row("SELECT count(*) FROM pending_run", [], |row| row.get(0));
        (waiting.unwrap_or(1_u64) == 0).then_some(())
    });
}

/// What is kept of the evaluation: states, runs and changes, a line each.
fn kept(data: &Path) -> Vec<String> {
    let db = Connection::open(data.join("queryscope.db")).expect("the database");
    let mut lines = Vec::new();
    for sql in [
        "SELECT text || CAST(saved AS TEXT) FROM evaluated_query AS q JOIN term ON term.id = q.label ORDER BY 1",
        "SELECT started_unix_ns || hex(query_id) || hex(features) FROM evaluated_run ORDER BY 1",
        "SELECT id || state || body FROM query_change ORDER BY 1",
    ] {
        let mut statement = db.prepare(sql).expect("a statement");
        let rows = statement.query_map([], |row| row.get::<_, String>(0)).expect("rows");
        lines.extend(rows.map(|row| row.expect("a row")));
    }
    lines
}

fn changes(service: &Service) -> Value {
    service.get("/api/changes?limit=1000").json()
}

/// A folder to which these were posted, and that was left alone; what it answers.
pub(crate) fn undisturbed(data: &Path, batches: &[String]) -> Value {
    let service = Service::start(data);
    post(&service, batches);
    until_evaluated(data);
    let found = changes(&service);
    service.stop();
    let of = |state: &str| {
        let all = found["changes"].as_array().expect("a list");
        all.iter().filter(|change| change["state"] == state).count()
    };
    assert!(of("open") == 2 && of("recovered") == 1, "{found}");
    found
}

fn check(data: &Path) -> String {
    queryscope(["check", "--data", &data.to_string_lossy()]).success()
}

#[test]
fn each_run_is_evaluated_once_however_often_the_service_is_killed() {
    let kills = std::env::var(KILLS).ok().and_then(|text| text.parse().ok()).unwrap_or(5);
    let root = tempfile::tempdir().expect("a folder");
    let [calm, killed] = ["calm", "killed"].map(|name| root.path().join(name));
    let batches = batches(120);
    let expected = undisturbed(&calm, &batches);
    let pieces: Vec<&[String]> = batches.chunks(batches.len().div_ceil(kills)).collect();
    for (n, piece) in pieces.iter().enumerate() {
        let service = Service::start(&killed);
        let (client, token) = (service.client(), service.token.clone());
        // While the first ones are evaluated, the others arrive; a kill comes at any moment of both.
        std::thread::scope(|scope| {
            scope.spawn(move || {
                for batch in *piece {
                    if client.post(&token, batch.as_bytes()).is_err() {
                        return;
                    }
                }
            });
            std::thread::sleep(Duration::from_millis((n as u64 * 379 + 211) % 1_900));
            service.kill();
        });
        // What was not acknowledged is sent again, as a sender does, before what came later.
        let service = Service::start(&killed);
        post(&service, piece);
        std::thread::sleep(Duration::from_millis((n as u64 * 683 + 97) % 1_300));
        service.kill();
    }
    let service = Service::start(&killed);
    until_evaluated(&killed);
    assert_eq!(changes(&service), expected);
    service.stop();
    assert_eq!(kept(&killed), kept(&calm));
    for data in [&calm, &killed] {
        assert!(check(data).ends_with(": sound\n"));
    }
}

/// The issues of a folder with each transition, and of which transitions somebody may be told.
fn transitions(data: &Path) -> Vec<String> {
    let db = Connection::open(data.join("queryscope.db")).expect("the database");
    let sql = "SELECT json_array(i.id, i.kind, i.state, t.number, t.from_state, t.to_state, t.actor, t.reason, \
                   t.change, n.transition) \
               FROM issue AS i JOIN issue_transition AS t ON t.issue = i.number \
               LEFT JOIN notice AS n ON n.issue = i.id AND n.transition = t.number \
               UNION ALL SELECT 'notices ' || count(*) FROM notice ORDER BY 1";
    let mut statement = db.prepare(sql).expect("a statement");
    let rows = statement.query_map([], |row| row.get::<_, String>(0)).expect("rows");
    rows.map(|row| row.expect("a row")).collect()
}

/// A service on a folder whose calls of this name to the log of the store are traced, or bent.
fn traced(data: &Path, call: &str, more: &[&str]) -> Command {
    let of = command();
    let mut traced = Command::new("strace");
    // The tracer is the child: what is started is the service.
    traced.args(["-D", "-f", "-qq", "-P"]).arg(data.join("queryscope.db-wal"));
    traced.args(["-e", &format!("trace={call}"), "-o"]).arg(data.join("trace")).args(more);
    for (name, _) in of.get_envs() {
        traced.env_remove(name);
    }
    traced.arg(of.get_program());
    traced
}

/// What a query's issue goes through is stored by the writes of one transaction for each slice of its runs. The service
/// is killed at writes all over them, and before transactions are durable.
#[test]
fn a_kill_at_any_write_of_an_evaluation_loses_no_transition_and_no_notice() {
    let root = tempfile::tempdir().expect("a folder");
    let [imported, calm, events] = ["imported", "calm", "events.jsonl"].map(|name| root.path().join(name));
    std::fs::write(&events, batches(120).concat()).expect("written");
    // Nothing evaluates what is imported before a service starts.
    queryscope(["import".as_ref(), "--data".as_ref(), imported.as_os_str(), events.as_os_str()]).success();
    copy(&imported, &calm);
    let service = Service::start_as(&mut traced(&calm, "pwrite64,fdatasync", &[]), &calm, &[]);
    until_evaluated(&calm);
    service.stop();
    let expected = transitions(&calm);
    assert!(expected.len() == 5 && expected.concat().contains("regressed"), "{expected:#?}");
    let trace = std::fs::read_to_string(calm.join("trace")).expect("a trace");
    for (call, places) in [("pwrite64", 4), ("fdatasync", 2)] {
        // A count is that of each thread; one writes.
        let calls = trace.lines().filter(|line| line.contains(&format!("{call}("))).count();
        assert!(calls > places, "{trace}");
        for place in 1..=places {
            let data = root.path().join(format!("{call}-{place}"));
            copy(&imported, &data);
            let fault = format!("inject={call}:signal=KILL:when={}", calls * place / (places + 1));
            let serve = ["serve", "--bind", "127.0.0.1:0", "--data"];
            let mut killed = traced(&data, call, &["-e", &fault]);
            let ended = Running::start(killed.args(serve).arg(&data)).wait();
            assert_eq!(ended.status.signal(), Some(9), "{fault}: {ended:?}");
            let service = Service::start(&data);
            until_evaluated(&data);
            service.stop();
            assert_eq!(transitions(&data), expected, "{fault}");
            assert_eq!(kept(&data), kept(&calm), "{fault}");
            assert!(check(&data).ends_with(": sound\n"), "{fault}");
        }
    }
}

/// Whether this collector has evaluated a run.
fn has_evaluated(service: &Service) -> bool {
    let text = String::from_utf8(service.get("/metrics").body).expect("UTF-8");
    let runs = text.lines().find_map(|line| line.strip_prefix("queryscope_evaluation_runs_total "));
    runs.expect("a metric") != "0"
}

fn until_all_evaluated(database: &Database<'_>) {
    wait_within(TAKEN_OVER, "the evaluation", || {
        (database.count("SELECT count(*) FROM pending_run") == 0).then_some(())
    });
}

#[test]
fn of_three_collectors_one_evaluates_and_another_takes_over() {
    let root = tempfile::tempdir().expect("a folder");
    let batches = batches(60);
    let expected = undisturbed(&root.path().join("alone"), &batches);
    let databases = Databases::start();
    let database = databases.make("evaluated");
    let start = |number| collector(root.path(), number, &database.address());
    let mut collectors: Vec<Service> = (0..3).map(start).collect();
    let (first, second) = batches.split_at(batches.len() / 2);
    for (n, batch) in first.iter().enumerate() {
        post(&collectors[n % 3], std::slice::from_ref(batch));
    }
    until_all_evaluated(&database);
    let evaluating: Vec<usize> = (0..3).filter(|&n| has_evaluated(&collectors[n])).collect();
    let [evaluating] = evaluating[..] else { panic!("{evaluating:?} evaluate at once") };
    // It is killed while runs wait for it.
    for (n, batch) in second.iter().enumerate() {
        if n == 10 {
            collectors.remove(evaluating).kill();
        }
        let among = collectors.len();
        post(&collectors[n % among], std::slice::from_ref(batch));
    }
    until_all_evaluated(&database);
    let took_over = collectors.iter().filter(|collector| has_evaluated(collector)).count();
    assert_eq!(took_over, 1);
    collectors.push(start(evaluating));
    for collector in &collectors {
        wait_for("the same answer", || (changes(collector) == expected).then_some(()));
    }
    let runs = database.count("SELECT count(*) FROM evaluated_run");
    assert_eq!(runs, batches.len() as u64);
    let states = |sql: &str| database.sql(sql).lines().map(str::to_owned).collect::<Vec<_>>();
    let stored = states("SELECT convert_from(saved, 'UTF8') FROM evaluated_query ORDER BY 1");
    let alone = kept(&root.path().join("alone"));
    assert!(stored.iter().all(|state| alone.iter().any(|kept| kept.ends_with(state))), "{stored:?}");
    drop(collectors);
    let recordings = root.path().join("recordings");
    let args = ["check", "--database", &database.address(), "--recordings", &recordings.to_string_lossy()];
    assert!(queryscope(args).success().ends_with(": sound\n"));
}
