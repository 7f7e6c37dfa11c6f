//! Only new events have a say in what a query is.

use super::batch::{batch, facts, line};
use super::subject::Subjects;
use crate::batch::Facts;
use crate::query::Status;

pub(super) fn a_duplicate_does_not_change_the_row(subjects: &Subjects) {
    subjects.one(async |s| {
        s.commit(batch(1).started(1, 2, facts("first"))).await;
        let started = s.query(1).await;
        s.commit(batch(1).started(1, 2, facts("second"))).await;
        assert_eq!(s.query(1).await, started);
        s.commit(batch(1).finished(1, 2, facts("third"))).await;
        assert_eq!(s.query(1).await, started);

        s.commit(batch(1).finished(1, 3, facts("end"))).await;
        let ended = s.query(1).await;
        let failed = Facts { failed: Some("boom".into()), ..facts("other end") };
        s.commit(batch(1).finished(1, 3, failed)).await;
        assert_eq!(s.query(1).await, ended);
    });
}

pub(super) fn a_duplicate_among_new_events_says_nothing(subjects: &Subjects) {
    subjects.one(async |s| {
        s.commit(batch(1).progress(1, [2, 3, 4])).await;
        let mixed = batch(1).started(1, 3, facts("started")).finished(1, 4, facts("ended")).progress(1, [5]);
        assert_eq!(s.commit(mixed).await, (1, 2));
        let query = s.query(1).await;
        assert_eq!((query.status, query.label), (Status::Running, None));
        assert_eq!(s.chunks(1).await.concat()[3..], [line(1, 5)]);

        // Of a start and an end only the end is new.
        let mixed = batch(1).started(1, 2, facts("started")).finished(1, 6, facts("ended"));
        assert_eq!(s.commit(mixed).await, (1, 1));
        let query = s.query(1).await;
        assert_eq!((query.status, query.label.as_deref()), (Status::Finished, Some("ended")));
    });
}

pub(super) fn duplicates_do_not_wake_an_unfinished_query(subjects: &Subjects) {
    subjects.one(async |s| {
        s.commit(batch(1).progress(1, [2, 3])).await;
        assert_eq!(s.end_silent(1_001).await, 1);
        s.commit(batch(1).received(5_000).progress(1, [2, 3])).await;
        assert_eq!(s.status(1).await, Status::Unfinished);
        s.commit(batch(1).received(5_000).progress(1, [3, 4])).await;
        assert_eq!(s.status(1).await, Status::Running);
    });
}
