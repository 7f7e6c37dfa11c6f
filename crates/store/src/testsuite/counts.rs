//! Each event is stored once.

use std::sync::Arc;

use super::batch::{batch, facts, line, query_id, seq, stream_id};
use super::subject::{ALL, Subjects};
use crate::seen::SeqRange;
use crate::store::Committed;

pub(super) fn all_new_then_all_duplicate(subjects: &Subjects) {
    subjects.one(async |s| {
        let sent = batch(1).progress(1, [2, 3]).progress(2, [4]).loose([5]);
        assert_eq!(s.commit(sent.clone()).await, (4, 0));
        let stored = s.snapshot().await;
        assert_eq!(s.chunks(1).await, [[line(1, 2), line(1, 3)]]);
        for _ in 0..3 {
            assert_eq!(s.commit(sent.clone()).await, (0, 4));
        }
        assert_eq!(s.snapshot().await, stored);
    });
}

pub(super) fn only_the_fresh_lines_of_a_part_are_stored(subjects: &Subjects) {
    subjects.one(async |s| {
        s.commit(batch(1).progress(1, [4, 5])).await;
        assert_eq!(s.commit(batch(1).progress(1, [2, 3, 4, 5, 6]).progress(2, [7])).await, (4, 2));
        let parts = s.parts(1).await;
        let ranges: Vec<_> = parts.chunks.iter().map(|chunk| (chunk.first, chunk.last)).collect();
        assert_eq!(ranges, [(seq(2), seq(6)), (seq(4), seq(5))]);
        assert_eq!(
            s.chunks(1).await,
            [vec![line(1, 2), line(1, 3), line(1, 6)], vec![line(1, 4), line(1, 5)]]
        );
        assert_eq!(s.chunks(2).await, [[line(2, 7)]]);

        // At either end.
        assert_eq!(s.commit(batch(1).progress(1, [6, 9])).await, (1, 1));
        assert_eq!(s.commit(batch(1).progress(1, [8, 9])).await, (1, 1));
        assert_eq!(s.chunks(1).await[2..], [[line(1, 8)], [line(1, 9)]]);
    });
}

pub(super) fn batches_may_come_in_any_order(subjects: &Subjects) {
    subjects.one(async |s| {
        for (numbers, expected) in [
            (vec![30, 31], (2, 0)),
            (vec![10], (1, 0)),
            (vec![20, 25], (2, 0)),
            (vec![2, 3, 4], (3, 0)),
            ((5..=31).collect(), (22, 5)),
            (vec![4, 32], (1, 1)),
            ((2..=32).collect(), (0, 31)),
        ] {
            assert_eq!(s.commit(batch(1).progress(1, numbers.clone())).await, expected, "{numbers:?}");
        }
        let mut lines: Vec<_> = s.chunks(1).await.concat();
        lines.sort();
        let mut expected: Vec<_> = (2..=32).map(|number| line(1, number)).collect();
        expected.sort();
        assert_eq!(lines, expected);
        assert_eq!(s.snapshot().await.streams[&stream_id(1)].1, [SeqRange { first: 2, last: 32 }]);
    });
}

pub(super) fn the_largest_seq(subjects: &Subjects) {
    subjects.one(async |s| {
        let top = i64::MAX.cast_unsigned();
        assert_eq!(s.commit(batch(1).progress(1, [top])).await, (1, 0));
        assert_eq!(s.commit(batch(1).progress(1, [1, top - 1, top])).await, (2, 1));
        assert_eq!(s.commit(batch(1).progress(1, [top - 1, top])).await, (0, 2));
        assert_eq!(s.commit(batch(1).loose([top - 2, top])).await, (1, 1));
        let expected = [SeqRange { first: 1, last: 1 }, SeqRange { first: top - 2, last: top }];
        assert_eq!(s.snapshot().await.streams[&stream_id(1)].1, expected);
    });
}

