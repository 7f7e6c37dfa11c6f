//! Every transition between the states of a query.

use std::collections::BTreeSet;

use super::batch::{batch, facts, query_id};
use super::subject::{Subject, Subjects};
use crate::batch::Facts;
use crate::commits::Heard;
use crate::query::Status;

fn failed(text: &str) -> Facts {
    Facts { failed: Some(text.into()), ..facts("label") }
}

pub(super) fn a_query_begins_running(subjects: &Subjects) {
    subjects.one(async |s| {
        s.commit(batch(1).started(1, 2, facts("x")).progress(2, [3]).event(3, 4, r#"{"seq":4}"#)).await;
        for query in 1..=3 {
            assert_eq!(s.status(query).await, Status::Running);
        }
    });
}

pub(super) fn a_query_ends_with_its_profile(subjects: &Subjects) {
    subjects.one(async |s| {
        // At once, or after it has run.
        s.commit(batch(1).finished(1, 2, facts("x")).finished(2, 3, failed("boom"))).await;
        s.commit(batch(1).progress(3, [4]).started(4, 5, facts("x"))).await;
        s.commit(batch(1).finished(3, 6, facts("x")).finished(4, 7, failed(""))).await;
        for (query, status) in
            [(1, Status::Finished), (2, Status::Failed), (3, Status::Finished), (4, Status::Failed)]
        {
            assert_eq!(s.status(query).await, status, "{query}");
        }
        assert_eq!(s.end_silent(i64::MAX).await, 0, "none of them runs");
    });
}

pub(super) fn silence_ends_strictly_after(subjects: &Subjects) {
    subjects.one(async |s| {
        s.commit(batch(1).received(1_000).progress(1, [2]).progress(2, [3])).await;
        s.commit(batch(1).received(1_500).progress(3, [4]).finished(4, 5, facts("x"))).await;
        assert_eq!(s.end_silent(1_000).await, 0);
        assert_eq!(s.status(1).await, Status::Running);
        assert_eq!(s.end_silent(1_001).await, 2);
        for (query, status) in
            [(1, Status::Unfinished), (2, Status::Unfinished), (3, Status::Running), (4, Status::Finished)]
        {
            assert_eq!(s.status(query).await, status, "{query}");
        }
        assert_eq!(s.end_silent(1_001).await, 0);
    });
}

pub(super) fn every_new_event_breaks_the_silence(subjects: &Subjects) {
    subjects.one(async |s| {
        s.commit(batch(1).received(1_000).progress(1, [2])).await;
        s.commit(batch(1).received(2_000).event(1, 3, r#"{"seq":3}"#)).await;
        assert_eq!(s.end_silent(2_000).await, 0);
        assert_eq!(s.end_silent(2_001).await, 1);
    });
}

pub(super) fn a_restart_grants_a_fresh_silence(subjects: &Subjects) {
    subjects.one(async |s| {
        s.commit(batch(1).received(1_000).progress(1, [2]).progress(2, [3]).finished(3, 4, facts("x"))).await;
        s.commit(batch(1).received(900).progress(4, [5])).await;
        assert_eq!(s.end_silent(1_000).await, 1);
        s.store.refresh_running(5_000).await.expect("a store");
        assert_eq!(s.end_silent(5_000).await, 0);
        assert_eq!(s.end_silent(5_001).await, 2);
        assert_eq!((s.status(3).await, s.status(4).await), (Status::Finished, Status::Unfinished));
    });
}

pub(super) fn many_may_fall_silent_at_once(subjects: &Subjects) {
    subjects.one(async |s| {
        // More than a store ends in one transaction, and not a multiple of it.
        let (loud, silent) = (7, 1_000);
        let mut of_silent = batch(1).received(1_000);
        for query in 1..=silent {
            of_silent = of_silent.progress(query, [query]);
        }
        s.commit(of_silent).await;
        s.commit(batch(1).received(2_000).progress(loud, [silent + 1])).await;
        let mut commits = s.store.commits();
        assert_eq!(s.end_silent(2_000).await, silent - 1);
        assert_eq!(s.states().await, format!("unfinished {}, running 1", silent - 1));
        let mut told = BTreeSet::new();
        while told.len() < silent as usize - 1 {
            let Some(Heard::Changes(changes)) = commits.next().await else { panic!("not told of {told:?}") };
            assert!(changes.iter().all(|change| change.status == Status::Unfinished));
            told.extend(changes.iter().map(|change| change.query_id));
        }
        assert!(!told.contains(&query_id(loud)));
        assert_eq!(s.end_silent(2_000).await, 0);
    });
}

async fn unfinished(s: &Subject, query: u64, seq: u64) {
    s.commit(batch(1).started(query, seq, facts("x"))).await;
    s.end_silent(i64::MAX).await;
    assert_eq!(s.status(query).await, Status::Unfinished);
}

pub(super) fn an_unfinished_query_may_report_again(subjects: &Subjects) {
    subjects.one(async |s| {
        for query in 1..=4 {
            unfinished(s, query, query * 10).await;
        }
        let back = batch(1).received(9_000);
        s.commit(back.clone().progress(1, [11]).finished(2, 21, facts("x"))).await;
        s.commit(back.finished(3, 31, failed("boom")).started(4, 41, facts("y"))).await;
        for (query, status) in
            [(1, Status::Running), (2, Status::Finished), (3, Status::Failed), (4, Status::Running)]
        {
            assert_eq!(s.status(query).await, status, "{query}");
            assert_eq!(s.chunks(query).await.len(), 2);
        }
        assert_eq!(s.query(3).await.failed.as_deref(), Some("boom"));
        assert_eq!(s.end_silent(9_000).await, 0);
        assert_eq!(s.end_silent(9_001).await, 2, "what came back can fall silent again");
    });
}

pub(super) fn a_late_event_changes_nothing(subjects: &Subjects) {
    subjects.one(async |s| {
        s.commit(batch(1).finished(1, 9, facts("x")).finished(2, 10, failed("boom"))).await;
        for query in [1, 2] {
            let ended = s.query(query).await;
            let late = query * 100;
            s.commit(batch(1).progress(query, [late])).await;
            s.commit(batch(1).started(query, late + 1, facts("late"))).await;
            s.commit(batch(1).finished(query, late + 2, failed("late"))).await;
            s.commit(batch(1).finished(query, late + 3, facts("late"))).await;
            assert_eq!(s.query(query).await, ended);
            assert_eq!(s.chunks(query).await.len(), 5, "they join the recording");
        }
        assert_eq!(s.end_silent(i64::MAX).await, 0);
    });
}

pub(super) fn the_first_end_decides(subjects: &Subjects) {
    subjects.one(async |s| {
        // In one batch that of the lowest seq, else the first to arrive.
        s.commit(batch(1).finished(1, 5, facts("later")).finished(1, 3, failed("first"))).await;
        assert_eq!(s.query(1).await.failed.as_deref(), Some("first"));
        s.commit(batch(1).finished(2, 9, facts("first"))).await;
        s.commit(batch(1).finished(2, 8, failed("later"))).await;
        assert_eq!(s.status(2).await, Status::Finished);
    });
}

pub(super) fn silence_is_counted_across_a_restart(subjects: &Subjects) {
    subjects.one(async |s| {
        s.commit(batch(1).received(1_000).progress(1, [2])).await;
        s.commit(batch(1).received(2_000).progress(2, [3])).await;
        s.reopen().await;
        assert_eq!(s.end_silent(2_000).await, 1);
        assert_eq!((s.status(1).await, s.status(2).await), (Status::Unfinished, Status::Running));
    });
}
