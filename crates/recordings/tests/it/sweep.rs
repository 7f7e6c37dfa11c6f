//! Finding what crashes left behind.

use std::fs;
use std::time::{Duration, SystemTime};

use queryscope_recordings::Swept;
use queryscope_store::testsuite::{batch, facts, query_id};
use queryscope_store::{Facts, recording_path};

use crate::world::{World, end};

/// 1970-01-10.
const DAY_10: i64 = 9 * 86_400 * 1_000_000_000;

/// Puts a file among the recordings, last written some hours after the beginning of 1970.
fn put(world: &World, path: &str, hours: u64) {
    let path = world.root().join(path);
    fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    fs::write(&path, "left").expect("written");
    age(&path, hours);
}

fn age(path: &std::path::Path, hours: u64) {
    let file = fs::OpenOptions::new().append(true).open(path).expect("a file");
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_hours(hours)).expect("set");
}

#[tokio::test]
async fn only_what_the_store_does_not_know_goes() {
    let world = World::new();
    world.commit(end(batch(1).progress(1, [2]), 1, 3)).await;
    world.commit(end(batch(1).progress(2, [4]), 2, 5)).await;
    world.seal_alone([1, 2]).await;
    world.commit(end(batch(1).progress(3, [6]), 3, 7)).await;
    world.recordings.write(&world.store, query_id(3)).await.expect("written").expect("ended");
    let known: Vec<String> = (1..=3).map(|query| recording_path(query_id(query), 1_000_000_000)).collect();
    for path in &known {
        age(&world.root().join(path), 1);
    }

    let orphan = format!("1970/01/02/{}.jsonl.gz", query_id(9));
    let misplaced = format!("1970/01/03/{}.jsonl.gz", query_id(1));
    let fresh = format!("1970/01/04/{}.jsonl.gz", query_id(9));
    let of_the_day = format!("1970/01/10/{}.jsonl.gz", query_id(9));
    put(&world, &orphan, 30);
    put(&world, &misplaced, 30);
    put(&world, &fresh, 9 * 24);
    put(&world, &of_the_day, 30);
    put(&world, "1970/01/02/notes.txt", 30);
    put(&world, "kept/01/02/x.jsonl.gz", 30);

    let swept = world.recordings.sweep(&*world.store, DAY_10 + 1).await.expect("swept");
    assert_eq!(swept, Swept { recordings: 3, bytes: 12 }, "the fresh one was written before the nanosecond");
    put(&world, &fresh, 10 * 24);
    let swept = world.recordings.sweep(&*world.store, DAY_10).await.expect("swept");
    assert_eq!(swept, Swept::default());

    let mut expected = known;
    expected.extend([
        "1970/01/02/notes.txt".to_owned(),
        fresh,
        of_the_day,
        "kept/01/02/x.jsonl.gz".to_owned(),
    ]);
    expected.sort();
    assert_eq!(world.tree(), expected);
}

#[tokio::test]
async fn a_recording_under_a_day_that_was_guessed_stays_until_it_is_replaced() {
    let world = World::new();
    world.commit(batch(1).progress(1, [2])).await;
    world.store.end_silent(i64::MAX).await.expect("ended");
    world.seal().await;
    let sealed = world.tree();
    age(&world.root().join(&sealed[0]), 1);
    let told = Facts { started_unix_ns: Some(DAY_10), ..facts("x") };
    world.commit(batch(1).finished(1, 3, told)).await;
    let swept = world.recordings.sweep(&*world.store, DAY_10).await.expect("swept");
    assert_eq!((swept, world.tree()), (Swept::default(), sealed));
    assert_eq!(world.lines(1).await.len(), 3);
}

#[tokio::test]
async fn interrupted_writes_and_empty_folders_go() {
    let world = World::new();
    let staged = |day, query| format!("1970/01/{day}/{}.jsonl.gz#1", query_id(query));
    put(&world, &staged("02", 1), 30);
    put(&world, &staged("03", 2), 9 * 24 + 1);
    fs::create_dir_all(world.root().join("1970/01/04")).expect("made");
    fs::create_dir_all(world.root().join("1969/12/31")).expect("made");
    fs::create_dir_all(world.root().join("1970/01/10")).expect("made");
    world.recordings.sweep(&*world.store, DAY_10).await.expect("swept");
    assert_eq!(world.tree(), [staged("03", 2), "1970/01/10/".to_owned()]);
}
