//! What followers of a store hear of its commits.

use std::sync::Arc;
use std::time::Duration;

use super::batch::{batch, facts, line, query_id, seq};
use super::changes::change;
use super::evaluation::found;
use super::subject::{Subject, Subjects};
use crate::chunk::{lines_of, unpack};
use crate::commits::{Change, Commits, Heard};
use crate::diagnosis::{Evaluation, QueryEvaluation, StoredChange};
use crate::query::Status;

/// Queries of the case that commits at once.
const AT_ONCE: u64 = 40;
/// How long a commit may take to be told.
const PATIENCE: Duration = Duration::from_secs(10);

async fn next(commits: &mut Commits) -> Arc<[Change]> {
    match commits.next().await {
        Some(Heard::Changes(changes)) => changes,
        other => panic!("{other:?}"),
    }
}

/// The only change of the next commit, and the lines it made known.
async fn next_one(s: &Subject, commits: &mut Commits) -> (Change, Vec<String>) {
    let changes = next(commits).await;
    let [change] = &changes[..] else { panic!("{changes:?}") };
    (change.clone(), lines(s, change).await)
}

async fn lines(s: &Subject, change: &Change) -> Vec<String> {
    let Some(chunk) = change.chunk else { return Vec::new() };
    let gzip = s.store.chunks(vec![chunk.id]).await.expect("a store").remove(0).expect("durable");
    assert_eq!(gzip.len() as u64, chunk.bytes);
    let unpacked = unpack(&gzip).expect("sound");
    lines_of(&unpacked).map(|line| String::from_utf8(line.to_vec()).expect("text")).collect()
}

pub(super) fn each_commit_is_told_once_it_can_be_read(subjects: &Subjects) {
    subjects.one(async |s| {
        s.commit(batch(1).progress(9, [2])).await;
        let mut commits = s.store.commits();
        s.commit(batch(1).progress(1, [3, 5])).await;
        let (change, told) = next_one(s, &mut commits).await;
        assert_eq!((change.query_id, change.status, change.moved), (query_id(1), Status::Running, true));
        assert_eq!(change.new.as_deref(), Some(&s.query(1).await));
        let chunk = change.chunk.expect("events");
        assert_eq!((chunk.first, chunk.last), (seq(3), seq(5)));
        assert_eq!(told, [line(1, 3), line(1, 5)]);
        s.commit(batch(1).progress(1, [6])).await;
        let (change, told) = next_one(s, &mut commits).await;
        assert_eq!((change.new, change.moved, told), (None, false, vec![line(1, 6)]));
        assert_eq!(commits.try_next(), None);
    });
}

pub(super) fn changes_of_queries_are_told_where_they_are_to_be(subjects: &Subjects) {
    subjects.one(async |s| {
        let found = |changes: &[StoredChange]| {
            vec![QueryEvaluation { changes: changes.into(), ..found("a", vec![]) }]
        };
        let record = async |changes: &[StoredChange], told: &[&str]| {
            assert!(s.store.evaluation_lease("c", PATIENCE).await.expect("a store"));
            let told = told.iter().map(ToString::to_string).collect();
            let evaluation =
                Evaluation { holder: "c".into(), queries: found(changes), told, ..Evaluation::default() };
            assert!(s.store.record_evaluation(evaluation).await.expect("a store"));
        };
        let named = |id: &str, since_unix_ns| StoredChange { since_unix_ns, ..change(id, 1.0) };
        record(&[named("before", 1)], &["before"]).await;
        let mut commits = s.store.commits();
        record(&[named("one", 2), named("two", 3), named("three", 4)], &["two", "three"]).await;
        let Some(Heard::Found(told)) = commits.next().await else { panic!("not told") };
        let mut told: Vec<&str> = told.iter().map(|change| &*change.id).collect();
        told.sort_unstable();
        assert_eq!(told, ["three", "two"]);
        record(&[named("one", 2)], &[]).await;
        s.commit(batch(1).progress(1, [2])).await;
        assert!(matches!(commits.next().await, Some(Heard::Changes(_))), "nothing was to be told");
    });
}

