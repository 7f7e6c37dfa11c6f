//! Sealing, crashes included.

use std::collections::HashSet;
use std::sync::Arc;

use queryscope_recordings::{RecordingError, Recordings};
use queryscope_store::testsuite::{batch, facts, query_id};
use queryscope_store::{RecordingPlace, recording_path};

use crate::world::{World, drain, end, lines, long_line, seqs};

#[tokio::test]
async fn a_sealed_recording_is_a_file_under_its_day() {
    let world = World::new();
    world.commit(end(batch(1).progress(1, [2]), 1, 3)).await;
    let before = world.read(1).await;
    let round = world.seal().await;
    assert_eq!((round.sealed, round.full, round.failed.len()), (1, false, 0));
    let path = recording_path(query_id(1), 1_000_000_000);
    assert_eq!(world.parts(1).await.sealed.as_ref(), Some(&RecordingPlace::file(path.clone())));
    let content = world.recordings.open(&world.place(1).await).await.expect("a recording");
    assert_eq!(content.size, Some(before.len() as u64));
    assert_eq!(drain(content).await.expect("readable"), before);
    assert_eq!(world.tree(), [path]);
    assert_eq!(world.seal().await.sealed, 0, "nothing is left to do");
}

#[tokio::test]
async fn many_are_sealed_at_once_within_the_limit() {
    let world = World::new();
    for query in 1..=30 {
        world.commit(end(batch(query).progress(query, [2]), query, 3)).await;
    }
    let skip: HashSet<_> = [query_id(1), query_id(2)].into();
    let round = world.recordings.seal_round(&world.store, 20, 8, &skip).await.expect("a round");
    assert_eq!((round.sealed, round.full), (20, true));
    let round = world.recordings.seal_round(&world.store, 20, 8, &skip).await.expect("a round");
    assert_eq!((round.sealed, round.full), (8, false));
    assert_eq!(world.store.unsealed(10).await.expect("a store"), [query_id(1), query_id(2)]);
    for query in 1..=30 {
        assert_eq!(seqs(&world.lines(query).await[1..]), [2, 3]);
    }
}

#[tokio::test]
async fn a_running_query_is_not_written() {
    let world = World::new();
    world.commit(batch(1).progress(1, [2])).await;
    for query in [1, 2] {
        let written = world.recordings.write(&world.store, query_id(query)).await.expect("nothing to do");
        assert_eq!(written, None);
    }
    assert!(world.tree().is_empty());
}

#[tokio::test]
async fn a_crash_between_file_and_store_doubles_nothing() {
    let world = World::new();
    world.commit(end(batch(1).progress(1, [2, 6]), 1, 7)).await;
    let first = world.recordings.write(&world.store, query_id(1)).await.expect("written").expect("ended");
    let again = world.recordings.write(&world.store, query_id(1)).await.expect("written").expect("ended");
    assert_eq!(first, again);
    world.seal().await;
    assert_eq!(seqs(&world.lines(1).await[1..]), [2, 6, 7]);

    // The same with events in the file already: file and chunks hold 3 and 9 both.
    world.commit(batch(1).progress(1, [3, 9])).await;
    world.recordings.write(&world.store, query_id(1)).await.expect("written").expect("ended");
    assert_eq!(seqs(&world.lines(1).await[1..]), [2, 3, 6, 7, 9]);
    world.commit(batch(1).progress(1, [8])).await;
    world.recordings.write(&world.store, query_id(1)).await.expect("written").expect("ended");
    world.seal().await;
    assert_eq!(seqs(&world.lines(1).await[1..]), [2, 3, 6, 7, 8, 9]);
    assert!(world.parts(1).await.chunks.is_empty());
}

#[tokio::test]
async fn a_query_that_comes_back_keeps_what_was_sealed() {
    let world = World::new();
    world.commit(batch(1).progress(1, [2, 3])).await;
    world.store.end_silent(i64::MAX).await.expect("ended");
    assert_eq!(world.seal().await.sealed, 1);
    let guessed = world.place(1).await.path;

    // It was guessed to have started in 1970; it says it was a day later.
    let told = queryscope_store::Facts { started_unix_ns: Some(86_400_000_000_000), ..facts("late") };
    world.commit(batch(1).finished(1, 5, told)).await;
    assert_eq!(seqs(&world.lines(1).await[1..]), [2, 3, 5]);
    assert_eq!(world.seal().await.sealed, 1);
    let path = world.place(1).await.path;
    assert_ne!(path, guessed);
    assert_eq!(world.tree(), [path], "the recording moved, its old day is gone");
    assert_eq!(seqs(&world.lines(1).await[1..]), [2, 3, 5]);
}

