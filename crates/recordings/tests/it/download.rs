//! A recording as one gzip member, and what is wrong with a file found before or while it is given.

use std::io::Read;

use flate2::bufread::GzDecoder;
use queryscope_recordings::{Content, RecordingError};
use queryscope_store::testsuite::{batch, query_id};

use crate::kinds::of_every_kind;
use crate::world::{World, drain, end, lines, long_line, process_line};

/// Bytes up to which a recording is joined before it is given, and some.
const MORE_THAN_READY: usize = 1 << 20;

async fn download(world: &World, query: u64) -> Result<Content, RecordingError> {
    world.recordings.download(&world.store, world.parts(query).await).await
}

/// The lines that a decoder gives which stops after one member, and the bytes it leaves.
fn first_member(gzip: &[u8]) -> (Vec<String>, usize) {
    let mut decoder = GzDecoder::new(gzip);
    let mut text = String::new();
    decoder.read_to_string(&mut text).expect("sound");
    (text.lines().map(ToOwned::to_owned).collect(), decoder.into_inner().len())
}

async fn check(world: &World, query: u64, when: &str) {
    let expected = world.lines(query).await;
    let content = download(world, query).await.expect("a recording");
    let bytes = drain(content).await.expect("readable");
    assert!(first_member(&bytes) == (expected, 0), "{when}");
}

#[tokio::test]
async fn it_is_one_member_wherever_its_events_are() {
    of_every_kind(async |world| {
        world.commit(batch(1).progress(1, [2, 3])).await;
        world.commit(batch(1).progress(1, [6])).await;
        world.commit(end(batch(1), 1, 7)).await;
        check(&world, 1, "from chunks").await;
        world.seal().await;
        assert!(download(&world, 1).await.expect("a recording").size.is_some(), "it is small");
        check(&world, 1, "sealed").await;
        world.commit(batch(1).progress(1, [4])).await;
        check(&world, 1, "with a late event").await;
        world.seal().await;
        check(&world, 1, "sealed again").await;
    })
    .await;
}

#[tokio::test]
async fn a_large_one_is_given_as_it_is_joined() {
    of_every_kind(async |world| {
        for number in 2..=5 {
            world.commit(batch(1).event(1, number, long_line(number, MORE_THAN_READY))).await;
        }
        world.commit(end(batch(1), 1, 6)).await;
        check(&world, 1, "from chunks").await;
        world.seal().await;
        assert_eq!(download(&world, 1).await.expect("a recording").size, None);
        check(&world, 1, "sealed").await;
    })
    .await;
}

/// A query sealed in a folder, and its file.
async fn sealed(query: u64, line: String) -> (World, std::path::PathBuf) {
    let world = World::new();
    world.commit(end(batch(1).event(query, 2, line), query, 3)).await;
    world.seal().await;
    let file = world.root().join(world.place(query).await.path);
    (world, file)
}

/// Asserts that the recording is refused as damaged, however it is read.
async fn is_damaged(world: &World, query: u64, why: &str) {
    let read = match download(world, query).await {
        Ok(content) => drain(content).await.map(|_| ()),
        Err(error) => Err(error),
    };
    match read {
        Err(RecordingError::Damaged { query_id: id, reason }) => {
            assert_eq!(id, query_id(query));
            assert!(reason.contains(why), "{reason}");
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn every_flipped_bit_and_every_cut_is_found() {
    let (world, file) = sealed(1, long_line(2, 900)).await;
    let sound = std::fs::read(&file).expect("a file");
    let expected = lines(&sound);
    for at in 0..sound.len() {
        let mut flipped = sound.clone();
        flipped[at] ^= 1 << (at % 8);
        for damaged in [&flipped[..], &sound[..at]] {
            std::fs::write(&file, damaged).expect("written");
            if let Ok(content) = download(&world, 1).await {
                let given = first_member(&drain(content).await.expect("small ones are read before"));
                // Times in headers mean nothing; a cut after a whole member takes its events away.
                assert!(damaged.len() == sound.len() || at > 100, "byte {at}");
                assert!(expected.starts_with(&given.0) && given.1 == 0, "byte {at}");
            }
        }
    }
}

#[tokio::test]
async fn damage_far_behind_ends_the_bytes_with_an_error() {
    let world = World::new();
    let long = batch(1).progress(1, [2]).event(1, 3, long_line(3, MORE_THAN_READY));
    world.commit(end(long, 1, 4)).await;
    world.seal().await;
    let file = world.root().join(world.place(1).await.path);
    let mut bytes = std::fs::read(&file).expect("a file");
    let at = bytes.len() - 40;
    bytes[at] ^= 1;
    std::fs::write(&file, bytes).expect("written");
    let content = download(&world, 1).await.expect("its beginning is sound");
    assert!(matches!(drain(content).await, Err(RecordingError::Damaged { .. })));
}

#[tokio::test]
async fn the_file_of_another_query_is_not_given() {
    // Of one stream, so that both begin with the same line.
    let world = World::new();
    let event = |query: u64, seq: u64| {
        format!(
            r#"{{"schema":"x-telemetry/events@1","seq":{seq},"type":"query.note","query_id":"{}"}}"#,
            query_id(query)
        )
    };
    let both = batch(1).event(1, 2, event(1, 2)).event(2, 3, event(2, 3));
    world.commit(end(end(both, 1, 4), 2, 5)).await;
    world.commit(end(batch(2), 3, 2)).await;
    world.seal_alone(1..=3).await;
    let mut files = Vec::new();
    for query in 1..=3 {
        files.push(world.root().join(world.place(query).await.path));
    }
    std::fs::copy(&files[1], &files[0]).expect("copied");
    is_damaged(&world, 1, &format!("the events of query {}", query_id(2))).await;
    std::fs::copy(&files[2], &files[0]).expect("copied");
    assert_ne!(process_line(&batch(1)), process_line(&batch(2)));
    is_damaged(&world, 1, "process event").await;
    check(&world, 2, "what was copied").await;
}

#[cfg(unix)]
#[tokio::test]
async fn links_are_not_followed() {
    let (world, file) = sealed(1, long_line(2, 10)).await;
    let elsewhere = world.root().join("elsewhere");
    std::fs::rename(&file, &elsewhere).expect("moved");
    std::os::unix::fs::symlink(&elsewhere, &file).expect("a link");
    is_damaged(&world, 1, "a link").await;
    let read = world.recordings.read(&world.store, world.parts(1).await).await;
    assert!(matches!(read, Err(RecordingError::Damaged { .. })), "{read:?}");
    // Folders may lie on another disk.
    let (day, moved) = (file.parent().expect("a day"), world.root().join("moved"));
    std::fs::remove_file(&file).expect("there");
    std::fs::rename(&elsewhere, &file).expect("moved back");
    std::fs::rename(day, &moved).expect("moved");
    std::os::unix::fs::symlink(&moved, day).expect("a link");
    check(&world, 1, "over a linked folder").await;
}

#[tokio::test]
async fn one_whose_folder_can_not_be_reached_is_not_missing() {
    let (world, file) = sealed(1, long_line(2, 10)).await;
    std::fs::remove_file(&file).expect("there");
    let read = download(&world, 1).await;
    assert!(matches!(read, Err(RecordingError::Missing { .. })), "{read:?}");
    std::fs::remove_dir_all(world.root()).expect("there");
    let read = download(&world, 1).await;
    assert!(matches!(read, Err(RecordingError::Unavailable(_))), "{read:?}");
}
