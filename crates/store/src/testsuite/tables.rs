//! Scans, retention, tokens and figures.

use std::collections::BTreeSet;

use super::batch::{batch, facts, line, query_id, stream_id};
use super::subject::{ALL, Subject, Subjects, number, numbers};
use crate::batch::Facts;
use crate::path::recording_path;
use crate::recording::{RecordingPlace, Sealed};
use crate::seen::SeqRange;
use crate::store::Deleted;
use crate::token::TokenRecord;

fn started(unix_ns: i64) -> Facts {
    Facts { started_unix_ns: Some(unix_ns), ..facts("x") }
}

pub(super) fn a_scan_goes_through_all_in_the_order_they_came(subjects: &Subjects) {
    subjects.one(async |s| {
        assert!(s.store.scan(None, ALL).await.expect("a store").is_empty());
        let order = [7, 3, 9, 1, 4];
        for (seq, query) in (2..).zip(order) {
            s.commit(batch(1).finished(query, seq, started(query.cast_signed()))).await;
        }
        s.commit(batch(1).progress(3, [50])).await;
        let mut scanned = Vec::new();
        let mut after = None;
        loop {
            let page = s.store.scan(after, 2).await.expect("a store");
            let Some(last) = page.last() else { break };
            after = Some(last.position.tie);
            scanned.extend(numbers(&page));
            assert!(scanned.len() <= order.len(), "it does not end");
        }
        assert_eq!(scanned, order);
        let listed = s.store.scan(None, 1).await.expect("a store").remove(0);
        assert_eq!((number(&listed.query), listed.position.started_unix_ns), (7, 7));
    });
}

pub(super) fn streams_are_given_once_with_all_they_sent(subjects: &Subjects) {
    subjects.one(async |s| {
        for stream in 1..=7 {
            let project = format!("p{}", stream % 2);
            s.commit(batch(stream).project(&project).progress(stream, [2, 3]).loose([4, stream + 10])).await;
        }
        let mut given = Vec::new();
        let mut after = None;
        loop {
            let page = s.store.streams(after, 3).await.expect("a store");
            assert!(page.len() <= 3);
            let Some(last) = page.last() else { break };
            after = Some(last.stream_id);
            given.extend(page);
            assert!(given.len() <= 7, "it does not end");
        }
        assert_eq!(given.len(), 7);
        for stream in 1..=7 {
            let found = given.iter().find(|seen| seen.stream_id == stream_id(stream)).expect("each once");
            assert_eq!(found.project, format!("p{}", stream % 2));
            assert_eq!(found.process_line, batch(stream).build().process.line);
            let own = stream + 10;
            assert_eq!(found.seen, [SeqRange { first: 2, last: 4 }, SeqRange { first: own, last: own }]);
        }
    });
}

async fn delete(s: &Subject, before: i64, limit: usize) -> Deleted {
    s.store.delete_before(before, limit).await.expect("a store")
}

pub(super) fn only_old_queries_that_ended_are_deleted(subjects: &Subjects) {
    subjects.one(async |s| {
        s.commit(batch(1).finished(1, 2, started(100)).finished(2, 3, started(101))).await;
        s.commit(batch(1).started(3, 4, started(50))).await;
        s.end_silent(i64::MAX).await;
        s.commit(batch(1).started(4, 5, started(50)).finished(5, 6, started(99))).await;
        let path = recording_path(query_id(5), 99);
        let (kept, sealed) = (s.chunk_ids(1).await, s.chunk_ids(5).await);
        let place = RecordingPlace::file(path.clone());
        let recording = Sealed { query_id: query_id(5), place, replaces: None, chunks: sealed };
        s.store.seal(vec![recording]).await.expect("a store");

        let chunks = s.chunk_ids(3).await;
        let mut deleted = delete(s, 100, ALL).await;
        deleted.queries.sort();
        assert_eq!(deleted, Deleted { queries: [3, 5].map(query_id).into(), orphans: vec![path] });
        assert_eq!(s.list(crate::filter::QueryFilter::default()).await, [2, 1, 4]);
        assert_eq!(s.store.chunks(chunks).await.expect("a store"), [None]);
        assert!(s.store.chunks(kept).await.expect("a store")[0].is_some());
        assert!(s.store.recording(query_id(3)).await.expect("a store").is_none());
        assert!(!s.store.unsealed(ALL).await.expect("a store").contains(&query_id(3)));
        assert_eq!(delete(s, 100, ALL).await, Deleted::default());
    });
}

