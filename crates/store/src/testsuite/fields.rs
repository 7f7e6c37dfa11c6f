//! Every field of a query comes back as it went in.

use super::batch::{BatchBuilder, batch, facts, query_id, seq};
use super::subject::{Subject, Subjects};
use crate::batch::{Facts, StreamBatch};
use crate::query::{Known, Query, Status};

/// Stores a batch with one query and checks what comes back, also after a restart.
async fn check(s: &mut Subject, sent: BatchBuilder) {
    let batch: StreamBatch = sent.clone().build();
    let [part] = &batch.parts[..] else { panic!("one query a batch") };
    let expected = Query::first(&batch.project, &batch.process, part.query_id, &part.report);
    s.commit(sent).await;
    for _ in ["as stored", "after a restart"] {
        let found = s.store.query(part.query_id).await.expect("a store");
        assert_eq!(found.as_ref(), Some(&expected));
        s.reopen().await;
    }
}

pub(super) fn nothing_known(subjects: &Subjects) {
    subjects.one(async |s| {
        check(s, batch(1).guessed_start(1_795_206_683_609_778_763).progress(1, [2])).await;
        let query = s.query(1).await;
        assert_eq!((query.known, query.status), (Known::Guess, Status::Running));
        assert_eq!((query.service, query.environment, query.engine, query.label), (None, None, None, None));
        let bare = Facts { label: None, started_unix_ns: None, ..facts("") };
        check(s, batch(1).started(2, 3, bare.clone())).await;
        check(s, batch(1).finished(3, 4, bare)).await;
    });
}

pub(super) fn everything_known(subjects: &Subjects) {
    subjects.one(async |s| {
        let told = Facts {
            seq: seq(2),
            engine_version: Some("1.35.2 β".into()),
            label: Some("orders/täglich 日本 🦀".into()),
            fingerprint: Some("9f86d081884c7d65".into()),
            started_unix_ns: Some(1_795_206_683_609_778_763),
            wall_ms: 1234.5678,
            cpu_ms: Some(0.1 + 0.2),
            result_rows: Some(42),
            bytes_read: Some(43),
            spilled_bytes: Some(44),
            peak_memory_bytes: Some(45),
            failed: Some("line one\nline two\t\"quoted\" 'single' \\ %_".into()),
            warnings: 3,
            rules: vec!["cross_join".into(), "sp\"ill, é".into()],
        };
        let from = batch(1).project("team \"a\"").process(Some("etl"), Some("prod"), "worker-1");
        check(s, from.clone().engine("polars").finished(1, 2, told.clone())).await;
        check(s, from.finished(2, 3, Facts { failed: None, ..told })).await;
    });
}

pub(super) fn extreme_numbers(subjects: &Subjects) {
    subjects.one(async |s| {
        let ms = [0.0, 5e-324, f64::MIN_POSITIVE, 1.0 / 3.0, 9_007_199_254_740_993.0, 1e300, f64::MAX];
        for (query, ms) in (1..).zip(ms) {
            let told = Facts { wall_ms: ms, cpu_ms: Some(ms), ..facts("x") };
            check(s, batch(1).finished(query, query, told)).await;
            let found = s.query(query).await;
            assert_eq!(found.wall_ms.map(f64::to_bits), Some(ms.to_bits()));
        }
        for (query, whole) in (20..).zip([i64::MIN, -1, 0, 1, i64::MAX - 1, i64::MAX]) {
            let told = Facts {
                started_unix_ns: Some(whole),
                result_rows: Some(whole),
                bytes_read: Some(whole.max(0)),
                spilled_bytes: Some(whole.max(0)),
                peak_memory_bytes: Some(whole.max(0)),
                warnings: u32::MAX,
                ..facts("x")
            };
            check(s, batch(1).received(i64::MAX).guessed_start(whole).finished(query, query, told)).await;
            check(s, batch(1).received(i64::MIN).guessed_start(whole).progress(query + 20, [query + 20]))
                .await;
        }
    });
}

pub(super) fn odd_texts(subjects: &Subjects) {
    subjects.one(async |s| {
        let long = "ä".repeat(Facts::ERROR_CHARS);
        let texts =
            ["", " ", "\0", "a\0b", "NULL", "0", "\u{fffd}\u{200b}\u{10ffff}", "'; --", "\r\n", &long];
        for (number, text) in (1..).zip(texts) {
            let told = Facts {
                engine_version: Some(text.into()),
                label: Some(text.into()),
                fingerprint: Some(text.into()),
                failed: Some(text.into()),
                rules: vec![text.into()],
                ..facts("")
            };
            let from = batch(number).project(text).process(Some(text), Some(text), text);
            check(s, from.finished(number, 2, told)).await;
        }
    });
}

pub(super) fn a_profile_replaces_a_guess(subjects: &Subjects) {
    subjects.one(async |s| {
        let guess = batch(1).guessed_start(7).progress(1, [2]);
        let started = Facts {
            engine_version: Some("1".into()),
            label: Some("started".into()),
            fingerprint: Some("plan a".into()),
            started_unix_ns: Some(5),
            // Of a run that runs, they are not told.
            bytes_read: Some(1),
            spilled_bytes: Some(1),
            peak_memory_bytes: Some(1),
            warnings: 1,
            rules: vec!["a".into()],
            ..facts("")
        };
        let ended = Facts {
            label: None,
            fingerprint: Some("plan b".into()),
            started_unix_ns: Some(6),
            wall_ms: 80.5,
            cpu_ms: Some(160.0),
            result_rows: Some(3),
            bytes_read: Some(4),
            spilled_bytes: Some(0),
            peak_memory_bytes: Some(5),
            failed: Some("boom".into()),
            warnings: 2,
            rules: vec!["b".into(), "c".into()],
            ..facts("")
        };
        let steps =
            [guess, batch(1).guessed_start(99).started(1, 3, started), batch(1).finished(1, 4, ended)];
        let mut expected: Option<Query> = None;
        for step in steps {
            let sent = step.clone().build();
            let report = &sent.parts[0].report;
            match &mut expected {
                Some(query) => query.hear(report),
                None => expected = Some(Query::first(&sent.project, &sent.process, query_id(1), report)),
            }
            s.commit(step).await;
            assert_eq!(s.find(1).await, expected);
            s.reopen().await;
            assert_eq!(s.find(1).await, expected);
        }

        // A profile that does not say when the query started leaves what was known.
        s.commit(batch(1).guessed_start(7).progress(2, [12])).await;
        let timeless = Facts { started_unix_ns: None, ..facts("x") };
        s.commit(batch(1).guessed_start(99).started(2, 13, timeless.clone())).await;
        assert_eq!(s.query(2).await.started_unix_ns, 7);
        s.commit(batch(1).guessed_start(99).finished(2, 14, timeless)).await;
        assert_eq!(s.query(2).await.started_unix_ns, 7);
    });
}

pub(super) fn the_first_process_event_says_where_queries_run(subjects: &Subjects) {
    subjects.one(async |s| {
        s.commit(batch(1).process(Some("a"), None, "h1").progress(1, [2])).await;
        s.commit(batch(1).process(Some("b"), Some("prod"), "h2").progress(1, [3]).progress(2, [4])).await;
        let (first, second) = (s.query(1).await, s.query(2).await);
        assert_eq!((first.service.as_deref(), first.environment, &*first.host), (Some("a"), None, "h1"));
        assert_eq!((second.service.as_deref(), second.environment, &*second.host), (Some("a"), None, "h1"));
    });
}
