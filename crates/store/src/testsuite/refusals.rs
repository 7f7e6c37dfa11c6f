//! What belongs to somebody else is refused whole.

use std::sync::Arc;

use super::batch::{batch, query_id, stream_id};
use super::subject::Subjects;
use crate::error::StoreError;

pub(super) fn a_stream_of_another_project(subjects: &Subjects) {
    subjects.one(async |s| {
        s.commit(batch(1).progress(1, [2])).await;
        let stored = s.snapshot().await;
        for foreign in [batch(1), batch(1).progress(1, [2, 3]), batch(1).progress(2, [4]).loose([5])] {
            match s.try_commit(foreign.project("other")).await {
                Err(StoreError::ForeignStream(id)) => assert_eq!(id, stream_id(1)),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(s.snapshot().await, stored);
        assert_eq!(s.commit(batch(1).progress(1, [3]).progress(2, [4]).loose([5])).await, (3, 0));
    });
}

pub(super) fn a_query_of_another_stream(subjects: &Subjects) {
    subjects.one(async |s| {
        s.commit(batch(1).progress(7, [2])).await;
        let stored = s.snapshot().await;
        let foreign = batch(2).progress(3, [2]).progress(7, [3]).progress(9, [4]).loose([5]);
        match s.try_commit(foreign).await {
            Err(StoreError::ForeignQuery(id)) => assert_eq!(id, query_id(7)),
            other => panic!("{other:?}"),
        }
        assert_eq!(s.snapshot().await, stored, "neither other queries nor the stream");
        let rest = batch(2).project("other").progress(3, [2]).progress(9, [4]).loose([3, 5]);
        assert_eq!(s.commit(rest).await, (4, 0), "nobody owns the stream, no seq of it is seen");
    });
}

pub(super) fn a_query_of_another_known_stream(subjects: &Subjects) {
    subjects.one(async |s| {
        s.commit(batch(1).progress(1, [2])).await;
        s.commit(batch(2).progress(2, [2])).await;
        let stored = s.snapshot().await;
        let foreign = batch(2).progress(2, [3]).progress(1, [4]);
        assert!(matches!(s.try_commit(foreign).await, Err(StoreError::ForeignQuery(_))));
        assert_eq!(s.snapshot().await, stored);
        assert_eq!(s.commit(batch(2).progress(2, [3, 4])).await, (2, 0));
    });
}

pub(super) fn refusals_among_others_at_once(subjects: &Subjects) {
    subjects.one(async |s| {
        s.commit(batch(1).progress(1, [2])).await;
        let mut tasks = Vec::new();
        for number in 10..50 {
            // Half of them are of streams of their own, half claim the query of stream 1.
            let claimed = if number % 2 == 0 { number } else { 1 };
            let sent = batch(number).progress(number + 100, [2]).progress(claimed, [3]).build();
            let store = Arc::clone(&s.store);
            tasks.push((number, tokio::spawn(async move { store.commit(sent).await })));
        }
        for (number, task) in tasks {
            let stored = task.await.expect("no panic");
            assert_eq!(stored.is_ok(), number % 2 == 0, "{stored:?}");
            assert_eq!(s.find(number + 100).await.is_some(), number % 2 == 0);
        }
        assert_eq!(s.snapshot().await.streams.len(), 21);
        assert_eq!(s.chunks(1).await.len(), 1);
    });
}
