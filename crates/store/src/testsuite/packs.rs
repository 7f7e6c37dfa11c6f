//! Several recordings in one file.

use super::batch::{batch, facts, query_id};
use super::subject::{ALL, Subject, Subjects};
use crate::path::recording_path;
use crate::recording::{Pack, RecordingPlace, Sealed, Slice};

const DAY: i64 = 20_000;

fn pack(number: u64) -> Pack {
    Pack { day: DAY, number }
}

fn place(number: u64, query: u64) -> RecordingPlace {
    RecordingPlace { path: pack(number).path(), slice: Some(Slice { offset: query * 100, bytes: 100 }) }
}

async fn ended(s: &Subject, queries: impl IntoIterator<Item = u64>) {
    for query in queries {
        s.commit(batch(1).finished(query, query + 10, facts("x"))).await;
    }
}

/// Seals queries into a pack, as they are now.
async fn seal(s: &Subject, number: u64, queries: &[u64]) -> Vec<String> {
    let mut sealed = Vec::new();
    for query in queries {
        let parts = s.parts(*query).await;
        sealed.push(Sealed {
            query_id: query_id(*query),
            place: place(number, *query),
            replaces: parts.sealed,
            chunks: parts.chunks.iter().map(|chunk| chunk.id).collect(),
        });
    }
    s.store.seal(sealed).await.expect("a store")
}

async fn packs(s: &Subject, day: i64) -> Vec<Pack> {
    let mut packs = s.store.packs(day).await.expect("a store");
    packs.sort_unstable();
    packs
}

async fn give_up(s: &Subject, number: u64) -> bool {
    s.store.give_up_pack(pack(number)).await.expect("a store")
}

pub(super) fn a_recording_may_be_in_a_pack(subjects: &Subjects) {
    subjects.one(async |s| {
        ended(s, 1..=3).await;
        assert!(seal(s, u64::MAX, &[1, 2, 3]).await.is_empty());
        s.reopen().await;
        for query in 1..=3 {
            let parts = s.parts(query).await;
            assert_eq!((parts.sealed, parts.chunks), (Some(place(u64::MAX, query)), vec![]));
        }
        let kept = s.store.kept(&[query_id(2)]).await.expect("a store").pop().flatten().expect("there");
        assert_eq!(kept.parts.sealed, Some(place(u64::MAX, 2)));
        assert!(s.store.unsealed(ALL).await.expect("a store").is_empty());
        assert_eq!(s.store.verify().await.expect("a store"), [""; 0]);
    });
}

pub(super) fn a_pack_is_given_back_with_its_last_recording(subjects: &Subjects) {
    subjects.one(async |s| {
        ended(s, 1..=4).await;
        assert!(seal(s, 1, &[1, 2, 3]).await.is_empty());
        assert!(seal(s, 2, &[1]).await.is_empty(), "two are left");
        let own = RecordingPlace::file(recording_path(query_id(2), 0));
        let sealed =
            Sealed { query_id: query_id(2), place: own.clone(), replaces: Some(place(1, 2)), chunks: vec![] };
        assert!(s.store.seal(vec![sealed]).await.expect("a store").is_empty(), "one is left");
        assert_eq!(packs(s, DAY).await, [pack(1), pack(2)]);
        assert_eq!(seal(s, 2, &[3]).await, [pack(1).path()]);
        assert_eq!(packs(s, DAY).await, [pack(2)]);
        assert_eq!(s.store.verify().await.expect("a store"), [""; 0]);

        let mut deleted = s.store.delete_before(i64::MAX, ALL).await.expect("a store");
        deleted.orphans.sort();
        assert_eq!(deleted.orphans, [own.path, pack(2).path()]);
        assert_eq!(packs(s, DAY).await, []);
    });
}

pub(super) fn a_pack_that_is_given_up_is_never_pointed_to(subjects: &Subjects) {
    subjects.one(async |s| {
        ended(s, 1..=3).await;
        assert!(seal(s, 1, &[1, 2]).await.is_empty());
        assert!(!give_up(s, 1).await, "runs point to it");
        assert!(give_up(s, 2).await && give_up(s, 2).await);
        s.reopen().await;
        assert_eq!(seal(s, 2, &[2, 3]).await, [pack(2).path()]);
        assert_eq!((s.parts(2).await.sealed, s.chunk_ids(3).await.len()), (Some(place(1, 2)), 1));
        assert_eq!(seal(s, 3, &[1, 2, 3]).await, [pack(1).path()]);
        assert_eq!(seal(s, 1, &[3]).await, [pack(1).path()], "its last recording went");
        assert_eq!(s.parts(3).await.sealed, Some(place(3, 3)));
        assert_eq!(s.store.verify().await.expect("a store"), [""; 0]);
    });
}

pub(super) fn packs_are_told_by_their_day(subjects: &Subjects) {
    subjects.one(async |s| {
        ended(s, 1..=2).await;
        assert!(seal(s, 7, &[1]).await.is_empty());
        assert!(seal(s, 0, &[2]).await.is_empty());
        assert!(give_up(s, 9).await);
        assert_eq!(packs(s, DAY).await, [pack(0), pack(7)]);
        assert_eq!(packs(s, DAY + 1).await, []);
    });
}
