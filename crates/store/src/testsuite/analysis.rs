//! Answers over many queries: that they are of the moment they are asked in, and what their cases share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use queryscope_history::{Group, LabelOverview, Version, Window};

use super::batch::{batch, facts};
use super::subject::{ALL, Subject, Subjects};
use crate::analysis::{Facets, GroupBy};
use crate::batch::Facts;
use crate::commits::Heard;
use crate::filter::{Is, QueryFilter};

/// Turns of the cases that look for a moment in which an answer is wrong.
const TURNS: u64 = 60;

pub(super) const HOUR_NS: i64 = 3_600_000_000_000;
pub(super) const DAY_NS: i64 = 24 * HOUR_NS;
/// When the cases take place: an hour before midnight.
pub(super) const NOW_NS: i64 = 20_000 * DAY_NS - HOUR_NS;

impl Subject {
    pub(super) async fn facets(&self, filter: QueryFilter) -> Facets {
        self.store.facets(filter).await.expect("a store")
    }

    pub(super) async fn groups(&self, filter: QueryFilter, by: GroupBy) -> Vec<Group<'static>> {
        self.store.all_groups(filter, by).await.expect("a store")
    }

    pub(super) async fn versions(&self, filter: QueryFilter) -> Vec<Version> {
        self.store.versions(filter).await.expect("a store")
    }

    pub(super) async fn overview(&self, filter: QueryFilter, window: Window) -> Vec<LabelOverview<'static>> {
        self.store.whole_overview(filter, window).await.expect("a store")
    }

    /// Queries by state, the most frequent first, as `finished 2, failed 1`.
    pub(super) async fn states(&self) -> String {
        let status = self.facets(QueryFilter::default()).await.status;
        let told: Vec<_> = status
            .iter()
            .map(|facet| format!("{} {}", facet.value.as_deref().unwrap_or("-"), facet.runs))
            .collect();
        told.join(", ")
    }
}

/// A value a field must have.
pub(super) fn is(text: &str) -> Is {
    Is::Value(text.into())
}

/// What a profile says of a query with this label that started then.
pub(super) fn at(label: &str, started_unix_ns: i64) -> Facts {
    Facts { started_unix_ns: Some(started_unix_ns), ..facts(label) }
}

pub(super) fn an_empty_store(subjects: &Subjects) {
    subjects.one(async |s| {
        let all = QueryFilter::default;
        let window = Window::new(NOW_NS, 14, 0).expect("a window");
        for _ in 0..2 {
            assert_eq!(s.facets(all()).await, Facets::default());
            assert_eq!(s.groups(all(), GroupBy::Label).await, []);
            assert_eq!(s.versions(all()).await, []);
            assert_eq!(s.overview(all(), window).await, []);
            s.reopen().await;
        }
    });
}

pub(super) fn what_is_answered_can_be_read(subjects: &Subjects) {
    subjects.one(async |s| {
        for turn in 1..=TURNS {
            let start = at("x", turn as i64);
            s.commit(batch(1).received(5).started(turn, 3 * turn, start.clone())).await;
            assert_eq!(s.states().await, "running 1");
            s.end_silent(6).await;
            assert_eq!(s.states().await, "unfinished 1");
            s.commit(batch(1).progress(turn, [3 * turn + 1])).await;
            assert_eq!(s.states().await, "running 1");
            s.commit(batch(1).finished(turn, 3 * turn + 2, start)).await;
            assert_eq!(s.states().await, "finished 1");
            s.store.delete_before(i64::MAX, ALL).await.expect("a store");
            assert_eq!(s.states().await, "");
        }
    });
}

pub(super) fn what_is_told_can_be_read(subjects: &Subjects) {
    subjects.one(async |s| {
        let mut commits = s.store.commits();
        for turn in 1..=TURNS {
            s.commit(batch(1).received(5).started(turn, turn, at("x", 1))).await;
            assert!(matches!(commits.next().await, Some(Heard::Changes(_))));
            let store = Arc::clone(&s.store);
            let ending = tokio::spawn(async move { store.end_silent(6).await });
            assert!(matches!(commits.next().await, Some(Heard::Changes(_))));
            assert_eq!(s.states().await, format!("unfinished {turn}"));
            assert_eq!(ending.await.expect("no panic").expect("a store"), 1);
        }
    });
}

pub(super) fn answers_while_commits_go_on(subjects: &Subjects) {
    subjects.one(async |s| {
        s.commit(batch(1).finished(1, 1, at("x", 1))).await;
        s.reopen().await;
        let stored = Arc::new(AtomicU64::new(1));
        let (store, counted) = (Arc::clone(&s.store), Arc::clone(&stored));
        let storing = tokio::spawn(async move {
            for query in 2..=TURNS {
                store.commit(batch(1).finished(query, query, at("x", 1)).build()).await.expect("stored");
                counted.store(query, Ordering::SeqCst);
            }
        });
        let mut last = 0;
        while last < TURNS {
            let least = stored.load(Ordering::SeqCst);
            let groups = s.groups(QueryFilter::default(), GroupBy::Label).await;
            let [group] = &groups[..] else { panic!("{groups:?}") };
            let most = stored.load(Ordering::SeqCst) + 1;
            assert!((least.max(last)..=most).contains(&group.runs), "{} of {least} to {most}", group.runs);
            last = group.runs;
        }
        storing.await.expect("no panic");
    });
}

pub(super) fn versions_while_queries_go(subjects: &Subjects) {
    subjects.one(async |s| {
        let store = Arc::clone(&s.store);
        let changing = tokio::spawn(async move {
            for query in 1..=TURNS {
                let told = Facts { fingerprint: Some("p".into()), ..at("x", query as i64) };
                store.commit(batch(1).finished(query, query, told).build()).await.expect("stored");
                store.delete_before(i64::MAX, ALL).await.expect("a store");
            }
        });
        while !changing.is_finished() {
            let versions = s.versions(QueryFilter::default()).await;
            assert!(versions.len() <= 1, "{versions:?}");
        }
        changing.await.expect("no panic");
        assert_eq!(s.versions(QueryFilter::default()).await, []);
    });
}
