//! Several collectors on one PostgreSQL and one bucket: whichever of them, of their connections, and whether those two
//! fail themselves, nothing that was acknowledged is lost and nothing is stored twice.

use std::path::Path;
use std::process::Command;
use std::thread::scope;
use std::time::Duration;

use queryscope_bucket_server::{BUCKET, BucketServer, Fault};
use queryscope_postgres_server::Server;
use queryscope_torture::Traffic;
use serde_json::Value;
use uuid::Uuid;

use crate::common::events::Stream;
use crate::common::{Running, Service, command, queryscope, wait_for};

const SEED: u64 = 9;
pub(crate) const TOKEN: &str = "qs_test_of_several_collectors";
const COLLECTORS: usize = 3;
/// Answers between two failures.
const ANSWERS: u64 = 60;
/// Checks of what is written to meanwhile.
const CHECKS: usize = 2;
const PAUSE: Duration = Duration::from_millis(2);

const CUT_CONNECTIONS: &str = "
    SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'queryscope'";

/// How a bucket fails while one collector after the other is killed.
const BUCKET_FAULTS: [Fault; COLLECTORS] = [Fault::SlowDown, Fault::Silent, Fault::Cut];

/// Starts a collector; those of one test share the database and the recordings.
pub(crate) fn collector(folder: &Path, number: usize, database: &str) -> Service {
    let recordings = folder.join("recordings");
    start(&mut command(), folder, number, database, recordings.to_str().expect("a text"))
}

fn start(command: &mut Command, folder: &Path, number: usize, database: &str, recordings: &str) -> Service {
    let data = folder.join(format!("node-{number}"));
    std::fs::create_dir_all(&data).expect("a folder");
    std::fs::write(data.join("token"), TOKEN).expect("a file");
    let shared = ["--database", database, "--recordings", recordings, "--token", TOKEN];
    Service::start_as(command, &data, &shared)
}

pub(crate) fn more_answers(traffic: &Traffic) {
    let before = traffic.answered();
    wait_for("answers", || (traffic.answered() >= before + ANSWERS).then_some(()));
}

#[test]
fn nothing_is_lost_or_doubled_whatever_fails() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut postgres = Server::start(&[]);
    postgres.run("CREATE SCHEMA shared");
    let database = postgres.address("shared");
    let mut bucket = BucketServer::start();
    let variables = bucket.variables();
    let allowed = || {
        let mut command = command();
        command.envs(variables.clone());
        command
    };
    let recordings = format!("s3://{BUCKET}/of/a/service");
    let traffic = Traffic::new(folder.path(), SEED);
    let start = |number| start(&mut allowed(), folder.path(), number, &database, &recordings);
    scope(|scope| {
        // Killed when this ends, however it does: the senders end with them.
        let mut collectors: Vec<Service> = (0..COLLECTORS).map(start).collect();
        let send = |collector: &Service, seed| traffic.send(scope, &collector.address(), seed, PAUSE);
        for (number, collector) in collectors.iter().enumerate() {
            send(collector, number as u64);
        }
        more_answers(&traffic);
        for (round, fault) in BUCKET_FAULTS.into_iter().enumerate() {
            bucket.fail(fault);
            let killed = collectors.remove(0);
            killed.kill();
            more_answers(&traffic);
            collectors.push(start(round));
            send(&collectors[COLLECTORS - 1], 100 + round as u64);
            assert_ne!(postgres.run(CUT_CONNECTIONS), "0");
            more_answers(&traffic);
        }
        bucket.stop();
        more_answers(&traffic);
        postgres.crash();
        let refused = traffic.refused();
        wait_for("refusals", || (traffic.refused() > refused).then_some(()));
        wait_for("health to say so", || {
            let health = collectors[0].get("/v1/health");
            assert_eq!(health.status, 200);
            let health = health.json();
            let said = |reason: &Value| reason.as_str().is_some_and(|reason| reason.starts_with("the store"));
            (health["state"] == "degraded" && health["reasons"].as_array()?.iter().any(said)).then_some(())
        });
        postgres.resume();
        more_answers(&traffic);
    });
    bucket.fail(None);
    bucket.start_again();
    assert!(traffic.unanswered() > 0 && traffic.refused() > 0, "{}", traffic.requests());

    let collectors: Vec<Service> = (0..COLLECTORS).map(start).collect();
    traffic.finish(&collectors[0].address());
    traffic.compare(&collectors[2].address());
    let (queries, events, streams) = traffic.totals();
    println!("{}; {queries} queries, {events} events, {streams} streams", traffic.requests());
    let found = collectors[1].get("/api/facets").json();
    let counted: u64 =
        found["status"].as_array().expect("facets").iter().filter_map(|value| value["runs"].as_u64()).sum();
    assert_eq!(counted, queries as u64, "{found}");

    // What a collector that was killed had taken is another's only minutes later; until then it is chunks.
    wait_for("a recording", || (!bucket.names().is_empty()).then_some(()));
    let mut check = allowed();
    check.args(["check", "--database", &database, "--recordings", &recordings]);
    for log in traffic.acknowledged() {
        check.arg("--acknowledged").arg(log);
    }
    let checked = Running::start(&mut check).wait().success();
    let total = checked.lines().last().expect("a total");
    let stored = format!("{queries} queries, {events} events, {streams} streams, ");
    assert!(total.starts_with(&stored) && total.ends_with(": sound"), "{checked}");
}

#[test]
fn what_is_written_to_while_it_is_checked_is_sound() {
    let folder = tempfile::tempdir().expect("a folder");
    let database = queryscope_postgres_server::shared();
    let traffic = Traffic::new(folder.path(), SEED);
    let recordings = folder.path().join("recordings");
    scope(|scope| {
        let collector = collector(folder.path(), 0, &database);
        traffic.send(scope, &collector.address(), SEED, PAUSE);
        for _ in 0..CHECKS {
            more_answers(&traffic);
            let place = recordings.to_str().expect("a text");
            let checked = queryscope(["check", "--database", &database, "--recordings", place]).success();
            assert!(checked.ends_with(": sound\n"), "{checked}");
        }
    });
}

#[test]
fn a_token_of_the_database_works_at_every_collector() {
    let folder = tempfile::tempdir().expect("a folder");
    let database = queryscope_postgres_server::shared();
    let made = queryscope(["token", "add", "nightly", "--project", "etl", "--database", &database]).success();
    let collectors: Vec<Service> = (0..2).map(|number| collector(folder.path(), number, &database)).collect();
    let mut stream = Stream::new();
    let query = Uuid::now_v7();
    let event = stream.finished(query, "load");
    let batch = stream.batch(&[event]);
    let answers: Vec<_> =
        collectors.iter().map(|collector| collector.post_as(made.trim_end(), &batch).counts()).collect();
    assert_eq!(answers, [(1, 0), (0, 1)], "the same batch to both");
    for collector in &collectors {
        assert_eq!(collector.queries("project=etl")[0]["label"], "load");
        assert_eq!(collector.recording(query).expect("a recording").len(), 2);
    }
    queryscope(["token", "revoke", "nightly", "--database", &database]).success();
    assert_eq!(queryscope(["token", "list", "--database", &database]).success(), "");
}
