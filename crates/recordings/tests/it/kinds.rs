//! What holds wherever recordings lie.

use std::sync::Arc;

use object_store::aws::AmazonS3Builder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::memory::InMemory;
use object_store::prefix::PrefixStore;
use object_store::{ObjectStore, RetryConfig};
use queryscope_bucket_server::{BUCKET, BucketServer};
use queryscope_recordings::{RecordingError, Recordings};
use queryscope_store::testsuite::{batch, facts, query_id};
use queryscope_store::{Facts, named_by, versioned_path};

use crate::world::{World, end, lines, long_line, seqs};

const DAY_NS: i64 = 86_400_000_000_000;

/// The bucket of a server, as a program sees it that tries each request once.
pub(crate) fn bucket(server: &BucketServer) -> Recordings {
    // Another test of this process may have been first.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = AmazonS3Builder::new().with_bucket_name(BUCKET);
    for (name, value) in server.variables() {
        let key = name.to_lowercase().parse().expect("a setting of S3");
        builder = builder.with_config(key, value);
    }
    let objects = builder.with_retry(once()).build().expect("a client");
    Recordings::new(Arc::new(PrefixStore::new(objects, "of/a/service"))).shared()
}

/// The same, as a program sees it that takes it for one of Google's.
fn google_bucket(server: &BucketServer) -> Recordings {
    let mut builder = GoogleCloudStorageBuilder::new().with_bucket_name(BUCKET);
    for (name, value) in server.google_variables() {
        builder = builder.with_config(name.to_lowercase().parse().expect("a setting"), value);
    }
    let objects = builder.with_retry(once()).build().expect("a client");
    Recordings::new(Arc::new(PrefixStore::new(objects, "of/a/service"))).shared()
}

fn once() -> RetryConfig {
    RetryConfig { max_retries: 0, ..RetryConfig::default() }
}

/// Runs a check on recordings of every kind.
pub(crate) async fn of_every_kind(check: impl AsyncFn(World)) {
    let local = World::new();
    let shared = World::with(local.recordings.clone().shared());
    check(local).await;
    check(shared).await;
    let memory: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    check(World::with(Recordings::new(memory).shared())).await;
    let server = BucketServer::start();
    check(World::with(bucket(&server))).await;
    let server = BucketServer::start_for_anybody();
    check(World::with(google_bucket(&server))).await;
}

#[tokio::test]
async fn what_was_sealed_is_read_and_grows() {
    of_every_kind(async |world| {
        world.recordings.reach().await.expect("there");
        world.commit(end(batch(1).progress(1, [2, 6]), 1, 7)).await;
        let before = world.read(1).await;
        assert_eq!(world.seal().await.sealed, 1);
        let first = world.place(1).await;
        assert_eq!(world.read(1).await, before, "byte for byte");
        world.commit(batch(1).progress(1, [4, 9])).await;
        assert_eq!(seqs(&world.lines(1).await[1..]), [2, 4, 6, 7, 9]);
        assert_eq!(world.seal().await.sealed, 1);
        assert!(world.parts(1).await.chunks.is_empty());
        assert_eq!(seqs(&world.lines(1).await[1..]), [2, 4, 6, 7, 9]);
        let second = world.place(1).await;
        assert_eq!(
            world.recordings.is_shared(),
            first != second,
            "where others write, nothing is written over"
        );
        assert_eq!(named_by(&second.path).map(|(id, _)| id), Some(query_id(1)));
    })
    .await;
}

#[tokio::test]
async fn a_large_recording_is_written_in_parts_and_read_in_pieces() {
    of_every_kind(async |world| {
        for number in 2..=7 {
            world.commit(batch(1).event(1, number, long_line(number, 4 << 20))).await;
        }
        world.commit(end(batch(1), 1, 8)).await;
        let before = world.read(1).await;
        assert!(before.len() > 10 << 20, "more than a part, several pieces");
        assert_eq!(world.seal().await.sealed, 1);
        assert!(world.read(1).await == before, "byte for byte");
        world.commit(batch(1).progress(1, [9])).await;
        assert_eq!(seqs(&world.lines(1).await[1..]), [2, 3, 4, 5, 6, 7, 8, 9]);
    })
    .await;
}

#[tokio::test]
async fn what_is_deleted_is_missing() {
    of_every_kind(async |world| {
        world.commit(end(batch(1), 1, 2)).await;
        world.seal().await;
        let place = world.place(1).await;
        let other = versioned_path(&place.path, 1);
        for path in [&place.path, &place.path, &other] {
            world.recordings.delete(path).await.expect("deleted, or not there");
        }
        assert!(matches!(world.recordings.open(&place).await, Err(RecordingError::Gone)));
        let read = world.recordings.read(&world.store, world.parts(1).await).await;
        assert!(
            matches!(read, Err(RecordingError::Missing { query_id: id }) if id == query_id(1)),
            "the query is known: {read:?}"
        );
    })
    .await;
}

