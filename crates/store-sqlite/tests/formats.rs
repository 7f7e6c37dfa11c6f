//! Databases of every format there was are opened, read and brought up to date.
//!
//! Each folder of `testdata` is a data folder that the version with that format left: queries of every state, sealed
//! and in chunks, with a late event, of two engines and projects; events of no query; one that retention took out; a
//! token.

use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use queryscope_protocol::QueryId;
use queryscope_store::testsuite::Snapshot;
use queryscope_store::{Account, Loss, Store, StoreAudit, StoreError};
use queryscope_store_sqlite::{OpenError, SqliteOptions, SqliteStore};

/// The format this version writes.
const FORMAT: usize = 19;
/// The first format in which recordings may lie in packs.
const PACKS: usize = 17;

/// A copy of a database in the tree.
fn database(format: usize, folder: &Path) -> PathBuf {
    let packed =
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("testdata/format-{format}/queryscope.db.gz"));
    let path = folder.join("queryscope.db");
    let packed = std::fs::File::open(packed).expect("a folder of each format");
    std::io::copy(&mut GzDecoder::new(packed), &mut std::fs::File::create(&path).expect("a file"))
        .expect("gzip");
    path
}

fn id(number: u64) -> QueryId {
    format!("01a1faa8-0000-7000-8000-{number:012}").parse().expect("a UUID")
}

/// Numbers of queries with what they were given.
async fn accounts(store: &SqliteStore) -> Vec<(u64, Option<u64>)> {
    let mut accounts = Vec::new();
    for number in 1..=9 {
        let account = store.account(id(number)).await.expect("a store");
        accounts.push((number, account.map(|Account { committed, .. }| committed)));
    }
    accounts
}

#[tokio::test]
async fn a_database_of_every_format_is_read_and_goes_on() {
    for format in 1..=FORMAT {
        let folder = tempfile::tempdir().expect("a folder");
        let path = database(format, folder.path());
        let store = SqliteStore::open(&path, SqliteOptions::default()).expect("opens");
        let first = Snapshot::of(&store).await;
        let mut stored = first.clone();
        // What is another in each.
        for token in &mut stored.tokens {
            (token.hash, token.created_unix_ms) = ([0; 32], 0);
        }
        for query in &mut stored.queries {
            let is_in_pack = query.sealed_path.as_ref().is_some_and(|place| place.contains(".zip"));
            assert_eq!(is_in_pack, query.sealed_path.is_some() && format >= PACKS, "format {format}");
            query.sealed_path = query.sealed_path.take().and_then(|_| query.query.recording());
        }
        insta::assert_snapshot!("stored", format!("{stored:#?}"));
        // What is stored from now on is counted, of what was not counted before nothing is claimed.
        let counted = accounts(&store).await;
        let given = [Some(4), Some(1), Some(1), Some(3), Some(1), Some(2), Some(1), None, None];
        let expected = if format == 1 { [None; 9] } else { given };
        assert_eq!(counted, (1..=9).zip(expected).collect::<Vec<_>>(), "format {format}");
        store.close().await.expect("closed");

        // Brought up to date once, for good.
        let store = SqliteStore::open(&path, SqliteOptions { upgrade: false, ..SqliteOptions::default() });
        let store = store.expect("up to date");
        assert_eq!(Snapshot::of(&store).await, first, "format {format}");
        store.close().await.expect("closed");
    }
}

#[tokio::test]
async fn what_is_only_looked_at_stays_as_it_is() {
    for format in 1..FORMAT {
        let folder = tempfile::tempdir().expect("a folder");
        let path = database(format, folder.path());
        let opened = SqliteStore::open(&path, SqliteOptions { upgrade: false, ..SqliteOptions::default() });
        let error = opened.expect_err("it is of an earlier version");
        assert!(
            matches!(error, OpenError::TooOld { found, known: FORMAT, .. } if found == format),
            "{error}"
        );
        let says = format!("has format {format}, this version has {FORMAT}: start its service once");
        assert!(error.to_string().contains(&says), "{error}");
        // As before.
        let store = SqliteStore::open(&path, SqliteOptions::default()).expect("opens");
        let _: Result<(), StoreError> = store.close().await;
    }
}

#[test]
fn there_is_a_folder_of_this_format() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = database(FORMAT, folder.path());
    let refused = SqliteStore::open(&path, SqliteOptions { upgrade: false, ..SqliteOptions::default() });
    drop(refused.expect("after a migration: make a folder of the new format, too, see testdata/README.md"));
}

#[tokio::test]
async fn what_an_earlier_version_found_to_be_lost_is_on_record() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = database(5, folder.path());
    let db = rusqlite::Connection::open(&path).expect("a database");
    db.execute("INSERT INTO loss (query, events) SELECT id, 3 FROM query ORDER BY id LIMIT 1", [])
        .expect("noted");
    drop(db);
    let store = SqliteStore::open(&path, SqliteOptions::default()).expect("opens");
    let query = store.query(id(1)).await.expect("a store").expect("a query");
    let stream_id = query.stream_id;
    let losses = store.losses(stream_id).await.expect("a store");
    assert_eq!(losses, [Loss { stream_id, query_id: Some(id(1)), events: 3, found_unix_ms: None }]);
    assert_eq!(store.account(id(1)).await.expect("a store").expect("counted").lost, 3);
    store.close().await.expect("closed");
}
