//! A bucket that is away, or slow, or is none.

use std::time::Duration;

use queryscope_bucket_server::{BucketServer, Fault};
use queryscope_recordings::RecordingError;
use queryscope_store::testsuite::batch;

use crate::kinds::bucket;
use crate::world::{World, end, seqs};

/// A sealed query (1) and one that waits (2).
async fn world(server: &BucketServer) -> World {
    let world = World::with(bucket(server));
    world.commit(end(batch(1).progress(1, [2]), 1, 3)).await;
    assert_eq!(world.seal().await.sealed, 1);
    world.commit(end(batch(1).progress(2, [4]), 2, 5)).await;
    world
}

/// Nothing can be sealed, what is sealed can not be read, and the rest can.
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
    let path = world.parts(1).await.sealed_path.expect("sealed");
    let names = server.names();
    assert!(names.contains(&format!("of/a/service/{path}")), "{names:?}");
}
