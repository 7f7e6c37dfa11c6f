//! Several stores on one database: what collectors on several machines are.

use std::sync::Arc;
use std::time::Duration;

use queryscope_postgres_server::{Server, shared};
use queryscope_protocol::QueryId;
use queryscope_store::testsuite::{batch, facts, query_id, stream_id};
use queryscope_store::{
    Facts, GroupBy, Heard, Is, ListRequest, Order, QueryFilter, RecordingPlace, Sealed, SeqRange, Status,
    Store, StoreAudit, StoreError,
};
use queryscope_store_postgres::{PostgresOptions, PostgresStore};

/// How long anything waited for may take on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);
const LOOK_EVERY: Duration = Duration::from_millis(50);

async fn open(address: &str) -> Arc<dyn StoreAudit> {
    Arc::new(PostgresStore::open(address, PostgresOptions::default()).await.expect("opens"))
}

async fn two() -> [Arc<dyn StoreAudit>; 2] {
    let address = shared();
    [open(&address).await, open(&address).await]
}

fn finished(label: &str) -> Facts {
    Facts { fingerprint: Some("p".into()), ..facts(label) }
}

/// The queries of a label and a plan, which are found by columns, the newest first.
async fn listed(store: &Arc<dyn StoreAudit>, label: &str) -> Vec<QueryId> {
    let filter = QueryFilter {
        label: Some(Is::Value(label.into())),
        fingerprint: Some(Is::Value("p".into())),
        ..QueryFilter::default()
    };
    let request =
        ListRequest { filter, sort: None, order: Order::Newest, after: None, offset: 0, limit: 100 };
    let listed = store.queries(request).await.expect("read");
    listed.into_iter().map(|listed| listed.query.query_id).collect()
}

#[tokio::test]
async fn what_one_acknowledged_every_other_lists() {
    let [one, other] = two().await;
    // The columns of both are there.
    assert_eq!((labels(&one).await, labels(&other).await), (vec![], vec![]));
    for turn in (1..=40).step_by(2) {
        one.commit(batch(1).finished(turn, turn, finished("x")).build()).await.expect("stored");
        let newest = listed(&other, "x").await;
        assert_eq!((newest.len() as u64, newest[0]), (turn, query_id(turn)));
        other.commit(batch(1).finished(turn + 1, turn + 1, finished("x")).build()).await.expect("stored");
        let newest = listed(&one, "x").await;
        assert_eq!((newest.len() as u64, newest[0]), (turn + 1, query_id(turn + 1)));
    }
    one.delete_before(i64::MAX, 30).await.expect("deleted");
    assert_eq!(listed(&other, "x").await.len(), 10);
}

#[tokio::test]
async fn lists_of_several_fields_come_from_the_columns() {
    let address = shared();
    let store = open(&address).await;
    store.commit(batch(1).finished(1, 1, finished("x")).build()).await.expect("stored");
    assert_eq!(labels(&store).await, [("x".into(), 1)]);
    // Nobody is told of it.
    let sql = connect(&address).await;
    let added = "
        INSERT INTO query (id, query_id, stream, project, host, label, fingerprint, status, known,
            started_unix_ns, warnings, events)
        SELECT nextval('query_id'), gen_random_uuid(), stream, project, host, label, fingerprint, status, known,
            started_unix_ns, warnings, 0
        FROM query";
    assert_eq!(sql.execute(added, &[]).await.expect("written"), 1);
    assert_eq!(listed(&store, "x").await, [query_id(1)]);
}

#[tokio::test]
async fn who_has_no_columns_lists_the_same() {
    let address = shared();
    let one = open(&address).await;
    let options = PostgresOptions { answers: false, ..PostgresOptions::default() };
    let without: Arc<dyn StoreAudit> = Arc::new(PostgresStore::open(&address, options).await.expect("opens"));
    for query in 1..=20 {
        let label = if query % 3 == 0 { "x" } else { "y" };
        one.commit(batch(1).finished(query, query, finished(label)).build()).await.expect("stored");
        assert_eq!(listed(&without, "x").await, listed(&one, "x").await);
    }
    assert_eq!(listed(&without, "x").await.len(), 6);
}

