//! Commits that are held open, between what they read and what they write, while others go on.

use std::sync::Arc;
use std::time::Duration;

use queryscope_postgres_server::shared;
use queryscope_store::testsuite::{batch, facts, stream_id};
use queryscope_store::{GroupBy, QueryFilter, Run, Store, StreamBatch};
use queryscope_store_postgres::{PostgresOptions, PostgresStore};
use tokio_postgres::{Client, NoTls};

/// How long anything waited for may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// A commit with a chunk that begins with this seq is held.
const HELD: u64 = 20;

const CLOSE: &str = "
    CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN PERFORM pg_advisory_xact_lock(TG_RELID::bigint); RETURN NEW; END $$;
    CREATE TRIGGER wait BEFORE INSERT ON chunk FOR EACH ROW WHEN (NEW.first_seq = 20) EXECUTE FUNCTION wait();
    SELECT pg_advisory_lock('chunk'::regclass::bigint)";
const OPEN: &str = "SELECT pg_advisory_unlock('chunk'::regclass::bigint)";
const AT_THE_GATE: &str = "
    SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = 'chunk'::regclass AND NOT granted";
const WAITS_FOR: &str = "SELECT FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid))";

/// What holds a commit.
struct Gate(Client);

impl Gate {
    async fn closed(address: &str) -> Self {
        let (client, connection) = tokio_postgres::connect(address, NoTls).await.expect("connects");
        tokio::spawn(connection);
        client.batch_execute(CLOSE).await.expect("closed");
        Self(client)
    }

    /// Waits for a commit to be held; gives back the process that does it.
    async fn reached(&self) -> i32 {
        let mut held = None;
        wait_for("a commit at the gate", async || {
            let rows = self.0.query(AT_THE_GATE, &[]).await.expect("read");
            held = rows.first().map(|row| row.get(0));
            held.is_some()
        })
        .await;
        held.expect("waited for")
    }

    async fn is_waited_for(&self, process: i32) -> bool {
        !self.0.query(WAITS_FOR, &[&process]).await.expect("read").is_empty()
    }

    async fn open(&self) {
        self.0.batch_execute(OPEN).await.expect("open");
    }
}

async fn wait_for(what: &str, mut done: impl AsyncFnMut() -> bool) {
    let begun = tokio::time::Instant::now();
    while !done().await {
        assert!(begun.elapsed() < PATIENCE, "waited in vain for {what}");
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

async fn two(address: &str) -> [Arc<PostgresStore>; 2] {
    let open = async || PostgresStore::open(address, PostgresOptions::default()).await.expect("opens");
    [Arc::new(open().await), Arc::new(open().await)]
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
    seen: Run,
}

#[tokio::test]
async fn who_adds_to_a_stream_waits_for_who_is_adding_to_it() {
    let cases = [
        Case {
            name: "events of no query",
            before: Some(batch(1).loose([19]).build()),
            held: batch(1).progress(1, [HELD]).loose(21..24).build(),
            meanwhile: batch(1).loose(22..26).build(),
            seen: Run { first: 19, last: 25 },
        },
        Case {
            name: "a range that grows at both ends",
            before: Some(batch(1).progress(9, 21..24).build()),
            held: batch(1).progress(1, [HELD]).build(),
            meanwhile: batch(1).progress(2, [24]).build(),
            seen: Run { first: 20, last: 24 },
        },
        Case {
            name: "a new stream",
            before: None,
            held: batch(1).progress(1, [HELD]).loose(21..24).build(),
            meanwhile: batch(1).loose(22..26).build(),
            seen: Run { first: 20, last: 25 },
        },
    ];
    for case in cases {
        waits(case).await;
    }
}

async fn waits(Case { name, before, held, meanwhile, seen }: Case) {
    let address = shared();
    let [one, other] = two(&address).await;
    let mut total = 0;
    if let Some(sent) = &before {
        total += accepted(Arc::clone(&one), sent.clone()).await;
    }
    let gate = Gate::closed(&address).await;
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
async fn a_commit_that_takes_long_is_heard_of_when_others_overtook_it() {
    let address = shared();
    let [one, other] = two(&address).await;
    let gate = Gate::closed(&address).await;
    // It has its number when it is held.
    let late = tokio::spawn(accepted(one, batch(1).finished(1, HELD, facts("late")).build()));
    gate.reached().await;
    let labels = async || -> Vec<String> {
        let groups = other.groups(QueryFilter::default(), GroupBy::Label).await.expect("an answer");
        groups.into_iter().map(|group| group.key).collect()
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
