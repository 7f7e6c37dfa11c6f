//! Chunks give way to recordings.

use queryscope_protocol::QueryId;

use super::batch::{batch, facts, line, query_id};
use super::subject::{ALL, Subject, Subjects};
use crate::path::{recording_path, versioned_path};
use crate::recording::{RecordingPlace, Sealed};

/// Path of the recording of a query that started on a day since 1970.
fn path(query: u64, day: i64) -> String {
    recording_path(query_id(query), day * 86_400_000_000_000)
}

fn place(query: u64, day: i64) -> RecordingPlace {
    RecordingPlace::file(path(query, day))
}

fn sealed(query: u64, day: i64, chunks: Vec<i64>) -> Sealed {
    Sealed { query_id: query_id(query), place: place(query, day), replaces: None, chunks }
}

/// In the place of what lies under another day.
fn moved(query: u64, from: i64, to: i64, chunks: Vec<i64>) -> Sealed {
    Sealed { replaces: Some(place(query, from)), ..sealed(query, to, chunks) }
}

async fn seal(s: &Subject, sealed: impl IntoIterator<Item = Sealed>) -> Vec<String> {
    s.store.seal(sealed.into_iter().collect()).await.expect("a store")
}

async fn unsealed(s: &Subject, limit: usize) -> Vec<QueryId> {
    s.store.unsealed(limit).await.expect("a store")
}

pub(super) fn only_ended_queries_with_chunks_wait(subjects: &Subjects) {
    subjects.one(async |s| {
        s.commit(batch(1).progress(1, [2]).finished(2, 3, facts("x")).progress(3, [4])).await;
        assert_eq!(unsealed(s, ALL).await, [2].map(query_id));
        s.end_silent(i64::MAX).await;
        assert_eq!(unsealed(s, ALL).await, [1, 2, 3].map(query_id));
        s.commit(batch(1).progress(3, [5])).await;
        assert_eq!(unsealed(s, ALL).await, [1, 2].map(query_id), "it runs again");
        let chunks = s.chunk_ids(1).await;
        seal(s, [sealed(1, 0, chunks)]).await;
        assert_eq!(unsealed(s, ALL).await, [2].map(query_id));
        s.commit(batch(1).finished(1, 6, facts("x"))).await;
        assert_eq!(unsealed(s, ALL).await, [1, 2].map(query_id), "late events wait in their turn");
        s.reopen().await;
        assert_eq!(unsealed(s, ALL).await, [1, 2].map(query_id));
    });
}

pub(super) fn those_first_stored_come_first(subjects: &Subjects) {
    subjects.one(async |s| {
        s.commit(batch(1).progress(7, [1])).await;
        for (query, seq) in [(5, 2), (3, 3), (9, 4), (1, 5)] {
            s.commit(batch(1).finished(query, seq, facts("x"))).await;
        }
        assert_eq!(unsealed(s, 3).await, [5, 3, 9].map(query_id));
        s.commit(batch(1).finished(7, 6, facts("x"))).await;
        assert_eq!(unsealed(s, 3).await, [7, 5, 3].map(query_id));
        assert!(unsealed(s, 0).await.is_empty());
    });
}

pub(super) fn only_the_named_chunks_go(subjects: &Subjects) {
    subjects.one(async |s| {
        s.commit(batch(1).progress(1, [2, 3]).finished(2, 4, facts("x"))).await;
        s.commit(batch(1).finished(1, 5, facts("x"))).await;
        let chunks = s.chunk_ids(1).await;
        s.commit(batch(1).progress(1, [9])).await;
        let before = s.query(1).await;
        assert!(seal(s, [sealed(1, 0, chunks.clone())]).await.is_empty());
        assert_eq!(s.query(1).await, before);
        let parts = s.parts(1).await;
        assert_eq!((parts.sealed, parts.chunks.len()), (Some(place(1, 0)), 1));
        assert_eq!(s.chunks(1).await, [[line(1, 9)]]);
        assert_eq!(unsealed(s, ALL).await, [1, 2].map(query_id));
        assert_eq!(s.store.chunks(chunks.clone()).await.expect("a store"), [None, None]);

        // A chunk of another query, and those that are gone already, are no concern of this one.
        let (late, other) = (s.chunk_ids(1).await, s.chunk_ids(2).await);
        seal(s, [sealed(1, 0, [&chunks[..], &late[..], &other[..]].concat())]).await;
        assert_eq!((s.chunk_ids(1).await, s.chunk_ids(2).await), (vec![], other));
        s.reopen().await;
        assert_eq!(s.parts(1).await.sealed, Some(place(1, 0)));
        assert_eq!(s.commit(batch(1).progress(1, [2, 3, 9])).await, (0, 3), "what is sealed stays seen");
    });
}

pub(super) fn a_path_that_is_replaced_is_given_back(subjects: &Subjects) {
    subjects.one(async |s| {
        s.commit(batch(1).finished(1, 2, facts("x"))).await;
        let chunks = s.chunk_ids(1).await;
        assert!(seal(s, [sealed(1, 10, chunks)]).await.is_empty());
        assert!(seal(s, [sealed(1, 10, vec![])]).await.is_empty(), "the same path is no other");
        assert_eq!(seal(s, [moved(1, 10, 11, vec![])]).await, [path(1, 10)]);
        assert_eq!(s.parts(1).await.sealed, Some(place(1, 11)));
        assert_eq!(seal(s, [moved(1, 11, -1, vec![])]).await, [path(1, 11)]);
        assert_eq!(s.parts(1).await.sealed, Some(place(1, -1)));
    });
}