pub(super) fn only_what_is_new_is_told(subjects: &Subjects) {
    subjects.one(async |s| {
        s.commit(batch(1).progress(1, [2, 3]).progress(2, [4])).await;
        let mut commits = s.store.commits();
        s.commit(batch(1).progress(1, [2, 3])).await;
        s.commit(batch(1).loose([9])).await;
        s.commit(batch(1).progress(1, [3, 5, 6]).progress(2, [4])).await;
        let (change, told) = next_one(s, &mut commits).await;
        assert_eq!((change.query_id, told), (query_id(1), vec![line(1, 5), line(1, 6)]));
        assert_eq!(commits.try_next(), None, "a commit of duplicates alone changes nothing");
    });
}

pub(super) fn every_move_of_a_state_is_told(subjects: &Subjects) {
    subjects.one(async |s| {
        let mut commits = s.store.commits();
        let mut heard = async |s: &Subject| {
            let (change, _) = next_one(s, &mut commits).await;
            (change.status, change.moved, change.chunk.is_some())
        };
        s.commit(batch(1).progress(1, [2])).await;
        assert_eq!(heard(s).await, (Status::Running, true, true));
        s.commit(batch(1).started(1, 3, facts("now known"))).await;
        assert_eq!(heard(s).await, (Status::Running, true, true));
        assert_eq!(s.end_silent(i64::MAX).await, 1);
        assert_eq!(heard(s).await, (Status::Unfinished, true, false));
        assert_eq!(s.end_silent(i64::MAX).await, 0);
        s.commit(batch(1).progress(1, [4])).await;
        assert_eq!(heard(s).await, (Status::Running, true, true));
        s.commit(batch(1).finished(1, 5, facts("done"))).await;
        assert_eq!(heard(s).await, (Status::Finished, true, true));
        s.commit(batch(1).progress(1, [6])).await;
        assert_eq!(heard(s).await, (Status::Finished, false, true));
    });
}

pub(super) fn refusals_tell_nothing(subjects: &Subjects) {
    subjects.one(async |s| {
        s.commit(batch(1).progress(1, [2])).await;
        let mut commits = s.store.commits();
        assert!(s.try_commit(batch(1).project("other").progress(2, [3])).await.is_err());
        assert!(s.try_commit(batch(2).progress(3, [2]).progress(1, [3])).await.is_err());
        assert_eq!(commits.try_next(), None);
        s.commit(batch(1).progress(1, [3])).await;
        assert_eq!(next_one(s, &mut commits).await.0.query_id, query_id(1));
    });
}

pub(super) fn commits_at_once_are_told_in_one_order(subjects: &Subjects) {
    subjects.one(async |s| {
        let (mut one, mut other) = (s.store.commits(), s.store.commits());
        let commit = |query: u64| {
            let store = Arc::clone(&s.store);
            tokio::spawn(async move { store.commit(batch(query).progress(query, [2]).build()).await })
        };
        for task in (1..=AT_ONCE).map(commit).collect::<Vec<_>>() {
            task.await.expect("no panic").expect("stored");
        }
        let mut told = Vec::new();
        let mut told_other = Vec::new();
        while told.len() < AT_ONCE as usize {
            told.extend(next(&mut one).await.iter().map(|change| change.query_id));
        }
        while told_other.len() < AT_ONCE as usize {
            told_other.extend(next(&mut other).await.iter().map(|change| change.query_id));
        }
        assert_eq!(told, told_other);
        let scanned = s.store.scan(None, AT_ONCE as usize).await.expect("a store");
        let stored: Vec<_> = scanned.iter().map(|listed| listed.query.query_id).collect();
        assert_eq!(told, stored, "the order in which they were stored");
    });
}

pub(super) fn who_begins_during_a_commit_misses_nothing(subjects: &Subjects) {
    subjects.one(async |s| {
        for query in 1..=AT_ONCE {
            let store = Arc::clone(&s.store);
            let commit =
                tokio::spawn(async move { store.commit(batch(query).progress(query, [2]).build()).await });
            // At another moment of the commit each time.
            tokio::time::sleep(Duration::from_micros(query * 25)).await;
            let mut commits = s.store.commits();
            if s.find(query).await.is_none() {
                let heard = tokio::time::timeout(PATIENCE, commits.next()).await.expect("told");
                assert!(heard.is_some() && s.find(query).await.is_some());
            }
            commit.await.expect("no panic").expect("stored");
        }
    });
}