#[tokio::test]
async fn a_large_recording_is_written_in_parts() {
    let world = World::new();
    for number in 2..=9 {
        world.commit(batch(1).event(1, number, long_line(number, 4 << 20))).await;
    }
    world.commit(end(batch(1), 1, 10)).await;
    let before = world.read(1).await;
    assert!(before.len() > 16 << 20);
    assert_eq!(world.seal().await.sealed, 1);
    assert!(world.read(1).await == before);
    assert_eq!(world.tree().len(), 1, "no part is left");
}

#[tokio::test]
async fn a_query_that_was_deleted_meanwhile_leaves_no_file() {
    let world = World::new();
    world.commit(end(batch(1).progress(1, [2]), 1, 3)).await;
    let sealed = world.recordings.write(&world.store, query_id(1)).await.expect("written").expect("ended");
    world.store.delete_before(i64::MAX, 10).await.expect("deleted");
    for path in world.store.seal(vec![sealed]).await.expect("a store") {
        world.recordings.delete(&path).await.expect("deleted");
        world.recordings.delete(&path).await.expect("nothing to delete");
    }
    assert!(world.tree().is_empty(), "{:?}", world.tree());
}

#[tokio::test]
async fn one_damaged_query_does_not_hold_up_the_others() {
    let world = World::new();
    let mut damaged = batch(1).progress(1, [2, 5]).build();
    let middle = damaged.parts[0].gzip.len() / 2;
    damaged.parts[0].gzip[middle] ^= 1;
    world.store.commit(damaged).await.expect("stored");
    world.commit(end(batch(1).progress(1, [3]), 1, 7)).await;
    world.commit(end(batch(2).progress(2, [2]), 2, 3)).await;
    let round = world.seal().await;
    assert_eq!(round.sealed, 1);
    let [(id, RecordingError::Damaged { .. })] = &round.failed[..] else { panic!("{round:?}") };
    assert_eq!(*id, query_id(1));
    assert_eq!(world.parts(1).await.chunks.len(), 2, "its chunks stay");
}

#[tokio::test]
async fn a_lost_recording_is_damage_and_not_a_reason_to_wait() {
    let world = World::new();
    world.commit(end(batch(1).progress(1, [2]), 1, 3)).await;
    world.seal().await;
    world.commit(batch(1).progress(1, [4])).await;
    std::fs::remove_dir_all(world.root().join("1970")).expect("removed");
    let round = world.seal().await;
    assert!(matches!(&round.failed[..], [(_, RecordingError::Damaged { .. })]), "{round:?}");
}

#[tokio::test]
async fn a_folder_that_can_not_be_written_costs_nothing() {
    let world = World::new();
    world.commit(end(batch(1).progress(1, [2]), 1, 3)).await;
    std::fs::write(world.root().join("1970"), "in the way").expect("written");
    let round = world.seal().await;
    assert!(matches!(&round.failed[..], [(_, RecordingError::Unavailable(_))]), "{round:?}");
    std::fs::remove_file(world.root().join("1970")).expect("removed");
    assert_eq!(world.seal().await.sealed, 1);
    assert_eq!(seqs(&world.lines(1).await[1..]), [2, 3]);
}

#[tokio::test]
async fn any_object_store_will_do() {
    let world = World::new();
    let bucket = Recordings::new(Arc::new(object_store::memory::InMemory::new()));
    for number in 2..=5 {
        world.commit(batch(1).event(1, number, long_line(number, 4 << 20))).await;
    }
    world.commit(end(batch(1), 1, 6)).await;
    let round = bucket.seal_round(&world.store, 10, 2, &HashSet::new()).await.expect("a round");
    assert_eq!(round.sealed, 1);
    world.commit(batch(1).progress(1, [9])).await;
    let content = bucket.read(&world.store, world.parts(1).await).await.expect("a recording");
    assert_eq!(seqs(&lines(&drain(content).await.expect("readable"))[1..]), [2, 3, 4, 5, 6, 9]);
}

#[tokio::test]
async fn a_round_can_run_as_a_task_of_its_own() {
    let world = World::new();
    world.commit(end(batch(1), 1, 3)).await;
    let (recordings, store) = (world.recordings.clone(), Arc::clone(&world.store));
    let task = tokio::spawn(async move { recordings.seal_round(&store, 10, 4, &HashSet::new()).await });
    assert_eq!(task.await.expect("no panic").expect("a round").sealed, 1);
}
