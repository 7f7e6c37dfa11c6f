//! Several recordings in one file or object.

use std::fs;

use queryscope_recordings::{RecordingError, Swept, check_pack, one_member};
use queryscope_store::testsuite::{batch, facts, query_id};
use queryscope_store::{
    Facts, Inflater, RecordingParts, RecordingPlace, Slice, pack_named_by, pack_path, recording_path,
};

use crate::kinds::of_every_kind;
use crate::world::{World, drain, end, lines, long_line, seqs};

const DAY_NS: i64 = 86_400_000_000_000;

/// Ended queries with one event before their last.
async fn ended(world: &World, queries: impl IntoIterator<Item = u64>) {
    for query in queries {
        world.commit(end(batch(query).progress(query, [2]), query, 3)).await;
    }
}

async fn slice(world: &World, query: u64) -> Slice {
    world.place(query).await.slice.expect("in a pack")
}

#[tokio::test]
async fn recordings_of_one_day_share_a_pack() {
    of_every_kind(async |world| {
        ended(&world, 1..=3).await;
        let next_day = Facts { started_unix_ns: Some(DAY_NS), ..facts("x") };
        world.commit(batch(4).finished(4, 2, next_day.clone())).await;
        world.commit(batch(5).finished(5, 2, next_day)).await;
        let mut before = Vec::new();
        for query in 1..=5 {
            before.push(world.read(query).await);
        }
        assert_eq!(world.seal().await.sealed, 5);
        let mut packs = Vec::new();
        for query in 1..=5 {
            let place = world.place(query).await;
            assert!(place.slice.is_some(), "{place}");
            packs.push(pack_named_by(&place.path).expect("a pack"));
            assert_eq!(world.read(query).await, before[query as usize - 1], "byte for byte");
        }
        assert_eq!(packs.iter().map(|pack| pack.day).collect::<Vec<_>>(), [0, 0, 0, 1, 1]);
        packs.dedup();
        assert_eq!(packs.len(), 2);
    })
    .await;
}

#[tokio::test]
async fn what_is_alone_or_large_has_a_file_of_its_own() {
    of_every_kind(async |world| {
        ended(&world, [1]).await;
        assert_eq!(world.seal().await.sealed, 1);
        assert_eq!(world.place(1).await.slice, None);
        ended(&world, 2..=3).await;
        world.commit(end(batch(4).event(4, 2, long_line(2, 4 << 20)), 4, 3)).await;
        assert_eq!(world.seal().await.sealed, 3);
        assert!(world.place(2).await.slice.is_some() && world.place(3).await.slice.is_some());
        assert_eq!(world.place(4).await.slice, None);
        for query in 1..=4 {
            assert_eq!(seqs(&world.lines(query).await[1..]), [2, 3]);
        }
    })
    .await;
}

#[tokio::test]
async fn a_late_event_leaves_the_others_where_they_are() {
    of_every_kind(async |world| {
        ended(&world, 1..=3).await;
        world.seal().await;
        let pack = world.place(1).await.path;
        world.commit(batch(2).progress(2, [9])).await;
        assert_eq!(seqs(&world.lines(2).await[1..]), [2, 3, 9], "of the pack and a chunk");
        assert_eq!(world.seal().await.sealed, 1);
        assert_eq!((world.place(1).await.path, world.place(3).await.path), (pack.clone(), pack.clone()));
        assert_ne!(world.place(2).await.path, pack);
        for query in 1..=3 {
            world.commit(batch(query).progress(query, [10])).await;
        }
        assert_eq!(world.seal().await.sealed, 3);
        assert_eq!(seqs(&world.lines(2).await[1..]), [2, 3, 9, 10]);
        let last = world.place(1).await.path;
        if !world.recordings.is_shared() && world.root().exists() {
            assert_eq!(world.tree(), [last], "nothing points to the others");
        }
    })
    .await;
}

#[tokio::test]
async fn a_round_ends_with_a_full_pack() {
    let world = World::new();
    for query in 1..=40 {
        world.commit(end(batch(query).event(query, 2, long_line(2, 1 << 20)), query, 3)).await;
    }
    let round = world.seal().await;
    assert!(round.full && (8..=24).contains(&round.sealed), "{round:?}");
    let mut sealed = round.sealed;
    while sealed < 40 {
        sealed += world.seal().await.sealed;
    }
    for query in 1..=40 {
        assert_eq!(world.lines(query).await.len(), 3);
    }
}

#[tokio::test]
async fn a_pack_is_an_archive_of_the_files_there_would_be_beside_it() {
    let world = World::new();
    ended(&world, 1..=3).await;
    world.seal().await;
    let place = world.place(1).await;
    let pack = fs::read(world.root().join(&place.path)).expect("a file");
    let (folder, _) = place.path.rsplit_once('/').expect("a folder");
    for (entry, query) in check_pack(&pack).expect("sound").iter().zip(1..) {
        assert_eq!(format!("{folder}/{}", entry.path), recording_path(query_id(query), 1_000_000_000));
        assert_eq!(entry.slice, slice(&world, query).await);
        assert_eq!(lines(entry.of(&pack)), world.lines(query).await);
    }
}