#[tokio::test]
async fn of_two_services_that_seal_at_once_nothing_is_lost() {
    of_every_kind(async |world| {
        if !world.recordings.is_shared() {
            return;
        }
        world.commit(end(batch(1).progress(1, [2]), 1, 3)).await;
        let write = async || {
            world.recordings.write(&world.store, query_id(1)).await.expect("written").expect("ended")
        };
        let (early, same) = (write().await, write().await);
        assert_eq!(early, same, "what is made of the same has one name");
        world.commit(batch(1).progress(1, [4])).await;
        let late = write().await;
        assert_ne!(early.place, late.place);
        assert!(world.store.seal(vec![late]).await.expect("a store").is_empty());
        // The one that knows less comes last, as after a long pause, and its bytes arrive even later.
        assert_eq!(world.store.seal(vec![early.clone()]).await.expect("a store"), [early.place.path]);
        assert_eq!(seqs(&world.lines(1).await[1..]), [2, 3, 4]);
    })
    .await;
}

#[tokio::test]
async fn what_others_took_the_place_of_goes_after_a_day() {
    of_every_kind(async |world| {
        if !world.recordings.is_shared() {
            return;
        }
        // Four versions: one was never made known, one was replaced, one counts; of another query there is one.
        world.commit(end(batch(1).progress(1, [2]), 1, 3).finished(2, 9, facts("x"))).await;
        let unknown =
            world.recordings.write(&world.store, query_id(1)).await.expect("written").expect("ended").place;
        world.commit(batch(1).progress(1, [4])).await;
        world.seal_alone([1, 2]).await;
        let replaced = world.place(1).await;
        world.commit(batch(1).progress(1, [5])).await;
        assert_eq!(world.seal().await.sealed, 1);
        let (counts, other) = (world.place(1).await, world.place(2).await);
        let sweep = async |written_before_unix_ns| {
            let swept =
                world.recordings.sweep_versions(world.store.as_ref(), 0..=DAY_NS, written_before_unix_ns);
            swept.await.expect("swept").recordings
        };
        // Files have the time of the machine, which is after 1970.
        assert_eq!(sweep(0).await, 0, "all are fresh");
        for place in [&unknown, &replaced, &counts, &other] {
            world.recordings.open(place).await.expect("there");
        }
        assert_eq!(sweep(i64::MAX).await, 2);
        for place in [&unknown, &replaced] {
            assert!(matches!(world.recordings.open(place).await, Err(RecordingError::Gone)));
        }
        assert_eq!(seqs(&world.lines(1).await[1..]), [2, 3, 4, 5]);
        world.recordings.open(&counts).await.expect("there");
        world.recordings.open(&other).await.expect("there");
        assert_eq!(lines(&world.read(2).await).len(), 2);
    })
    .await;
}

#[tokio::test]
async fn versions_are_found_in_whatever_order_names_come() {
    const QUERIES: u64 = 30;
    const DAYS: u64 = 3;
    of_every_kind(async |world| {
        if !world.recordings.is_shared() {
            return;
        }
        let started = |query| Some((query % DAYS) as i64 * DAY_NS);
        for query in 1..=QUERIES {
            let facts = Facts { started_unix_ns: started(query), ..facts("x") };
            world.commit(batch(query).finished(query, 2, facts)).await;
        }
        world.seal_alone(1..=QUERIES).await;
        for query in 1..=QUERIES {
            world.commit(batch(query).progress(query, [3])).await;
        }
        world.seal_alone(1..=QUERIES).await;
        let sweep = async |days| {
            let swept = world.recordings.sweep_versions(world.store.as_ref(), days, i64::MAX);
            swept.await.expect("swept").recordings
        };
        assert_eq!(sweep(DAY_NS..=DAY_NS).await, QUERIES / DAYS, "of the day that is asked for");
        assert_eq!(sweep(0..=2 * DAY_NS).await, QUERIES * 2 / DAYS);
        for query in 1..=QUERIES {
            assert_eq!(seqs(&world.lines(query).await[1..]), [2, 3]);
        }
    })
    .await;
}

#[tokio::test]
async fn what_another_may_be_about_to_make_known_stays() {
    of_every_kind(async |world| {
        if !world.recordings.is_shared() {
            return;
        }
        world.commit(end(batch(1).progress(1, [2]), 1, 3)).await;
        world.seal().await;
        world.commit(batch(1).progress(1, [4])).await;
        let late = world.recordings.write(&world.store, query_id(1)).await.expect("written").expect("ended");
        let sweep = async || {
            let swept = world.recordings.sweep_versions(world.store.as_ref(), 0..=DAY_NS, i64::MAX);
            swept.await.expect("swept").recordings
        };
        assert_eq!(sweep().await, 0, "however long ago it was written");
        let replaced = world.store.seal(vec![late]).await.expect("a store");
        assert_eq!(seqs(&world.lines(1).await[1..]), [2, 3, 4]);
        assert_eq!(sweep().await, replaced.len() as u64, "now nobody can");
        assert_eq!(seqs(&world.lines(1).await[1..]), [2, 3, 4]);
    })
    .await;
}
