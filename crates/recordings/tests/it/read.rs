//! Reading, whatever happens to the chunks meanwhile.

use std::collections::HashSet;
use std::sync::Arc;

use futures_util::{StreamExt, TryStreamExt};
use object_store::memory::InMemory;
use queryscope_recordings::{RecordingError, Recordings};
use queryscope_store::testsuite::{batch, facts, line};
use queryscope_store::{Facts, RecordingPlace};

use crate::world::{World, drain, end, lines, long_line, pack, process_line, seqs};

#[tokio::test]
async fn chunks_in_order_are_joined_as_they_are() {
    let world = World::new();
    let (first, second) = (batch(1).progress(1, [2, 4]), end(batch(1).progress(1, [7]), 1, 9));
    world.commit(second.clone()).await;
    world.commit(first.clone()).await;
    let expected = [
        pack(&process_line(&first)),
        first.build().parts.remove(0).gzip,
        second.build().parts.remove(0).gzip,
    ]
    .concat();
    assert_eq!(world.read(1).await, expected);
    world.seal().await;
    assert_eq!(world.read(1).await, expected, "sealing does not change a byte");
}

#[tokio::test]
async fn a_running_query_has_a_recording_so_far() {
    let world = World::new();
    let batch = batch(1).progress(1, [2, 3]);
    world.commit(batch.clone()).await;
    assert_eq!(world.lines(1).await, [process_line(&batch), line(1, 2), line(1, 3)]);
}

#[tokio::test]
async fn overlapping_chunks_are_put_in_order() {
    let world = World::new();
    for numbers in [vec![3, 9, 12], vec![2, 5], vec![4, 10], vec![6, 7, 8], vec![20]] {
        world.commit(batch(1).progress(1, numbers)).await;
    }
    world.commit(end(batch(1), 1, 11)).await;
    let lines = world.lines(1).await;
    assert_eq!(lines[0], process_line(&batch(1)));
    assert_eq!(seqs(&lines[1..]), [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 20]);
    assert_eq!(lines[1..4], [line(1, 2), line(1, 3), line(1, 4)]);
    world.seal().await;
    assert_eq!(world.lines(1).await, lines);
}