#[tokio::test]
async fn what_one_acknowledged_every_other_answers() {
    let [one, other] = two().await;
    for turn in 1..=20 {
        one.commit(batch(1).finished(turn, turn, finished("x")).build()).await.expect("stored");
        let groups = other.all_groups(QueryFilter::default(), GroupBy::Label).await.expect("an answer");
        assert_eq!(groups.iter().map(|group| group.runs).collect::<Vec<_>>(), [turn]);
    }
    one.delete_before(i64::MAX, 100).await.expect("deleted");
    assert_eq!(other.versions(QueryFilter::default()).await.expect("an answer"), []);
    assert_eq!(other.tokens().await.expect("read"), []);
}

#[tokio::test]
async fn a_follower_hears_of_all_commits_in_the_order_of_each_query() {
    let [one, other] = two().await;
    let mut commits = other.commits();
    one.commit(batch(1).progress(1, [2]).build()).await.expect("stored");
    other.commit(batch(1).finished(1, 3, facts("x")).build()).await.expect("stored");
    let mut told = Vec::new();
    while told.len() < 2 {
        match tokio::time::timeout(PATIENCE, commits.next()).await.expect("told") {
            Some(Heard::Changes(changes)) => told.extend(changes.iter().cloned()),
            other => panic!("{other:?}"),
        }
    }
    assert!(told[0].new.is_some() && told[1].new.is_none());
    assert_eq!(told[1].status, Status::Finished);
    let chunks = told.iter().map(|change| change.chunk.expect("events").id).collect();
    assert!(other.chunks(chunks).await.expect("read").iter().all(Option::is_some));
    assert_eq!(commits.try_next(), None, "each is told once");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_events_sent_to_all_at_once_are_stored_once() {
    let [one, other] = two().await;
    let mut tasks = Vec::new();
    for turn in 0..60_u64 {
        let store = Arc::clone(if turn % 2 == 0 { &one } else { &other });
        // Each overlaps the ones before and after, and two streams take turns.
        let (stream, first) = (1 + turn / 2 % 2, 2 + turn / 4 * 3);
        let sent = batch(stream).progress(stream, first..first + 10).build();
        tasks.push(tokio::spawn(async move { store.commit(sent).await }));
    }
    let mut accepted = 0;
    for task in tasks {
        accepted += task.await.expect("no panic").expect("stored").accepted;
    }
    let last = 2 + 14 * 3 + 9;
    assert_eq!(accepted, 2 * (last - 1));
    for seen in other.streams(None, 10).await.expect("read") {
        assert_eq!(seen.seen, [SeqRange { first: 2, last }], "{:?}", seen.stream_id);
    }
    assert_eq!(one.verify().await.expect("judged"), [""; 0]);
    assert!(other.streams(Some(stream_id(9)), 10).await.expect("read").is_empty());
}

#[tokio::test]
async fn a_query_is_sealed_by_one_at_a_time() {
    let [one, other] = two().await;
    for query in 1..=3 {
        one.commit(batch(1).finished(query, query, facts("x")).build()).await.expect("stored");
    }
    assert_eq!(one.unsealed(2).await.expect("taken"), [query_id(1), query_id(2)]);
    // Those before do not keep it from this one.
    assert_eq!(other.unsealed(1).await.expect("taken"), [query_id(3)]);
    one.close().await.expect("closed");
    assert_eq!(other.unsealed(9).await.expect("taken"), [1, 2, 3].map(query_id), "what it held is free");
}

#[tokio::test]
async fn a_database_that_goes_away_is_found_again() {
    let mut server = Server::start(&[]);
    server.run("CREATE SCHEMA s");
    let store = open(&server.address("s")).await;
    let all = || store.all_groups(QueryFilter::default(), GroupBy::Label);
    store.commit(batch(1).finished(1, 2, facts("x")).build()).await.expect("stored");
    server.crash();
    let refused = store.commit(batch(1).finished(2, 3, facts("x")).build()).await;
    assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
    assert!(store.engines().await.is_err());
    // Answers from memory end once the connection that follows the database is found to be gone.
    let begun = tokio::time::Instant::now();
    while all().await.is_ok() {
        assert!(begun.elapsed() < PATIENCE, "it is not missed");
        tokio::time::sleep(LOOK_EVERY).await;
    }
    server.resume();
    let begun = tokio::time::Instant::now();
    while store.commit(batch(1).finished(2, 3, facts("x")).build()).await.is_err() {
        assert!(begun.elapsed() < PATIENCE, "it is not found");
        tokio::time::sleep(LOOK_EVERY).await;
    }
    while all().await.is_err() {
        assert!(begun.elapsed() < PATIENCE, "it is not followed");
        tokio::time::sleep(LOOK_EVERY).await;
    }
    assert_eq!(all().await.expect("an answer")[0].runs, 2);
}

#[tokio::test]
async fn what_a_collector_took_and_never_sealed_is_anothers_in_the_end() {
    let address = shared();
    let [one, other] = [open(&address).await, open(&address).await];
    one.commit(batch(1).finished(1, 2, facts("x")).build()).await.expect("stored");
    assert_eq!(one.unsealed(9).await.expect("taken"), [query_id(1)]);
    assert_eq!(other.unsealed(9).await.expect("taken"), []);
    let sql = connect(&address).await;
    sql.batch_execute("UPDATE sealing SET until = now() - interval '1 second'").await.expect("written");
    assert_eq!(other.unsealed(9).await.expect("taken"), [query_id(1)]);
    assert_eq!(one.unsealed(9).await.expect("taken"), []);
}

#[tokio::test]
async fn what_a_collector_sealed_it_no_longer_holds() {
    let [one, other] = two().await;
    one.commit(batch(1).finished(1, 2, facts("x")).build()).await.expect("stored");
    assert_eq!(one.unsealed(9).await.expect("taken"), [query_id(1)]);
    let parts = one.recording(query_id(1)).await.expect("a store").expect("a query");
    let path = parts.query.recording().expect("ended");
    let chunks = parts.chunks.iter().map(|chunk| chunk.id).collect();
    let sealed = Sealed { query_id: query_id(1), place: RecordingPlace::file(path), replaces: None, chunks };
    assert_eq!(one.seal(vec![sealed]).await.expect("sealed"), [""; 0]);
    one.commit(batch(1).progress(1, [3]).build()).await.expect("stored");
    assert_eq!(other.unsealed(9).await.expect("taken"), [query_id(1)], "its late event is anybody's");
}

/// Queries of several segments, which have a handful of rows in a debug build.
const QUERIES: u64 = 40;

/// A collector that copies soon.
async fn open_copying(address: &str) -> Arc<dyn StoreAudit> {
    let options = PostgresOptions { copy_every: LOOK_EVERY, ..PostgresOptions::default() };
    Arc::new(PostgresStore::open(address, options).await.expect("opens"))
}

/// Waits until a copy is made of the segment of the first query, or it is gone.
async fn wait_for_first_copy(sql: &tokio_postgres::Client, there: bool) {
    let made = "SELECT count(*) FROM segment WHERE first = 0 AND origins IS NOT NULL";
    let begun = tokio::time::Instant::now();
    while (sql.query_one(made, &[]).await.expect("read").get::<_, i64>(0) > 0) != there {
        assert!(begun.elapsed() < PATIENCE, "no copy that is there: {there}");
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// How many queries of each label there are, at a store.
async fn labels(store: &Arc<dyn StoreAudit>) -> Vec<(String, u64)> {
    let groups = store.all_groups(QueryFilter::default(), GroupBy::Label).await.expect("an answer");
    let mut labels: Vec<_> = groups.into_iter().map(|group| (group.key.into_owned(), group.runs)).collect();
    labels.sort_unstable();
    labels
}

#[tokio::test]
async fn whoever_starts_with_copies_answers_as_who_was_there() {
    let address = shared();
    let [one, other] = [open_copying(&address).await, open_copying(&address).await];
    let sql = connect(&address).await;
    for query in 1..=QUERIES {
        let store = if query % 2 == 0 { &one } else { &other };
        let sent = match query {
            2 => batch(query).started(2, 2, facts("late")).build(),
            _ => batch(query).finished(query, 2, facts("x")).build(),
        };
        store.commit(sent).await.expect("stored");
    }
    wait_for_first_copy(&sql, true).await;
    let third = open_copying(&address).await;
    for store in [&one, &other, &third] {
        assert_eq!(labels(store).await, [("late".into(), 1), ("x".into(), QUERIES - 1)]);
    }
    // A late event: whoever it reaches, nobody starts with the copy from before.
    other.commit(batch(2).finished(2, 3, facts("end")).build()).await.expect("stored");
    let fourth = open(&address).await;
    for store in [&one, &other, &third, &fourth] {
        assert_eq!(labels(store).await, [("end".into(), 1), ("x".into(), QUERIES - 1)]);
    }
    wait_for_first_copy(&sql, true).await;
    third.delete_before(i64::MAX, 3).await.expect("deleted");
    let fifth = open(&address).await;
    let left = labels(&one).await;
    assert_eq!(left.iter().map(|(_, runs)| runs).sum::<u64>(), QUERIES - 3);
    for store in [&other, &third, &fourth, &fifth] {
        assert_eq!(labels(store).await, left);
        assert_eq!(store.verify().await.expect("judged"), [""; 0]);
    }
    // It is the copies that are read.
    wait_for_first_copy(&sql, true).await;
    let emptied = "UPDATE segment
                   SET status = '', row = '', origin = '', plan = '', started_unix_ns = '', wall_ms = '', cpu = '',
                       bytes_read = ''";
    sql.batch_execute(emptied).await.expect("written");
    assert!(labels(&open(&address).await).await < left);
}

#[tokio::test]
async fn who_only_looks_copies_nothing() {
    let address = shared();
    let store = open(&address).await;
    for query in 1..=QUERIES {
        store.commit(batch(query).finished(query, 2, facts("x")).build()).await.expect("stored");
    }
    let looks = PostgresOptions { upgrade: false, copy_every: Duration::ZERO, ..PostgresOptions::default() };
    let looks = PostgresStore::open(&address, looks).await.expect("opens");
    let sql = connect(&address).await;
    for _ in 0..20 {
        looks.all_groups(QueryFilter::default(), GroupBy::Label).await.expect("an answer");
        let marks = sql.query_one("SELECT count(*) FROM segment", &[]).await.expect("read");
        assert_eq!(marks.get::<_, i64>(0), 0);
    }
}

#[tokio::test]
async fn hints_tell_of_what_can_be_seen() {
    let address = shared();
    // Without a hint it does not look.
    let options = || PostgresOptions { poll_every: Duration::from_hours(1), ..PostgresOptions::default() };
    let one = PostgresStore::open(&address, options()).await.expect("opens");
    let other = PostgresStore::open(&address, options()).await.expect("opens");
    let mut commits = other.commits();
    // Until both have found each other, hints are lost.
    let mut seq = 2;
    loop {
        one.commit(batch(1).progress(1, [seq]).build()).await.expect("stored");
        seq += 1;
        if tokio::time::timeout(LOOK_EVERY, commits.next()).await.is_ok() {
            break;
        }
        assert!(seq < 1000, "no hint arrives");
    }
    for seq in seq..seq + 20 {
        while commits.try_next().is_some() {}
        one.commit(batch(1).progress(1, [seq]).build()).await.expect("stored");
        tokio::time::timeout(PATIENCE, commits.next())
            .await
            .expect("a hint that came when there was something");
    }
}

async fn connect(address: &str) -> tokio_postgres::Client {
    let (client, connection) =
        tokio_postgres::connect(address, tokio_postgres::NoTls).await.expect("connects");
    tokio::spawn(connection);
    client
}
