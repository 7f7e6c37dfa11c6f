//! A bucket that is away, or slow, or is none.

use std::time::Duration;

use queryscope_bucket_server::{BucketServer, Fault};
use queryscope_recordings::RecordingError;
use queryscope_store::testsuite::batch;

use crate::kinds::bucket;
use crate::world::{World, drain, end, long_line, seqs};

/// Requests that write a recording of two parts: one that begins it, the parts, one that ends it.
const REQUESTS_OF_TWO_PARTS: usize = 4;

/// A sealed query (1) and one that waits (2).
async fn world(server: &BucketServer) -> World {
    let world = World::with(bucket(server));
    world.commit(end(batch(1).progress(1, [2]), 1, 3)).await;
    assert_eq!(world.seal().await.sealed, 1);
    world.commit(end(batch(1).progress(2, [4]), 2, 5)).await;
    world
}

/// Nothing can be sealed, what is sealed cannot be read, and the rest can.
async fn is_away(world: &World) {
    let unavailable = |error: &RecordingError| matches!(error, RecordingError::Unavailable(_));
    assert!(world.recordings.reach().await.is_err_and(|error| unavailable(&error)));
    let round = world.seal().await;
    assert_eq!((round.sealed, round.failed.len()), (0, 1));
    assert!(unavailable(&round.failed[0].1), "{round:?}");
    let read = world.recordings.read(&world.store, world.parts(1).await).await;
    assert!(read.is_err_and(|error| unavailable(&error)));
    assert_eq!(seqs(&world.lines(2).await[1..]), [4, 5], "chunks bridge the time");
}

async fn is_back(world: &World) {
    world.recordings.reach().await.expect("there");
    assert_eq!(world.seal().await.sealed, 1);
    assert_eq!(seqs(&world.lines(1).await[1..]), [2, 3]);
    assert_eq!(seqs(&world.lines(2).await[1..]), [4, 5]);
}

#[tokio::test]
async fn chunks_bridge_the_time_while_the_server_is_stopped() {
    let mut server = BucketServer::start();
    let world = world(&server).await;
    server.stop();
    is_away(&world).await;
    server.start_again();
    is_back(&world).await;
}

#[tokio::test]
async fn chunks_bridge_the_time_while_the_server_refuses() {
    let server = BucketServer::start();
    let world = world(&server).await;
    server.fail(Fault::SlowDown);
    is_away(&world).await;
    server.fail(None);
    is_back(&world).await;
}

#[tokio::test]
async fn a_slow_bucket_is_waited_for() {
    let server = BucketServer::start();
    let world = world(&server).await;
    server.fail(Fault::Late(Duration::from_millis(300)));
    is_back(&world).await;
}

#[tokio::test]
async fn a_bucket_that_is_none_is_away() {
    let server = BucketServer::start();
    let world = world(&server).await;
    std::fs::rename(server.bucket(), server.bucket().with_file_name("other")).expect("renamed");
    let reached = world.recordings.reach().await;
    assert!(matches!(reached, Err(RecordingError::Unavailable(_))), "{reached:?}");
    std::fs::rename(server.bucket().with_file_name("other"), server.bucket()).expect("renamed");
    // This server would make it for whoever writes; S3 does not.
    server.fail(Fault::NoBucket);
    let reached = world.recordings.reach().await;
    assert!(matches!(reached, Err(RecordingError::Unavailable(_))), "{reached:?}");
    let round = world.seal().await;
    assert!(matches!(&round.failed[..], [(_, RecordingError::Unavailable(_))]), "{round:?}");
    server.fail(None);
    is_back(&world).await;
}

#[tokio::test]
async fn a_round_ends_early_when_the_bucket_is_away() {
    let mut server = BucketServer::start();
    let world = world(&server).await;
    for query in 3..=40 {
        world.commit(end(batch(query), query, 2)).await;
    }
    server.stop();
    let round = world.seal().await;
    assert!(round.failed.len() <= 8, "of 39 it begins as many as it writes at once, and few more: {round:?}");
    server.start_again();
    assert_eq!(world.seal().await.sealed, 39);
}

#[tokio::test]
async fn names_are_below_the_prefix() {
    let server = BucketServer::start();
    let world = world(&server).await;
    let path = world.place(1).await.path;
    let names = server.names();
    assert!(names.contains(&format!("of/a/service/{path}")), "{names:?}");
}