#[tokio::test]
async fn what_was_never_made_known_goes_and_what_counts_stays() {
    of_every_kind(async |world| {
        // As a crash before the transaction leaves it, and one of a store that was put back from a backup.
        let [unknown, later] = [(); 2].map(|()| World::with(world.recordings.clone()));
        ended(&unknown, 1..=2).await;
        ended(&later, 2..=3).await;
        for world in [&unknown, &later] {
            world.seal().await;
        }
        let (left, later) = (unknown.place(1).await, later.place(2).await);
        ended(&world, 1..=2).await;
        world.seal().await;
        let counts = world.place(1).await;
        let sweep = async |written_before_unix_ns| {
            let swept =
                world.recordings.sweep_packs(world.store.as_ref(), 0..=DAY_NS, written_before_unix_ns);
            swept.await.expect("swept").recordings
        };
        assert_eq!(sweep(0).await, 0, "all are fresh");
        assert_eq!(sweep(i64::MAX).await, 1);
        assert!(matches!(world.recordings.open(&left).await, Err(RecordingError::Gone)));
        for place in [&counts, &later] {
            world.recordings.open(place).await.expect("there");
        }
        // Who was about to make it known comes too late.
        let parts = world.parts(1).await;
        world.commit(batch(1).progress(1, [9])).await;
        let sealed = queryscope_store::Sealed {
            query_id: query_id(1),
            place: left.clone(),
            replaces: parts.sealed,
            chunks: world.parts(1).await.chunks.iter().map(|chunk| chunk.id).collect(),
        };
        assert_eq!(world.store.seal(vec![sealed]).await.expect("a store"), [left.path]);
        assert_eq!(seqs(&world.lines(1).await[1..]), [2, 3, 9]);
    })
    .await;
}

#[tokio::test]
async fn retention_finds_packs_of_old_days() {
    let world = World::new();
    ended(&world, 1..=2).await;
    world.seal().await;
    let unknown = World::with(world.recordings.clone());
    ended(&unknown, 7..=8).await;
    unknown.seal().await;
    let (counts, left) = (world.place(1).await.path, unknown.place(7).await.path);
    for path in [&counts, &left] {
        let file = fs::OpenOptions::new().append(true).open(world.root().join(path)).expect("a file");
        file.set_modified(std::time::UNIX_EPOCH).expect("set");
    }
    let bytes = fs::metadata(world.root().join(&left)).expect("a file").len();
    let swept = world.recordings.sweep(&*world.store, 9 * DAY_NS).await.expect("swept");
    assert_eq!((swept, world.tree()), (Swept { recordings: 1, bytes }, vec![counts]));
}

#[tokio::test]
async fn a_pack_that_is_cut_or_another_is_damaged() {
    let world = World::new();
    ended(&world, 1..=3).await;
    world.seal().await;
    let file = world.root().join(world.place(1).await.path);
    let sound = fs::read(&file).expect("a file");
    let read = async |query: u64| {
        let content = world.recordings.read(&world.store, world.parts(query).await).await?;
        drain(one_member(query_id(query), content).await?).await
    };
    let Slice { offset, bytes } = slice(&world, 2).await;
    for end in [offset - 1, offset, offset + 1, offset + bytes - 1] {
        fs::write(&file, &sound[..usize::try_from(end).expect("small")]).expect("written");
        assert!(matches!(read(2).await, Err(RecordingError::Damaged { .. })), "cut at {end}");
        assert!(read(1).await.is_ok(), "what is before is read");
    }
    let moved = [&sound[1..], b"."].concat();
    fs::write(&file, moved).expect("written");
    for query in 1..=3 {
        assert!(matches!(read(query).await, Err(RecordingError::Damaged { .. })), "{query}");
    }
    fs::remove_file(&file).expect("deleted");
    assert!(matches!(read(2).await, Err(RecordingError::Missing { .. })));
}

/// Moves all that is old into packs; how many recordings.
async fn gather(world: &World, before_unix_ns: i64) -> usize {
    let mut moved = 0;
    for mut loose in world.recordings.loose(before_unix_ns).await.expect("listed") {
        while !loose.is_empty() {
            moved += world.recordings.gather(&*world.store, &mut loose, 3).await.expect("moved");
        }
    }
    moved
}

