//! Commits that are held open, between what they read and what they write, while others go on.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use queryscope_postgres_server::{Server, shared};
use queryscope_store::testsuite::{batch, facts, stream_id};
use queryscope_store::{Deleted, GroupBy, QueryFilter, SeqRange, Store, StoreAudit, StreamBatch};
use queryscope_store_postgres::{PostgresOptions, PostgresStore};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio_postgres::{AsyncMessage, Client, NoTls};

/// How long anything waited for may take on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// A commit with a chunk that begins with this seq is held at [`CHUNKS`].
const HELD: u64 = 20;
const CHUNKS: (&str, &str) = ("chunk", "NEW.first_seq = 20");

const AT_THE_GATE: &str = "
    SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = $1::text::regclass AND NOT granted";
const WAITS_FOR: &str = "SELECT FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid))";

/// What holds a commit that puts a certain row into a table.
struct Gate {
    sql: Client,
    table: &'static str,
}

impl Gate {
    async fn closed(address: &str, (table, row): (&'static str, &str)) -> Self {
        let (sql, connection) = tokio_postgres::connect(address, NoTls).await.expect("connects");
        tokio::spawn(connection);
        let close = format!(
            "CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS
                 $$ BEGIN PERFORM pg_advisory_xact_lock(TG_RELID::bigint); RETURN NEW; END $$;
             CREATE TRIGGER wait BEFORE INSERT ON {table} FOR EACH ROW WHEN ({row}) EXECUTE FUNCTION wait();
             SELECT pg_advisory_lock('{table}'::regclass::bigint)"
        );
        sql.batch_execute(&close).await.expect("closed");
        Self { sql, table }
    }

    /// Waits for a commit to be held; gives back the process that does it.
    async fn reached(&self) -> i32 {
        let mut held = None;
        wait_for("a commit at the gate", async || {
            let rows = self.sql.query(AT_THE_GATE, &[&self.table]).await.expect("read");
            held = rows.first().map(|row| row.get(0));
            held.is_some()
        })
        .await;
        held.expect("waited for")
    }

    async fn is_waited_for(&self, process: i32) -> bool {
        !self.sql.query(WAITS_FOR, &[&process]).await.expect("read").is_empty()
    }

    async fn open(&self) {
        let open = format!("SELECT pg_advisory_unlock('{}'::regclass::bigint)", self.table);
        self.sql.batch_execute(&open).await.expect("open");
    }
}

async fn wait_for(what: &str, mut done: impl AsyncFnMut() -> bool) {
    let begun = tokio::time::Instant::now();
    while !done().await {
        assert!(begun.elapsed() < PATIENCE, "waited in vain for {what}");
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

async fn open(address: &str) -> Arc<PostgresStore> {
    Arc::new(PostgresStore::open(address, PostgresOptions::default()).await.expect("opens"))
}

async fn accepted(store: Arc<PostgresStore>, sent: StreamBatch) -> u64 {
    store.commit(sent).await.expect("stored").accepted
}

/// What is sent to one stream.
struct Case {
    name: &'static str,
    before: Option<StreamBatch>,
    held: StreamBatch,
    meanwhile: StreamBatch,
    /// All that was sent.
    seen: SeqRange,
}

#[tokio::test]
async fn who_adds_to_a_stream_waits_for_who_is_adding_to_it() {
    let cases = [
        Case {
            name: "events of no query",
            before: Some(batch(1).loose([19]).build()),
            held: batch(1).progress(1, [HELD]).loose(21..24).build(),
            meanwhile: batch(1).loose(22..26).build(),
            seen: SeqRange { first: 19, last: 25 },
        },
        Case {
            name: "a range that grows at both ends",
            before: Some(batch(1).progress(9, 21..24).build()),
            held: batch(1).progress(1, [HELD]).build(),
            meanwhile: batch(1).progress(2, [24]).build(),
            seen: SeqRange { first: 20, last: 24 },
        },
        Case {
            name: "a new stream",
            before: None,
            held: batch(1).progress(1, [HELD]).loose(21..24).build(),
            meanwhile: batch(1).loose(22..26).build(),
            seen: SeqRange { first: 20, last: 25 },
        },
    ];
    for case in cases {
        waits(case).await;
    }
}

async fn waits(Case { name, before, held, meanwhile, seen }: Case) {
    let address = shared();
    let [one, other] = [open(&address).await, open(&address).await];
    let mut total = 0;
    if let Some(sent) = &before {
        total += accepted(Arc::clone(&one), sent.clone()).await;
    }
    let gate = Gate::closed(&address, CHUNKS).await;
    let first = tokio::spawn(accepted(Arc::clone(&one), held.clone()));
    let process = gate.reached().await;
    let second = tokio::spawn(accepted(Arc::clone(&other), meanwhile.clone()));
    wait_for(name, async || second.is_finished() || gate.is_waited_for(process).await).await;
    gate.open().await;
    total += first.await.expect("no panic") + second.await.expect("no panic");
    assert_eq!(total, seen.last - seen.first + 1, "{name}: each is accepted once");
    for again in before.into_iter().chain([held, meanwhile]) {
        assert_eq!(accepted(Arc::clone(&one), again).await, 0, "{name}: all were seen");
    }
    let streams = other.streams(None, 9).await.expect("read");
    assert_eq!(streams[0].stream_id, stream_id(1));
    assert_eq!(streams[0].seen, [seen], "{name}");
    assert_eq!(other.verify().await.expect("judged"), [""; 0], "{name}");
}

#[tokio::test]
async fn what_is_being_added_to_is_not_silent() {
    let address = shared();
    let [one, other] = [open(&address).await, open(&address).await];
    let heard = |seq, unix_ms| batch(1).progress(1, [seq]).received(unix_ms).build();
    accepted(Arc::clone(&one), heard(2, 1_000)).await;
    let gate = Gate::closed(&address, ("running", "NEW.heard_unix_ms = 2000")).await;
    let held = tokio::spawn(accepted(Arc::clone(&one), heard(3, 2_000)));
    gate.reached().await;
    assert_eq!(other.end_silent(1_500).await.expect("judged"), 0);
    gate.open().await;
    held.await.expect("no panic");
    assert_eq!(other.end_silent(1_500).await.expect("judged"), 0);
    assert_eq!(other.end_silent(2_500).await.expect("judged"), 1);
    assert_eq!(other.verify().await.expect("judged"), [""; 0]);
}

#[tokio::test]
async fn who_hears_of_all_runs_while_some_are_added_to_tries_again() {
    let address = shared();
    let [one, other] = [open(&address).await, open(&address).await];
    accepted(Arc::clone(&one), batch(1).progress(1, [2]).progress(2, [3]).received(1_000).build()).await;
    // The second query is locked before the first, whose row is written, too.
    let gate = Gate::closed(&address, ("running", "NEW.events = 0")).await;
    // Of the two that wait for each other, PostgreSQL ends either: at last both were heard of at the same time.
    let both = batch(1).started(1, 4, facts("x")).progress(2, [5]).received(3_000).build();
    let held = tokio::spawn(accepted(one, both));
    let process = gate.reached().await;
    let heard = Arc::clone(&other);
    let heard = tokio::spawn(async move { heard.refresh_running(3_000).await });
    wait_for("the second query", async || heard.is_finished() || gate.is_waited_for(process).await).await;
    gate.open().await;
    assert_eq!(held.await.expect("no panic"), 2);
    heard.await.expect("no panic").expect("heard");
    assert_eq!(other.end_silent(3_000).await.expect("judged"), 0);
    assert_eq!(other.end_silent(3_001).await.expect("judged"), 2);
}

#[tokio::test]
async fn retention_passes_over_a_stream_that_is_added_to() {
    let address = shared();
    let [one, other] = [open(&address).await, open(&address).await];
    accepted(Arc::clone(&one), batch(1).finished(1, 2, facts("x")).build()).await;
    let gate = Gate::closed(&address, CHUNKS).await;
    let held = tokio::spawn(accepted(Arc::clone(&one), batch(1).progress(2, [HELD]).build()));
    gate.reached().await;
    assert_eq!(other.delete_before(i64::MAX, 9).await.expect("looked"), Deleted::default());
    gate.open().await;
    held.await.expect("no panic");
    assert_eq!(other.delete_before(i64::MAX, 9).await.expect("deleted").queries.len(), 1);
    assert_eq!(other.verify().await.expect("judged"), [""; 0]);
}

#[tokio::test]
async fn a_later_version_waits_for_who_is_adding_before_it_changes_anything() {
    let address = shared();
    let store = open(&address).await;
    let gate = Gate::closed(&address, CHUNKS).await;
    let held = tokio::spawn(accepted(store, batch(1).progress(1, [HELD]).build()));
    let process = gate.reached().await;
    let later = tokio::spawn(async move {
        PostgresStore::open_as_later(
            &address,
            PostgresOptions::default(),
            &[("SELECT 1", PostgresStore::FORMAT)],
        )
        .await
    });
    wait_for("the step", async || later.is_finished() || gate.is_waited_for(process).await).await;
    assert!(!later.is_finished(), "it does not wait");
    gate.open().await;
    held.await.expect("no panic");
    later.await.expect("no panic").expect("opens");
}

#[tokio::test]
async fn a_batch_that_can_not_be_stored_costs_those_beside_it_nothing() {
    let address = shared();
    let one_writer = PostgresOptions { writers: 1, ..PostgresOptions::default() };
    let store = Arc::new(PostgresStore::open(&address, one_writer).await.expect("opens"));
    accepted(Arc::clone(&store), batch(1).progress(1, [2]).build()).await;
    let mut damaged = batch(1).progress(1, [2, 3]).build();
    damaged.parts[0].gzip = b"x".to_vec();
    let sound = batch(2).progress(2, [5]).build();
    let gate = Gate::closed(&address, CHUNKS).await;
    let held = tokio::spawn(accepted(Arc::clone(&store), batch(3).progress(3, [HELD]).build()));
    gate.reached().await;
    // Both wait for the writer, and so are of one group.
    let (damaged, sound, ()) = tokio::join!(store.commit(damaged), store.commit(sound), gate.open());
    held.await.expect("no panic");
    assert!(damaged.is_err(), "{damaged:?}");
    assert_eq!(sound.expect("stored").accepted, 1);
}

#[tokio::test]
async fn a_commit_that_takes_long_is_heard_of_when_others_overtook_it() {
    let address = shared();
    let [one, other] = [open(&address).await, open(&address).await];
    let gate = Gate::closed(&address, CHUNKS).await;
    // It has its number when it is held.
    let late = tokio::spawn(accepted(one, batch(1).finished(1, HELD, facts("late")).build()));
    gate.reached().await;
    let labels = async || -> Vec<String> {
        let groups = other.all_groups(QueryFilter::default(), GroupBy::Label).await.expect("an answer");
        groups.into_iter().map(|group| group.key.into_owned()).collect()
    };
    for number in 2..5 {
        accepted(Arc::clone(&other), batch(number).finished(number, 3, facts("soon")).build()).await;
        assert_eq!(labels().await, ["soon"]);
    }
    gate.open().await;
    late.await.expect("no panic");
    let mut all = labels().await;
    all.sort_unstable();
    assert_eq!(all, ["late", "soon"]);
}

#[tokio::test]
async fn a_hint_is_given_after_the_commit() {
    // Hints reach all who use a database: here nobody else does.
    let server = Server::start(&[]);
    server.run("CREATE SCHEMA alone");
    let address = server.address("alone");
    let store = open(&address).await;
    let (sql, mut hints) = listen(&address).await;
    accepted(Arc::clone(&store), batch(1).progress(1, [2]).build()).await;
    next(&mut hints).await;

    let gate = Gate::closed(&address, CHUNKS).await;
    let held = tokio::spawn(accepted(Arc::clone(&store), batch(1).progress(1, [HELD]).build()));
    gate.reached().await;
    sql.batch_execute("NOTIFY queryscope_commit, 'held'").await.expect("told");
    assert_eq!(next(&mut hints).await, "held");
    gate.open().await;
    held.await.expect("no panic");
    assert_ne!(next(&mut hints).await, "held");
}

/// The hints that are given from now on.
async fn listen(address: &str) -> (Client, UnboundedReceiver<String>) {
    let (client, mut connection) = tokio_postgres::connect(address, NoTls).await.expect("connects");
    let (told, hints) = unbounded_channel();
    tokio::spawn(async move {
        while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
            if let AsyncMessage::Notification(hint) = message {
                let _ = told.send(hint.payload().to_owned());
            }
        }
    });
    client.batch_execute("LISTEN queryscope_commit").await.expect("listens");
    (client, hints)
}

async fn next(hints: &mut UnboundedReceiver<String>) -> String {
    tokio::time::timeout(PATIENCE, hints.recv()).await.expect("a hint").expect("a connection")
}
