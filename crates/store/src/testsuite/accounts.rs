//! A count of what a query was given tells when something is missing.

use super::batch::{batch, facts, query_id, stream_id};
use super::subject::{ALL, Subject, Subjects};
use crate::batch::Facts;
use crate::kept::{Account, Loss};
use crate::recording::{RecordingPlace, Sealed};

/// How many events a query was given.
async fn given(s: &Subject, query: u64) -> Option<u64> {
    let account = s.store.account(query_id(query)).await.expect("a store");
    account.map(|Account { committed, lost }| {
        assert_eq!(lost, 0, "nothing is lost without a repair");
        committed
    })
}

/// How many events seen of a stream no query keeps.
async fn unkept(s: &Subject, stream: u64) -> Option<u64> {
    s.store.unkept(stream_id(stream)).await.expect("a store")
}

/// Asserts that every event seen of every stream is accounted for.
pub(super) async fn balance(s: &Subject) {
    let mut given = std::collections::HashMap::new();
    for (_, id) in s.store.query_ids(None, ALL).await.expect("a store") {
        let query = s.store.query(id).await.expect("a store").expect("a query");
        let account = s.store.account(id).await.expect("a store").expect("counted");
        *given.entry(query.stream_id).or_insert(0) += account.committed;
    }
    for stream in s.store.streams(None, ALL).await.expect("a store") {
        let seen: u64 = stream.seen.iter().map(|run| run.last - run.first + 1).sum();
        let unkept = s.store.unkept(stream.stream_id).await.expect("a store").expect("counted");
        let given = given.get(&stream.stream_id).copied().unwrap_or(0);
        assert_eq!(seen, unkept + given, "{}", stream.stream_id);
    }
}

pub(super) fn each_event_of_a_query_is_counted_once(subjects: &Subjects) {
    subjects.one(async |s| {
        assert_eq!(given(s, 1).await, None);
        s.commit(batch(1).progress(1, [2, 3])).await;
        assert_eq!(given(s, 1).await, Some(2));
        s.commit(batch(1).progress(1, [3, 4])).await;
        s.commit(batch(1).progress(1, [30])).await;
        assert_eq!(given(s, 1).await, Some(4), "while it runs");
        s.commit(batch(1).started(1, 5, facts("x")).progress(1, [6])).await;
        s.commit(batch(1).progress(1, [7])).await;
        assert_eq!(given(s, 1).await, Some(7), "once a profile is known");
        s.end_silent(i64::MAX).await;
        assert_eq!(given(s, 1).await, Some(7), "unfinished");
        s.commit(batch(1).progress(1, [7, 8])).await;
        s.commit(batch(1).progress(1, [9])).await;
        s.reopen().await;
        assert_eq!(given(s, 1).await, Some(9), "it reported again");
        s.commit(batch(1).progress(1, [9]).finished(1, 10, facts("x"))).await;
        assert_eq!(given(s, 1).await, Some(10), "ended");
        s.commit(batch(1).progress(1, [11, 12]).progress(2, [13])).await;
        assert_eq!((given(s, 1).await, given(s, 2).await), (Some(12), Some(1)), "late");

        let chunks = s.chunk_ids(1).await;
        let path = s.query(1).await.recording().expect("ended");
        s.store
            .seal(vec![Sealed {
                query_id: query_id(1),
                place: RecordingPlace::file(path),
                replaces: None,
                chunks,
            }])
            .await
            .expect("a store");
        s.commit(batch(1).progress(1, 2..=14)).await;
        assert_eq!((given(s, 1).await, given(s, 2).await), (Some(13), Some(1)), "sealed, and sent again");
        assert_eq!(unkept(s, 1).await, Some(0));
    });
}

pub(super) fn what_no_query_keeps_is_counted(subjects: &Subjects) {
    subjects.one(async |s| {
        assert_eq!(unkept(s, 1).await, None);
        s.commit(batch(1)).await;
        s.commit(batch(1).loose([2, 3]).progress(1, [4])).await;
        s.commit(batch(1).loose([3, 5])).await;
        assert_eq!(unkept(s, 1).await, Some(3));
        let old = || Facts { started_unix_ns: Some(10), ..facts("old") };
        s.commit(batch(1).finished(2, 6, old()).progress(2, [7])).await;
        s.commit(batch(2).finished(3, 2, old()).started(4, 3, old())).await;
        s.end_silent(i64::MAX).await;
        s.store.delete_before(11, ALL).await.expect("a store");
        assert_eq!((unkept(s, 1).await, unkept(s, 2).await), (Some(5), Some(2)));
        // A query that was deleted and reports again begins anew.
        s.commit(batch(1).progress(2, [6, 7, 8])).await;
        assert_eq!((unkept(s, 1).await, given(s, 2).await), (Some(5), Some(1)));
        s.reopen().await;
        assert_eq!((unkept(s, 1).await, given(s, 2).await), (Some(5), Some(1)));
        balance(s).await;
    });
}

pub(super) fn a_loss_is_recorded_once_and_outlives_its_query(subjects: &Subjects) {
    subjects.one(async |s| {
        let old = || Facts { started_unix_ns: Some(10), ..facts("old") };
        s.commit(batch(1).finished(1, 2, old())).await;
        let loss = |query: Option<u64>, events, found_unix_ms| Loss {
            stream_id: stream_id(1),
            query_id: query.map(query_id),
            events,
            found_unix_ms,
        };
        let losses = vec![
            loss(Some(1), 1, Some(1_795_000_000_000)),
            loss(None, 2, Some(1_795_000_000_000)),
            loss(Some(1), 1, None),
            loss(None, 2, None),
            loss(Some(7), u64::from(u32::MAX), Some(1_795_000_000_001)),
        ];
        let of_another = Loss { stream_id: stream_id(2), ..losses[0] };
        let recorded = async |s: &Subject| s.store.losses(stream_id(1)).await.expect("a store");
        assert_eq!(recorded(s).await, []);
        s.store.record_losses(losses[..2].to_vec()).await.expect("a store");
        s.store.record_losses([&losses[..], &[of_another]].concat()).await.expect("a store");
        assert_eq!(recorded(s).await, losses);
        s.store.delete_before(11, ALL).await.expect("a store");
        s.reopen().await;
        assert_eq!(recorded(s).await, losses);
        assert_eq!(s.store.losses(stream_id(2)).await.expect("a store"), [of_another]);
        assert_eq!(s.store.losses(stream_id(3)).await.expect("a store"), []);
        s.store.probe().await.expect("a store");
        assert_eq!(recorded(s).await, losses);
    });
}