#[tokio::test]
async fn files_of_old_days_are_gathered_into_packs() {
    let world = World::new();
    ended(&world, 1..=7).await;
    let next_day = Facts { started_unix_ns: Some(DAY_NS), ..facts("x") };
    world.commit(batch(8).finished(8, 2, next_day)).await;
    world.seal_alone(1..=8).await;
    let mut before = Vec::new();
    for query in 1..=8 {
        before.push(world.read(query).await);
    }
    // One has a late event, one is damaged.
    world.commit(batch(2).progress(2, [9])).await;
    let damaged = world.root().join(world.place(3).await.path);
    let mut bytes = fs::read(&damaged).expect("a file");
    let last = bytes.len() - 9;
    bytes[last] ^= 1;
    fs::write(&damaged, &bytes).expect("written");

    assert_eq!(gather(&world, DAY_NS - 1).await, 0, "their day is not over");
    assert_eq!(gather(&world, 3 * DAY_NS).await, 5);
    for query in [1, 4, 5, 6, 7] {
        assert!(world.place(query).await.slice.is_some(), "{query}");
        assert_eq!(world.read(query).await, before[query as usize - 1], "byte for byte");
    }
    for query in [2, 3, 8] {
        assert_eq!(world.place(query).await.slice, None, "{query}");
    }
    assert_eq!(fs::read(&damaged).expect("kept"), bytes);
    assert_eq!(world.tree().len(), 2 + 3, "{:?}", world.tree());
    assert_eq!(gather(&world, 3 * DAY_NS).await, 0, "nothing is left to do");
    assert_eq!(world.seal().await.sealed, 1);
    assert_eq!(seqs(&world.lines(2).await[1..]), [2, 3, 9]);
}

#[tokio::test]
async fn what_others_write_is_not_gathered() {
    let local = World::new();
    let shared = World::with(local.recordings.clone().shared());
    ended(&shared, 1..=3).await;
    shared.seal_alone(1..=3).await;
    assert_eq!(gather(&shared, 3 * DAY_NS).await, 0);
    assert_eq!(shared.place(1).await.slice, None);
}

#[tokio::test]
async fn what_is_read_ahead_is_what_is_there() {
    of_every_kind(async |world| {
        ended(&world, 1..=3).await;
        world.seal().await;
        ended(&world, [4]).await;
        world.seal().await;
        let mut places = Vec::new();
        for query in 1..=4 {
            places.push(world.place(query).await);
        }
        let before = world.read(1).await;
        // One has a file of its own, one is of a pack that is not there, one ends behind its pack.
        let gone = RecordingPlace { path: pack_path(0, 1), ..places[0].clone() };
        let long = Slice { offset: 9, bytes: 1 << 20 };
        let longer = RecordingPlace { slice: Some(long), ..places[1].clone() };
        let of_other = RecordingPlace { slice: places[1].slice, ..gone.clone() };
        let ahead = world.recordings.read_ahead(places.iter().take(2).chain([&gone, &of_other])).await;
        let mixed = world.recordings.read_ahead([&places[2], &longer, &places[3]]).await;
        for (recordings, query) in [(&ahead, 1), (&ahead, 3), (&mixed, 3), (&mixed, 4)] {
            let content = recordings.read(&world.store, world.parts(query).await).await.expect("a recording");
            assert_eq!(drain(content).await.expect("readable"), world.read(query).await, "{query}");
        }
        let mut inflater = Inflater::default();
        for (recordings, query, is_read) in [(&ahead, 1, true), (&ahead, 3, false), (&mixed, 3, true)] {
            let text = recordings.text_ahead(&world.parts(query).await, &mut inflater);
            let text = text.map(|text| String::from_utf8(text).expect("text"));
            let lines = world.lines(query).await;
            assert_eq!(text, is_read.then(|| lines.join("\n") + "\n"), "{query}");
        }
        for place in [&gone, &of_other] {
            assert!(matches!(ahead.open(place).await, Err(RecordingError::Gone)));
        }
        let short = drain(mixed.open(&longer).await.expect("there")).await.expect("readable");
        assert!(!short.is_empty() && (short.len() as u64) < long.bytes);
        world.recordings.delete(&places[0].path).await.expect("deleted");
        let content = ahead.read(&world.store, world.parts(1).await).await.expect("read before");
        assert_eq!(drain(content).await.expect("readable"), before);
        let content = ahead.read(&world.store, world.parts(3).await).await;
        assert!(matches!(content, Err(RecordingError::Missing { .. })), "it was not asked for");
    })
    .await;
}

#[tokio::test]
async fn a_link_is_not_read_ahead_and_what_is_not_its_runs_is_damaged() {
    let world = World::new();
    ended(&world, 1..=2).await;
    world.seal().await;
    let [place, other] = [world.place(1).await, world.place(2).await];
    let swapped = RecordingParts { sealed: Some(other.clone()), ..world.parts(1).await };
    let ahead = world.recordings.read_ahead([&place, &other]).await;
    assert_eq!(ahead.text_ahead(&swapped, &mut Inflater::default()), None);
    let read = ahead.read(&world.store, swapped).await;
    assert!(matches!(read, Err(RecordingError::Damaged { .. })), "it is that of another");
    let (pack, elsewhere) = (world.root().join(&place.path), world.root().join("elsewhere"));
    fs::rename(&pack, &elsewhere).expect("moved");
    std::os::unix::fs::symlink(&elsewhere, &pack).expect("a link");
    let ahead = world.recordings.read_ahead([&place]).await;
    let read = ahead.read(&world.store, world.parts(1).await).await;
    assert!(matches!(read, Err(RecordingError::Damaged { .. })), "its file is a link");
}