#[tokio::test]
async fn bytes_of_lines_are_kept_as_they_are() {
    let world = World::new();
    let odd = ["{\"seq\":5 , \"x\":\"\u{2028}é\\ud800\"}\r".to_owned(), r#"  {"x":[],"seq":3}  "#.to_owned()];
    world.commit(batch(1).event(1, 5, odd[0].as_str())).await;
    world.commit(end(batch(1).event(1, 3, odd[1].as_str()), 1, 9)).await;
    let text =
        String::from_utf8(queryscope_store::unpack(&world.read(1).await).expect("sound")).expect("UTF-8");
    let events: Vec<_> = text.split('\n').skip(1).take(2).collect();
    assert_eq!(events, [&odd[1], &odd[0]]);
}

#[tokio::test]
async fn late_events_join_a_sealed_recording() {
    let world = World::new();
    world.commit(end(batch(1).progress(1, [2, 6]), 1, 7)).await;
    world.seal().await;
    world.commit(batch(1).progress(1, [3])).await;
    world.commit(batch(1).progress(1, [8, 9])).await;
    let lines = world.lines(1).await;
    assert_eq!(seqs(&lines[1..]), [2, 3, 6, 7, 8, 9]);
    assert_eq!((&lines[0], &lines[2]), (&process_line(&batch(1)), &line(1, 3)));
    world.seal().await;
    assert_eq!(world.lines(1).await, lines);
    assert!(world.parts(1).await.chunks.is_empty());
}

/// Bytes of a line of which two, packed, are more than a page of chunks.
const LONG: usize = 9 << 19;

/// Commits events of these numbers as chunks that each fill a page, and the end with 5.
async fn commit_large(world: &World, numbers: [u64; 3]) {
    for number in numbers {
        let line = long_line(number, LONG);
        world.commit(batch(1).event(1, number, line)).await;
    }
    world.commit(end(batch(1), 1, 5)).await;
}

#[tokio::test]
async fn sealing_while_reading_is_not_noticed() {
    for overlapping in [false, true] {
        for pieces in 0..4 {
            let world = World::new();
            if overlapping {
                for number in [2, 3, 4] {
                    let line = long_line(number, LONG);
                    world.commit(batch(1).event(1, number, line).progress(1, [number + 10])).await;
                }
                world.commit(end(batch(1), 1, 20)).await;
            } else {
                commit_large(&world, [2, 3, 4]).await;
            }
            let expected = world.lines(1).await;
            let parts = world.parts(1).await;
            let mut bytes = world.recordings.read(&world.store, parts).await.expect("a recording").bytes;
            let mut read = Vec::new();
            for _ in 0..pieces {
                read.extend(bytes.next().await.expect("a piece").expect("readable"));
            }
            world.seal().await;
            assert!(world.parts(1).await.chunks.is_empty());
            read.extend(bytes.try_collect::<Vec<_>>().await.expect("readable").concat());
            assert!(
                lines(&read) == expected,
                "after {pieces} pieces, {overlapping}: {:?}",
                seqs(&lines(&read))
            );
        }
    }
}

#[tokio::test]
async fn an_event_that_comes_and_is_sealed_while_reading_breaks_no_order() {
    let world = World::new();
    commit_large(&world, [2, 8, 9]).await;
    let content = world.recordings.read(&world.store, world.parts(1).await).await.expect("a recording");
    let mut bytes = content.bytes;
    let mut read = Vec::new();
    for _ in ["the process event", "a page"] {
        read.extend(bytes.next().await.expect("a piece").expect("readable"));
    }
    assert_eq!(seqs(&lines(&read)[1..]), [2, 5]);
    // Before what has been read, and in what is still to come.
    world.commit(batch(1).event(1, 1, r#"{"seq":1,"late":true}"#)).await;
    world.commit(batch(1).progress(1, [6])).await;
    world.seal().await;
    read.extend(bytes.try_collect::<Vec<_>>().await.expect("readable").concat());
    let seqs = seqs(&lines(&read)[1..]);
    assert!(seqs.is_sorted_by(|a, b| a < b), "{seqs:?}");
    let before: HashSet<u64> = [2, 5, 8, 9].into();
    assert!(before.is_subset(&seqs.iter().copied().collect()), "{seqs:?}");
    assert_eq!(self::seqs(&world.lines(1).await[1..]), [1, 2, 5, 6, 8, 9]);
}

#[tokio::test]
async fn parts_that_are_out_of_date_still_lead_to_the_recording() {
    let world = World::new();
    world.commit(end(batch(1).progress(1, [2]), 1, 3)).await;
    let unsealed = world.parts(1).await;
    let expected = world.lines(1).await;
    world.seal().await;
    let content = world.recordings.read(&world.store, unsealed).await.expect("a recording");
    assert_eq!(lines(&drain(content).await.expect("readable")), expected);
}

#[tokio::test]
async fn parts_that_name_a_recording_which_moved_still_lead_to_it() {
    let world = World::new();
    world.commit(batch(1).progress(1, [2, 3])).await;
    world.store.end_silent(i64::MAX).await.expect("ended");
    world.seal().await;
    let sealed = world.parts(1).await;
    // It did not start in 1970, as was guessed, but a day later.
    let told = Facts { started_unix_ns: Some(86_400_000_000_000), ..facts("late") };
    world.commit(batch(1).finished(1, 5, told)).await;
    let with_chunks = world.parts(1).await;
    let expected = world.lines(1).await;
    world.seal().await;
    assert_ne!(world.parts(1).await.sealed, sealed.sealed);
    for parts in [sealed, with_chunks] {
        let content = world.recordings.read(&world.store, parts).await.expect("a recording");
        assert_eq!(lines(&drain(content).await.expect("readable")), expected);
    }
}

#[tokio::test]
async fn what_is_written_over_while_it_is_read_is_not_mixed() {
    // Where nobody else writes, versions have one name.
    let world = World::with(Recordings::new(Arc::new(InMemory::new())));
    commit_large(&world, [2, 3, 4]).await;
    world.seal().await;
    let content = world.recordings.read(&world.store, world.parts(1).await).await.expect("a recording");
    let mut bytes = content.bytes;
    bytes.next().await.expect("a piece").expect("readable");
    world.commit(batch(1).progress(1, [1])).await;
    world.seal().await;
    let rest = bytes.try_collect::<Vec<_>>().await;
    assert!(matches!(rest, Err(RecordingError::Unavailable(_))), "{rest:?}");
}

#[tokio::test]
async fn a_sealed_recording_stays_readable_while_it_is_replaced() {
    let world = World::new();
    commit_large(&world, [2, 3, 4]).await;
    world.seal().await;
    let expected = world.lines(1).await;
    let content = world.recordings.read(&world.store, world.parts(1).await).await.expect("a recording");
    assert!(content.size.is_some_and(|size| size > 6 << 20));
    let mut bytes = content.bytes;
    let mut read = bytes.next().await.expect("a piece").expect("readable").to_vec();
    world.commit(batch(1).progress(1, [10])).await;
    world.seal().await;
    read.extend(bytes.try_collect::<Vec<_>>().await.expect("readable").concat());
    assert_eq!(lines(&read), expected);
    assert_eq!(world.lines(1).await.len(), expected.len() + 1);
}

#[tokio::test]
async fn a_deleted_recording_is_gone() {
    let world = World::new();
    world.commit(end(batch(1).progress(1, [2]), 1, 3)).await;
    let unsealed = world.parts(1).await;
    let mut half_read =
        world.recordings.read(&world.store, unsealed.clone()).await.expect("a recording").bytes;
    half_read.next().await.expect("the process event").expect("readable");
    world.store.delete_before(i64::MAX, 10).await.expect("deleted");
    assert!(matches!(half_read.next().await, Some(Err(RecordingError::Gone))));
    let late = drain(world.recordings.read(&world.store, unsealed).await.expect("begins")).await;
    assert!(matches!(late, Err(RecordingError::Gone)), "{late:?}");
    let missing = world.recordings.open(&RecordingPlace::file("1970/01/01/x.jsonl.gz".into())).await;
    assert!(matches!(missing, Err(RecordingError::Gone)), "{missing:?}");
}