pub(super) fn a_deletion_is_limited(subjects: &Subjects) {
    subjects.one(async |s| {
        for query in 1..=5 {
            s.commit(batch(1).finished(query, query + 1, started(10))).await;
        }
        assert_eq!(delete(s, 11, 0).await, Deleted::default());
        let mut deleted = BTreeSet::new();
        for count in [2, 2, 1, 0] {
            let part = delete(s, 11, 2).await;
            assert_eq!(part.queries.len(), count);
            deleted.extend(part.queries);
        }
        assert_eq!(deleted, (1..=5).map(query_id).collect());
    });
}

pub(super) fn what_was_deleted_stays_seen(subjects: &Subjects) {
    subjects.one(async |s| {
        let sent =
            batch(1).started(1, 2, started(10)).progress(1, [3]).finished(1, 4, started(10)).loose([5]);
        s.commit(sent.clone()).await;
        delete(s, 11, ALL).await;
        for _ in ["at once", "after a restart"] {
            assert_eq!(s.commit(sent.clone()).await, (0, 4));
            assert_eq!(s.find(1).await, None);
            assert!(s.snapshot().await.queries.is_empty());
            s.reopen().await;
        }
        // What is new of it is stored: it was acknowledged.
        assert_eq!(s.commit(batch(1).progress(1, [3, 6])).await, (1, 1));
        assert_eq!(s.chunks(1).await, [[line(1, 6)]]);
        assert_eq!(s.query(1).await.label, None);
        let stolen = s.try_commit(batch(2).project("other").progress(1, [2])).await;
        assert!(stolen.is_err(), "it belongs to its stream again");
    });
}

pub(super) fn tokens_have_a_name_each(subjects: &Subjects) {
    subjects.one(async |s| {
        assert_eq!(s.store.tokens().await.expect("a store"), []);
        let token = |name: &str, project: &str, byte| {
            TokenRecord::of_sender(name, project, [byte; 32], i64::from(byte) * 1_000_000_000_000)
        };
        for added in [token("b", "p", 1), token("a", "p", 2), token("ä", "Q", 255)] {
            assert!(s.store.add_token(added).await.expect("a store"));
        }
        assert!(!s.store.add_token(token("a", "q", 4)).await.expect("a store"));
        let expected = [token("a", "p", 2), token("b", "p", 1), token("ä", "Q", 255)];
        assert_eq!(s.store.tokens().await.expect("a store"), expected);
        assert!(s.store.revoke_token("b").await.expect("a store"));
        assert!(!s.store.revoke_token("b").await.expect("a store"));
        assert!(!s.store.revoke_token("A").await.expect("a store"));
        s.reopen().await;
        assert_eq!(s.store.tokens().await.expect("a store"), [token("a", "p", 2), token("ä", "Q", 255)]);
        assert!(s.store.add_token(token("b", "q", 9)).await.expect("a store"));
    });
}

pub(super) fn engines_are_known_by_name(subjects: &Subjects) {
    subjects.one(async |s| {
        s.commit(batch(1).progress(1, [2])).await;
        assert!(s.store.engines().await.expect("a store").is_empty(), "the neutral format names none");
        s.commit(batch(2).engine("polars").progress(2, [2]).progress(3, [3])).await;
        s.commit(batch(3).engine("datafusion").progress(4, [2])).await;
        s.commit(batch(2).engine("polars").progress(5, [4])).await;
        for _ in ["at once", "after a restart"] {
            assert_eq!(s.store.engines().await.expect("a store"), ["datafusion", "polars"]);
            s.reopen().await;
        }
        assert_eq!(s.query(4).await.engine.as_deref(), Some("datafusion"));
    });
}

pub(super) fn running_queries_are_counted(subjects: &Subjects) {
    subjects.one(async |s| {
        let running = async |s: &Subject| s.store.stats().await.expect("a store").running;
        assert_eq!(running(s).await, 0);
        s.commit(batch(1).progress(1, [2]).progress(2, [3]).finished(3, 4, facts("x"))).await;
        s.commit(batch(1).received(9_000).progress(4, [5])).await;
        assert_eq!(running(s).await, 3);
        s.commit(batch(1).finished(1, 6, facts("x"))).await;
        assert_eq!(running(s).await, 2);
        s.end_silent(2_000).await;
        assert_eq!(running(s).await, 1);
        s.commit(batch(1).progress(2, [7])).await;
        s.reopen().await;
        assert_eq!(running(s).await, 2);
    });
}