/// A query (1) whose recording takes two parts; its end is not sealed yet.
async fn large(server: &BucketServer) -> World {
    let world = World::with(bucket(server));
    for number in 2..=6 {
        world.commit(batch(1).event(1, number, long_line(number, 4 << 20))).await;
    }
    world.commit(end(batch(1), 1, 7)).await;
    world
}

#[tokio::test]
async fn an_upload_that_fails_anywhere_leaves_the_chunks_and_is_made_anew() {
    let server = BucketServer::start();
    let world = large(&server).await;
    let chunks = world.parts(1).await.chunks;
    let before = world.read(1).await;
    for (requests, fault) in
        (0..REQUESTS_OF_TWO_PARTS).zip([Fault::SlowDown, Fault::Silent].into_iter().cycle())
    {
        server.fail_after(requests, fault);
        let round = world.seal().await;
        assert!(matches!(&round.failed[..], [(_, RecordingError::Unavailable(_))]), "{requests}: {round:?}");
        server.fail(None);
        let parts = world.parts(1).await;
        assert_eq!((parts.chunks, parts.sealed), (chunks.clone(), None), "{requests} {fault:?}");
    }
    assert!(world.read(1).await == before);
    server.fail_after(REQUESTS_OF_TWO_PARTS, Fault::SlowDown);
    assert_eq!(world.seal().await.sealed, 1, "so many are all");
    server.fail(None);
    assert!(world.read(1).await == before);
    assert_eq!(server.names().len(), 1, "what was written without an answer has the same name");
}

#[tokio::test]
async fn a_recording_that_turns_out_damaged_leaves_no_parts() {
    let server = BucketServer::start();
    let world = World::with(bucket(&server));
    // More than what may be on its way at once.
    for number in 2..=17 {
        let line = long_line(number, 4 << 20);
        world.commit(batch(1).event(1, number, line).progress(1, [number + 20])).await;
    }
    // What overlaps is looked into: this is found out after more than a part.
    let mut damaged = end(batch(1).progress(1, [18]), 1, 40).build();
    let middle = damaged.parts[0].gzip.len() / 2;
    damaged.parts[0].gzip[middle] ^= 1;
    world.store.commit(damaged).await.expect("stored");
    let round = world.seal().await;
    assert!(matches!(&round.failed[..], [(_, RecordingError::Damaged { .. })]), "{round:?}");
    assert_eq!((server.names().len(), server.parts()), (0, 0));
}

#[tokio::test]
async fn an_answer_that_ends_half_way_is_no_recording() {
    let server = BucketServer::start();
    let world = large(&server).await;
    assert_eq!(world.seal().await.sealed, 1);
    for pieces in 0..3 {
        server.fail_after(pieces, Fault::Cut);
        let read = match world.recordings.read(&world.store, world.parts(1).await).await {
            Ok(content) => drain(content).await,
            Err(error) => Err(error),
        };
        assert!(matches!(read, Err(RecordingError::Unavailable(_))), "{pieces}");
    }
    // Nor does it become the beginning of another.
    world.commit(batch(1).progress(1, [9])).await;
    let round = world.seal().await;
    assert!(matches!(&round.failed[..], [(_, RecordingError::Unavailable(_))]), "{round:?}");
    server.fail(None);
    assert_eq!(world.seal().await.sealed, 1);
    assert_eq!(seqs(&world.lines(1).await[1..]), [2, 3, 4, 5, 6, 7, 9]);
}

#[tokio::test]
async fn what_can_not_be_listed_or_deleted_stays_for_the_next_sweep() {
    let server = BucketServer::start();
    let world = world(&server).await;
    world.commit(batch(1).progress(1, [6])).await;
    world.seal_alone([1, 2]).await;
    let sweep = async || world.recordings.sweep_versions(world.store.as_ref(), 0..=1, i64::MAX).await;
    // Its names are asked for twice, then one is deleted.
    for (answered, fault) in
        [(0, Fault::SlowDown), (0, Fault::Cut), (1, Fault::SlowDown), (1, Fault::Cut), (2, Fault::SlowDown)]
    {
        server.fail_after(answered, fault);
        let swept = sweep().await;
        assert!(matches!(swept, Err(RecordingError::Unavailable(_))), "{answered} {fault:?}: {swept:?}");
        assert_eq!(server.names().len(), 3);
    }
    // It is deleted, and nobody says so.
    server.fail_after(2, Fault::Silent);
    assert!(sweep().await.is_err());
    server.fail(None);
    assert_eq!(sweep().await.expect("swept").recordings, 0);
    assert_eq!(server.names().len(), 2);
    assert_eq!(seqs(&world.lines(1).await[1..]), [2, 3, 6]);
}