pub(super) fn events_of_no_query_are_remembered(subjects: &Subjects) {
    subjects.one(async |s| {
        assert_eq!(s.commit(batch(1).loose([2, 3])).await, (2, 0));
        assert_eq!(s.commit(batch(1).loose([3, 4])).await, (1, 1));
        assert_eq!(s.commit(batch(1).progress(1, [4])).await, (0, 1));
        assert_eq!(s.find(1).await, None, "nothing new was said of the query");
        assert_eq!(s.commit(batch(1).progress(1, [5]).loose([2, 6])).await, (2, 1));
    });
}

pub(super) fn a_process_event_alone(subjects: &Subjects) {
    subjects.one(async |s| {
        for _ in 0..2 {
            assert_eq!(s.commit(batch(1)).await, (0, 0));
        }
        let stored = s.snapshot().await;
        assert!(stored.queries.is_empty());
        assert_eq!(stored.streams[&stream_id(1)], ("default".to_owned(), vec![]));
    });
}

pub(super) fn two_streams_with_the_same_seqs(subjects: &Subjects) {
    subjects.one(async |s| {
        assert_eq!(s.commit(batch(1).progress(1, [2, 3])).await, (2, 0));
        assert_eq!(s.commit(batch(2).progress(2, [2, 3])).await, (2, 0));
        assert_eq!(s.commit(batch(2).progress(2, [3, 4])).await, (1, 1));
        assert_eq!(s.chunks(1).await, [[line(1, 2), line(1, 3)]]);
        assert_eq!(s.chunks(2).await, [vec![line(2, 2), line(2, 3)], vec![line(2, 4)]]);
    });
}

pub(super) fn the_first_bytes_of_an_event_stay(subjects: &Subjects) {
    subjects.one(async |s| {
        s.commit(batch(1).progress(1, [2])).await;
        let other = batch(1).event(1, 2, r#"{"seq":2,"other":true}"#).progress(1, [3]);
        assert_eq!(s.commit(other).await, (1, 1));
        assert_eq!(s.chunks(1).await, [[line(1, 2)], [line(1, 3)]]);
    });
}

pub(super) fn the_same_batch_a_hundred_times_at_once(subjects: &Subjects) {
    subjects.one(async |s| {
        let sent = batch(1).progress(1, 2..=9).finished(1, 10, facts("x")).loose([11]).build();
        let query = sent.parts[0].query_id;
        let mut tasks = Vec::new();
        for _ in 0..100 {
            let (store, sent) = (Arc::clone(&s.store), sent.clone());
            tasks.push(tokio::spawn(async move { store.commit(sent).await.expect("stored") }));
        }
        let mut sum = Committed::default();
        for task in tasks {
            let committed = task.await.expect("no panic");
            assert!(
                committed.accepted == 0 || committed.accepted == 10,
                "whole or not at all: {committed:?}"
            );
            sum.accepted += committed.accepted;
            sum.duplicates += committed.duplicates;
            sum.ended.extend(committed.ended);
        }
        assert_eq!(sum, Committed { accepted: 10, duplicates: 990, ended: vec![query] });
        assert_eq!(s.chunks(1).await.len(), 1);
        assert_eq!(s.chunks(1).await.concat().len(), 9);
    });
}

pub(super) fn overlapping_batches_at_once(subjects: &Subjects) {
    subjects.one(async |s| {
        let mut tasks = Vec::new();
        for first in 2..=60 {
            let (store, sent) = (Arc::clone(&s.store), batch(1).progress(1, first..first + 10).build());
            tasks.push(tokio::spawn(async move { store.commit(sent).await.expect("stored") }));
        }
        let mut accepted = 0;
        for task in tasks {
            accepted += task.await.expect("no panic").accepted;
        }
        assert_eq!(accepted, 68);
        let mut lines = s.chunks(1).await.concat();
        lines.sort();
        let mut expected: Vec<_> = (2..=69).map(|number| line(1, number)).collect();
        expected.sort();
        assert_eq!(lines, expected);
        let listed = s.store.scan(None, ALL).await.expect("a store");
        assert_eq!(listed.iter().map(|listed| listed.query.query_id).collect::<Vec<_>>(), [query_id(1)]);
    });
}
