//! Versions that share a database while collectors are replaced one by one: a later one has brought it up to date.

use std::sync::Arc;

use queryscope_postgres_server::shared;
use queryscope_store::testsuite::{batch, facts, query_id};
use queryscope_store::{GroupBy, QueryFilter, Run, Sealed, Store, StoreError};
use queryscope_store_postgres::{OpenError, PostgresOptions, PostgresStore};

/// A step that leaves programs of format 1 what they need.
const ADDS: (&str, i32) = (include_str!("../testdata/later_adds.sql"), 1);
/// A step after which only programs that know format 2 may go on.
const TAKES_AWAY: (&str, i32) = (include_str!("../testdata/later_takes_away.sql"), 2);

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
        let groups = store.groups(QueryFilter::default(), GroupBy::Label).await.expect("an answer");
        assert_eq!(groups.iter().map(|group| group.runs).sum::<u64>(), 1);
        assert_eq!(store.streams(None, 9).await.expect("read")[0].seen, [Run { first: 2, last: 251 }]);
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
        assert!(error.to_string().contains("has format 3, this version knows up to 1"), "{error}");
    };
    let sent = batch(1).finished(2, 3, facts("x")).build();
    refused(earlier.commit(sent.clone()).await.map(drop));
    refused(earlier.end_silent(i64::MAX).await.map(drop));
    refused(earlier.delete_before(i64::MAX, 1).await.map(drop));
    let path = format!("2026/11/21/{}.jsonl.gz", query_id(1));
    let sealed = Sealed { query_id: query_id(1), path, chunks: Vec::new(), replaces: None };
    refused(earlier.seal(vec![sealed]).await.map(drop));
    refused(earlier.unsealed(1).await.map(drop));
    refused(earlier.groups(QueryFilter::default(), GroupBy::Label).await.map(drop));

    let error = open(&address).await.expect_err("an earlier version");
    assert!(matches!(error, OpenError::TooNew { found: 3, known: 1 }), "{error:?}");
    let looks = PostgresOptions { upgrade: false, ..PostgresOptions::default() };
    let error = PostgresStore::open(&address, looks).await.expect_err("an earlier version");
    assert!(matches!(error, OpenError::TooNew { found: 3, known: 1 }), "{error:?}");

    assert_eq!(later.commit(sent.clone()).await.expect("stored").accepted, 1);
    assert_eq!(last.commit(sent).await.expect("stored").duplicates, 1);
    open_as_later(&address, &[ADDS]).await.expect("opens");
}

#[tokio::test]
async fn a_step_that_fails_leaves_everything_as_it_was() {
    let address = shared();
    let earlier = open(&address).await.expect("opens");
    open_as_later(&address, &[ADDS, ("ALTER TABLE query DROP COLUMN nonsense", 2)])
        .await
        .expect_err("no such column");
    earlier.commit(batch(1).finished(1, 2, facts("x")).build()).await.expect("stored");
    open_as_later(&address, &[ADDS]).await.expect("the first step was not taken either");
}
