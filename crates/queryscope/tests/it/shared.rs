//! Several collectors on one PostgreSQL: whichever of them, of its connections, and whether it fails itself, nothing
//! that was acknowledged is lost and nothing is stored twice.

use std::path::{Path, PathBuf};
use std::thread::scope;
use std::time::Duration;

use queryscope_postgres_server::Server;
use queryscope_torture::Traffic;
use uuid::Uuid;

use crate::common::events::Stream;
use crate::common::{Service, queryscope, wait_within};

const SEED: u64 = 9;
pub(crate) const TOKEN: &str = "qs_test_of_several_collectors";
const COLLECTORS: usize = 3;
/// Answers between two failures.
const ANSWERS: u64 = 60;
const PAUSE: Duration = Duration::from_millis(2);
/// How long a database may take to recover, and collectors to find it again.
const RECOVERED_WITHIN: Duration = Duration::from_secs(40);

const CUT_CONNECTIONS: &str = "
    SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'queryscope'";

/// Starts a collector; those of one test share the database and the recordings.
pub(crate) fn collector(folder: &Path, number: usize, database: &str) -> Service {
    let data = folder.join(format!("node-{number}"));
    std::fs::create_dir_all(&data).expect("a folder");
    std::fs::write(data.join("token"), TOKEN).expect("a file");
    let recordings = folder.join("recordings");
    let recordings = recordings.to_str().expect("a text");
    let shared = ["--database", database, "--recordings", recordings, "--token", TOKEN];
    Service::start_with(&data, &shared)
}

pub(crate) fn more_answers(traffic: &Traffic) {
    let before = traffic.answered();
    wait_within(RECOVERED_WITHIN, "answers", || (traffic.answered() >= before + ANSWERS).then_some(()));
}

#[test]
fn nothing_is_lost_or_doubled_whatever_fails() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut postgres = Server::start(&[]);
    postgres.run("CREATE SCHEMA shared");
    let database = postgres.address("shared");
    let traffic = Traffic::new(folder.path(), SEED);
    let start = |number| collector(folder.path(), number, &database);
    scope(|scope| {
        // Killed when this ends, however it does: the senders end with them.
        let mut collectors: Vec<Service> = (0..COLLECTORS).map(start).collect();
        let send = |collector: &Service, seed| traffic.send(scope, &collector.address(), seed, PAUSE);
        for (number, collector) in collectors.iter().enumerate() {
            send(collector, number as u64);
        }
        more_answers(&traffic);
        for round in 0..COLLECTORS {
            let killed = collectors.remove(0);
            killed.kill();
            more_answers(&traffic);
            collectors.push(start(round));
            send(&collectors[COLLECTORS - 1], 100 + round as u64);
            assert_ne!(postgres.run(CUT_CONNECTIONS), "0");
            more_answers(&traffic);
        }
        postgres.crash();
        let refused = traffic.refused();
        wait_within(RECOVERED_WITHIN, "refusals", || (traffic.refused() > refused).then_some(()));
        wait_within(RECOVERED_WITHIN, "health to say so", || {
            let health = collectors[0].get("/v1/health");
            assert_eq!(health.status, 200);
            (health.json()["state"] == "degraded").then_some(())
        });
        postgres.resume();
        more_answers(&traffic);
    });
    assert!(traffic.unanswered() > 0 && traffic.refused() > 0, "{}", traffic.requests());

    let collectors: Vec<Service> = (0..COLLECTORS).map(start).collect();
    traffic.finish(&collectors[0].address());
    for collector in &collectors {
        traffic.compare(&collector.address());
    }
    let (queries, events, streams) = traffic.totals();
    println!("{}; {queries} queries, {events} events, {streams} streams", traffic.requests());
    let found = collectors[1].get("/api/facets").json();
    let counted: u64 =
        found["status"].as_array().expect("facets").iter().filter_map(|value| value["runs"].as_u64()).sum();
    assert_eq!(counted, queries as u64, "{found}");

    let recordings = folder.path().join("recordings");
    let mut check: Vec<PathBuf> = ["check", "--database", &database, "--recordings"].map(Into::into).into();
    check.push(recordings);
    for log in traffic.acknowledged() {
        check.extend(["--acknowledged".into(), log]);
    }
    let checked = queryscope(&check).success();
    let total = checked.lines().last().expect("a total");
    let stored = format!("{queries} queries, {events} events, {streams} streams, ");
    assert!(total.starts_with(&stored) && total.ends_with(": sound"), "{checked}");
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