pub(super) fn of_two_that_were_written_one_counts(subjects: &Subjects) {
    subjects.one(async |s| {
        s.commit(batch(1).progress(1, [2]).finished(1, 3, facts("x"))).await;
        let early = s.chunk_ids(1).await;
        s.commit(batch(1).progress(1, [4])).await;
        let all = s.chunk_ids(1).await;
        assert!(seal(s, [sealed(1, 2, all.clone())]).await.is_empty());
        assert_eq!(seal(s, [sealed(1, 1, early.clone())]).await, [path(1, 1)], "it lacks an event");
        assert_eq!(seal(s, [sealed(1, 1, vec![])]).await, [path(1, 1)], "it replaces nothing that is there");
        assert!(seal(s, [sealed(1, 2, all)]).await.is_empty(), "two wrote the same");
        assert_eq!(s.parts(1).await.sealed, Some(place(1, 2)));

        s.commit(batch(1).progress(1, [5])).await;
        let late = s.chunk_ids(1).await;
        let gone = [&early[..], &late[..]].concat();
        assert_eq!(
            seal(s, [moved(1, 2, 3, gone)]).await,
            [path(1, 3)],
            "it may hold what another has sealed"
        );
        assert_eq!(seal(s, [moved(1, 1, 3, late.clone())]).await, [path(1, 3)], "it was made of another");
        assert_eq!((s.parts(1).await.sealed, s.chunk_ids(1).await), (Some(place(1, 2)), late.clone()));
        assert_eq!(seal(s, [moved(1, 2, 3, late)]).await, [path(1, 2)]);
        assert_eq!((s.parts(1).await.sealed, s.chunk_ids(1).await), (Some(place(1, 3)), vec![]));
    });
}

pub(super) fn a_recording_may_have_versions(subjects: &Subjects) {
    subjects.one(async |s| {
        s.commit(batch(1).finished(1, 2, facts("x"))).await;
        let versions = [0, u64::MAX, 7].map(|version| versioned_path(&path(1, 3), version));
        let mut replaces: Option<RecordingPlace> = None;
        for version in versions.map(RecordingPlace::file) {
            let chunks = s.chunk_ids(1).await;
            let sealed =
                Sealed { query_id: query_id(1), place: version.clone(), replaces: replaces.clone(), chunks };
            let replaced: Vec<String> = replaces.into_iter().map(|place| place.path).collect();
            assert_eq!(seal(s, [sealed]).await, replaced);
            assert_eq!(s.parts(1).await.sealed.as_ref(), Some(&version));
            replaces = Some(version);
        }
        s.reopen().await;
        assert_eq!(s.parts(1).await.sealed, replaces);
        let deleted = s.store.delete_before(i64::MAX, ALL).await.expect("a store");
        assert_eq!(deleted.orphans, replaces.into_iter().map(|place| place.path).collect::<Vec<_>>());
    });
}

pub(super) fn a_query_that_is_gone_gives_its_path_back(subjects: &Subjects) {
    subjects.one(async |s| {
        s.commit(batch(1).finished(1, 2, facts("x"))).await;
        let chunks = s.chunk_ids(1).await;
        s.store.delete_before(i64::MAX, ALL).await.expect("a store");
        assert_eq!(seal(s, [sealed(1, 0, chunks), sealed(2, 3, vec![7])]).await, [path(1, 0), path(2, 3)]);
        assert_eq!(s.find(1).await, None);
    });
}

pub(super) fn many_are_sealed_in_one_call(subjects: &Subjects) {
    subjects.one(async |s| {
        for query in 1..=20 {
            s.commit(batch(1).finished(query, query + 1, facts("x"))).await;
        }
        let mut recordings = Vec::new();
        for query in 1..=19 {
            recordings.push(sealed(query, 0, s.chunk_ids(query).await));
        }
        recordings.push(sealed(99, 0, vec![]));
        let waiting = async |s: &Subject| s.store.stats().await.expect("a store").unsealed;
        assert_eq!(waiting(s).await, 20);
        assert_eq!(seal(s, recordings).await, [path(99, 0)]);
        assert_eq!(waiting(s).await, 1);
        assert_eq!(unsealed(s, ALL).await, [20].map(query_id));
        assert!(seal(s, []).await.is_empty());
    });
}

pub(super) fn an_id_of_a_chunk_is_used_once(subjects: &Subjects) {
    subjects.one(async |s| {
        let mut used = Vec::new();
        for number in 2..=6 {
            s.commit(batch(1).finished(1, number, facts("x")).progress(2, [number + 100])).await;
            for query in [1, 2] {
                let chunks = s.chunk_ids(query).await;
                seal(s, [sealed(query, 0, chunks.clone())]).await;
                used.extend(chunks);
            }
        }
        let count = used.len();
        used.sort_unstable();
        used.dedup();
        assert_eq!((used.len(), count), (10, 10));
    });
}
