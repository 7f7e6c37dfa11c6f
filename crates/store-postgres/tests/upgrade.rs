//! Versions that share a database while collectors are replaced one by one: a later one has brought it up to date.

use std::sync::Arc;
use std::time::Duration;

use queryscope_postgres_server::shared;
use queryscope_store::testsuite::{batch, facts, query_id, stream_id};
use queryscope_store::{
    GroupBy, Loss, QueryFilter, RecordingPlace, Sealed, SeqRange, Store, StoreAudit, StoreError,
};
use queryscope_store_postgres::{OpenError, PostgresOptions, PostgresStore};
use tokio_postgres::NoTls;

/// How long anything waited for may take on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);
const LOOK_EVERY: Duration = Duration::from_millis(20);

const FORMAT: i32 = PostgresStore::FORMAT;
/// A step that leaves programs of this version what they need.
const ADDS: (&str, i32) = (include_str!("../testdata/later_adds.sql"), FORMAT);
/// A step after which only programs that know the one before may go on.
const TAKES_AWAY: (&str, i32) = (include_str!("../testdata/later_takes_away.sql"), FORMAT + 1);

async fn open(address: &str) -> Result<PostgresStore, OpenError> {
    PostgresStore::open(address, PostgresOptions::default()).await
}

async fn open_as_later(address: &str, further: &[(&'static str, i32)]) -> Result<PostgresStore, OpenError> {
    PostgresStore::open_as_later(address, PostgresOptions::default(), further).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn earlier_and_later_versions_store_the_same_events_once() {
    let address = shared();
    let earlier = Arc::new(open(&address).await.expect("opens"));
    earlier.commit(batch(1).progress(1, [2]).build()).await.expect("stored");
    // Goes on while the step is taken.
    let busy = Arc::clone(&earlier);
    let busy = tokio::spawn(async move {
        for seq in 3..200 {
            let stored = busy.commit(batch(1).progress(1, [seq]).build()).await;
            assert_eq!(stored.expect("stored").accepted, 1, "seq {seq}");
        }
    });
    let later = open_as_later(&address, &[ADDS]).await.expect("opens");
    busy.await.expect("no panic");
    let sent = batch(1).progress(1, 150..250).finished(2, 250, facts("x")).build();
    assert_eq!(later.commit(sent.clone()).await.expect("stored").accepted, 51);
    assert_eq!(earlier.commit(sent).await.expect("stored").accepted, 0);
    // Also one that is started again.
    let again = open(&address).await.expect("opens");
    again.commit(batch(1).progress(1, [251]).build()).await.expect("stored");
    for store in [&*earlier, &later, &again] {
        let groups = store.all_groups(QueryFilter::default(), GroupBy::Label).await.expect("an answer");
        assert_eq!(groups.iter().map(|group| group.runs).sum::<u64>(), 1);
        assert_eq!(store.streams(None, 9).await.expect("read")[0].seen, [SeqRange { first: 2, last: 251 }]);
        assert_eq!(store.verify().await.expect("judged"), [""; 0]);
    }
}

#[tokio::test]
async fn who_does_not_know_what_is_left_neither_writes_nor_starts() {
    let address = shared();
    let earlier = open(&address).await.expect("opens");
    earlier.commit(batch(1).finished(1, 2, facts("x")).build()).await.expect("stored");
    let later = open_as_later(&address, &[ADDS]).await.expect("opens");
    let last = open_as_later(&address, &[ADDS, TAKES_AWAY]).await.expect("opens");

    let refused = |result: Result<(), StoreError>| {
        let Err(StoreError::Unavailable(error)) = result else { panic!("{result:?}") };
        let says = format!("has format {}, this version knows up to {FORMAT}", FORMAT + 2);
        assert!(error.to_string().contains(&says), "{error}");
    };
    let sent = batch(1).finished(2, 3, facts("x")).build();
    refused(earlier.commit(sent.clone()).await.map(drop));
    refused(earlier.end_silent(i64::MAX).await.map(drop));
    refused(earlier.delete_before(i64::MAX, 1).await.map(drop));
    let path = format!("2026/11/21/{}.jsonl.gz", query_id(1));
    let sealed = Sealed {
        query_id: query_id(1),
        place: RecordingPlace::file(path),
        chunks: Vec::new(),
        replaces: None,
    };
    refused(earlier.seal(vec![sealed]).await.map(drop));
    refused(earlier.unsealed(1).await.map(drop));
    refused(earlier.all_groups(QueryFilter::default(), GroupBy::Label).await.map(drop));

    let found_of = |error: &OpenError| match error {
        OpenError::TooNew { found, known: FORMAT } => Some(*found),
        _ => None,
    };
    let is_too_new = |error: &OpenError| found_of(error) == Some(FORMAT + 2);
    let error = open(&address).await.expect_err("an earlier version");
    assert!(is_too_new(&error), "{error:?}");
    let looks = PostgresOptions { upgrade: false, ..PostgresOptions::default() };
    let error = PostgresStore::open(&address, looks).await.expect_err("an earlier version");
    assert!(is_too_new(&error), "{error:?}");

    assert_eq!(later.commit(sent.clone()).await.expect("stored").accepted, 1);
    assert_eq!(last.commit(sent).await.expect("stored").duplicates, 1);
    open_as_later(&address, &[ADDS]).await.expect("opens");
}

#[tokio::test]
async fn a_step_that_fails_leaves_everything_as_it_was() {
    let address = shared();
    let earlier = open(&address).await.expect("opens");
    open_as_later(&address, &[ADDS, ("ALTER TABLE query DROP COLUMN nonsense", FORMAT + 1)])
        .await
        .expect_err("no such column");
    earlier.commit(batch(1).finished(1, 2, facts("x")).build()).await.expect("stored");
    open_as_later(&address, &[ADDS]).await.expect("the first step was not taken either");
}

#[tokio::test]
async fn a_step_that_has_to_give_way_is_taken_again() {
    let address = shared();
    open(&address).await.expect("opens");
    let (sql, connection) = tokio_postgres::connect(&address, NoTls).await.expect("connects");
    tokio::spawn(connection);
    // What a sequence counts stays counted when the transaction ends.
    sql.batch_execute("CREATE SEQUENCE tries").await.expect("made");
    let step = "DO $$ BEGIN IF nextval('tries') = 1 THEN
        RAISE EXCEPTION 'a reader is in the way' USING ERRCODE = 'deadlock_detected';
    END IF; END $$";
    open_as_later(&address, &[(step, FORMAT)]).await.expect("opens");
    let tries: i64 = sql.query_one("SELECT last_value FROM tries", &[]).await.expect("read").get(0);
    assert_eq!(tries, 2);
}

/// A program that neither makes nor reads copies, as those of the first format.
async fn open_without_copies(address: &str) -> PostgresStore {
    let options = PostgresOptions { answers: false, ..PostgresOptions::default() };
    PostgresStore::open(address, options).await.expect("opens")
}

#[tokio::test]
async fn what_a_program_without_copies_changes_no_start_finds_in_a_copy() {
    let address = shared();
    let earlier = open_without_copies(&address).await;
    // Several segments, which have a handful of rows in a debug build.
    for query in 1..=40 {
        earlier.commit(batch(query).started(query, 2, facts("x")).build()).await.expect("stored");
    }
    let copying = PostgresOptions { copy_every: LOOK_EVERY, ..PostgresOptions::default() };
    let this = PostgresStore::open(&address, copying).await.expect("brings it up to date");
    let (sql, connection) = tokio_postgres::connect(&address, NoTls).await.expect("connects");
    tokio::spawn(connection);
    let again = open_without_copies(&address).await;
    let facets = async |store: &PostgresStore| store.facets(QueryFilter::default()).await.expect("an answer");
    for change in 0..4 {
        let begun = tokio::time::Instant::now();
        let made = "SELECT count(*) FROM segment WHERE first = 0 AND origins IS NOT NULL";
        while sql.query_one(made, &[]).await.expect("read").get::<_, i64>(0) == 0 {
            assert!(begun.elapsed() < PATIENCE, "nothing is copied");
            tokio::time::sleep(LOOK_EVERY).await;
        }
        match change {
            0 => drop(again.commit(batch(3).finished(3, 3, facts("x")).build()).await.expect("stored")),
            1 => drop(earlier.commit(batch(4).finished(4, 3, facts("x")).build()).await.expect("stored")),
            2 => assert_eq!(earlier.end_silent(i64::MAX).await.expect("ended"), 38),
            _ => assert_eq!(again.delete_before(i64::MAX, 1).await.expect("deleted").queries.len(), 1),
        }
        assert_eq!(facets(&open(&address).await.expect("opens")).await, facets(&this).await);
        assert_eq!(this.verify().await.expect("judged"), [""; 0]);
    }
}

#[tokio::test]
async fn losses_are_recorded_once_and_outlive_their_queries() {
    let address = shared();
    let earlier = open_without_copies(&address).await;
    earlier.commit(batch(1).finished(1, 2, facts("x")).build()).await.expect("stored");
    let this = open(&address).await.expect("opens");
    let stream_id = stream_id(1);
    assert_eq!(this.losses(stream_id).await.expect("read"), []);
    let loss = Loss { stream_id, query_id: Some(query_id(1)), events: 2, found_unix_ms: Some(7) };
    this.record_losses(vec![loss, loss]).await.expect("recorded");
    // It goes on, and what it deletes takes nothing of the record.
    earlier.commit(batch(1).finished(2, 3, facts("x")).build()).await.expect("stored");
    let again = open_without_copies(&address).await;
    assert_eq!(again.delete_before(i64::MAX, 9).await.expect("deleted").queries.len(), 2);
    assert_eq!(this.losses(stream_id).await.expect("read"), [loss]);
    assert_eq!(this.verify().await.expect("judged"), [""; 0]);
}

/// The formats before the diagnosis.
const BEFORE: &str = concat!(
    include_str!("../migrations/0001_initial.sql"),
    include_str!("../migrations/0002_status.sql"),
    include_str!("../migrations/0003_segments.sql"),
    include_str!("../migrations/0004_losses.sql"),
    "CREATE TABLE queryscope_format (version integer NOT NULL, usable_from integer NOT NULL);
     INSERT INTO queryscope_format VALUES (1, 1), (2, 1), (3, 1), (4, 1);
     INSERT INTO term (text, folded) VALUES ('default', 'default'), ('localhost', 'localhost'), ('x', 'x');",
);

#[tokio::test]
async fn a_database_of_the_format_before_the_diagnosis_is_brought_up_to_date() {
    let address = shared();
    let (sql, connection) = tokio_postgres::connect(&address, NoTls).await.expect("connects");
    tokio::spawn(connection);
    sql.batch_execute(BEFORE).await.expect("made");
    let sent = batch(1).finished(1, 2, facts("x")).build();
    let stream = "INSERT INTO stream (stream_id, project, process_line) VALUES ($1, 1, $2)";
    sql.execute(stream, &[&stream_id(1).uuid(), &sent.process.line.as_bytes()]).await.expect("stored");
    let query = "INSERT INTO query (id, query_id, stream, project, host, label, status, known, started_unix_ns, wall_ms,
        warnings, events) VALUES (nextval('query_id'), $1, 1, 1, 2, 3, 1, 2, 1000000000, 5, 0, 1)";
    sql.execute(query, &[&query_id(1).uuid()]).await.expect("stored");
    let chunk = "INSERT INTO chunk VALUES (nextval('chunk_id'), 1, 2, 2, $1)";
    sql.execute(chunk, &[&sent.parts[0].gzip]).await.expect("stored");
    sql.execute("INSERT INTO seen VALUES (1, 2, 2)", &[]).await.expect("stored");

    for _ in 0..2 {
        let store = open(&address).await.expect("brings it up to date");
        let found = store.query(query_id(1)).await.expect("read").expect("there");
        assert_eq!((found.label.as_deref(), found.engine_version), (Some("x"), None));
        assert!(!store.is_brought_forward().await.expect("read"), "its run has no features");
        assert_eq!(store.pending_runs(None, 9).await.expect("read"), []);
        assert_eq!(store.commit(sent.clone()).await.expect("stored").accepted, 0);
        assert_eq!(store.verify().await.expect("judged"), [""; 0]);
        store.close().await.expect("closed");
    }
    let store = open(&address).await.expect("opens");
    store.mark_brought_forward().await.expect("noted");
    assert!(store.is_brought_forward().await.expect("read"));
}
