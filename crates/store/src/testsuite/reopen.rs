//! The end of a store, and its next beginning.

use std::sync::Arc;

use queryscope_history::Window;

use super::batch::{batch, facts, query_id};
use super::subject::{ALL, Subjects, request};
use crate::analysis::GroupBy;
use crate::filter::QueryFilter;
use crate::recording::{RecordingPlace, Sealed};
use crate::token::TokenRecord;

pub(super) fn everything_is_kept(subjects: &Subjects) {
    subjects.one(async |s| {
        s.commit(batch(1).started(1, 2, facts("a")).progress(1, [3]).loose([9])).await;
        s.commit(batch(2).project("p").engine("polars").progress(2, [2]).finished(3, 7, facts("b"))).await;
        s.commit(batch(2).project("p").engine("polars").finished(4, 8, facts("c"))).await;
        let sealed = Sealed {
            query_id: query_id(4),
            place: RecordingPlace::file(s.query(4).await.recording().expect("it ended")),
            replaces: None,
            chunks: s.chunk_ids(4).await,
        };
        s.store.seal(vec![sealed]).await.expect("a store");
        let token = TokenRecord::of_sender("n", "p", [7; 32], 5);
        s.store.add_token(token).await.expect("a store");
        let (stored, list) = (s.snapshot().await, s.page(&request(QueryFilter::default())).await);
        for _ in 0..2 {
            s.reopen().await;
            assert_eq!(s.snapshot().await, stored);
            assert_eq!(s.page(&request(QueryFilter::default())).await, list, "places stay, too");
        }
        assert_eq!(s.commit(batch(1).started(1, 2, facts("a")).progress(1, [3, 4]).loose([9])).await, (1, 3));
    });
}

pub(super) fn a_closed_store_refuses(subjects: &Subjects) {
    subjects.one(async |s| {
        s.commit(batch(1).progress(1, [2])).await;
        s.store.close().await.expect("closed");
        let (store, id) = (&s.store, query_id(1));
        let window = Window::new(0, 1, 0).expect("a window");
        let token = TokenRecord::of_sender("n", "p", [7; 32], 5);
        assert!(store.commit(batch(1).progress(1, [3]).build()).await.is_err());
        assert!(store.end_silent(0).await.is_err());
        assert!(store.refresh_running(0).await.is_err());
        assert!(store.query(id).await.is_err());
        assert!(store.queries(request(QueryFilter::default())).await.is_err());
        assert!(store.facets(QueryFilter::default()).await.is_err());
        assert!(store.all_groups(QueryFilter::default(), GroupBy::Label).await.is_err());
        assert!(store.versions(QueryFilter::default()).await.is_err());
        assert!(store.whole_overview(QueryFilter::default(), window).await.is_err());
        assert!(store.engines().await.is_err());
        assert!(store.recording(id).await.is_err());
        assert!(store.chunks(vec![1]).await.is_err());
        assert!(store.unsealed(1).await.is_err());
        assert!(store.seal(vec![]).await.is_err());
        assert!(store.delete_before(0, 1).await.is_err());
        assert!(store.scan(None, 1).await.is_err());
        assert!(store.streams(None, 1).await.is_err());
        assert!(store.tokens().await.is_err());
        assert!(store.add_token(token).await.is_err());
        assert!(store.revoke_token("n").await.is_err());
        assert!(store.verify().await.is_err());
        assert!(store.stats().await.is_err());
    });
}

pub(super) fn what_was_acknowledged_before_a_close_is_there(subjects: &Subjects) {
    subjects.one(async |s| {
        let mut tasks = Vec::new();
        for number in 2..200 {
            let (store, sent) = (Arc::clone(&s.store), batch(1).progress(1, [number]).build());
            tasks.push((number, tokio::spawn(async move { store.commit(sent).await })));
        }
        tokio::task::yield_now().await;
        s.reopen().await;
        let parts = s.store.recording(query_id(1)).await.expect("a store");
        let stored: Vec<u64> =
            parts.iter().flat_map(|parts| &parts.chunks).map(|chunk| chunk.first.get()).collect();
        assert!(stored.len() < ALL);
        for (number, task) in tasks {
            let acknowledged = task.await.expect("no panic").is_ok();
            assert!(!acknowledged || stored.contains(&number), "{number}");
        }
    });
}
