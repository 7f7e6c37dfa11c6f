//! What is stored of a query's events, and how it is read.

use super::batch::{batch, facts, line, query_id, seq};
use super::subject::Subjects;
use crate::kept::Kept;
use crate::recording::{RecordingPlace, Sealed};

pub(super) fn the_process_line_is_the_first_ever_sent(subjects: &Subjects) {
    subjects.one(async |s| {
        let first = batch(1).process(Some("täglich"), None, "h");
        s.commit(first.clone()).await;
        s.commit(batch(1).process(Some("b"), None, "h").progress(1, [2])).await;
        s.commit(batch(1).process(Some("c"), None, "h").progress(1, [3])).await;
        assert_eq!(s.parts(1).await.process_line, first.build().process.line);
        assert_eq!(s.parts(1).await.query, s.query(1).await);
    });
}

pub(super) fn chunks_are_listed_by_first_seq(subjects: &Subjects) {
    subjects.one(async |s| {
        for numbers in [vec![30, 31], vec![2], vec![10, 50], vec![20, 21, 22]] {
            s.commit(batch(1).progress(1, numbers).progress(2, [])).await;
        }
        let parts = s.parts(1).await;
        let ranges: Vec<_> = parts.chunks.iter().map(|chunk| (chunk.first.get(), chunk.last.get())).collect();
        assert_eq!(ranges, [(2, 2), (10, 50), (20, 22), (30, 31)]);
        assert_eq!(parts.sealed, None);
    });
}

pub(super) fn chunks_are_read_in_the_order_asked(subjects: &Subjects) {
    subjects.one(async |s| {
        let batches = [batch(1).progress(1, [2, 3]), batch(1).progress(2, [4]), batch(1).progress(1, [5])];
        for batch in &batches {
            s.commit(batch.clone()).await;
        }
        let gzip: Vec<_> = batches.map(|batch| Some(batch.build().parts.remove(0).gzip)).into();
        let (of_first, of_second) = (s.chunk_ids(1).await, s.chunk_ids(2).await);
        let (a, b, c) = (of_first[0], of_second[0], of_first[1]);
        let unknown = a.max(b).max(c) + 1000;
        let read = s.store.chunks(vec![c, unknown, a, b, a, -1]).await.expect("a store");
        let expected =
            [&gzip[2], &None, &gzip[0], &gzip[1], &gzip[0], &None].map(|gzip: &Option<Vec<u8>>| gzip.clone());
        assert_eq!(read, expected);
        assert!(s.store.chunks(vec![]).await.expect("a store").is_empty());
    });
}

pub(super) fn an_unknown_query_has_no_recording(subjects: &Subjects) {
    subjects.one(async |s| {
        assert!(s.store.recording(query_id(1)).await.expect("a store").is_none());
        s.commit(batch(1).progress(1, [2])).await;
        assert!(s.store.recording(query_id(2)).await.expect("a store").is_none());
        assert_eq!(s.find(2).await, None);
    });
}

pub(super) fn queries_are_kept_as_they_are_asked_for_one_by_one(subjects: &Subjects) {
    subjects.one(async |s| {
        s.commit(batch(1).process(Some("a"), None, "h").finished(1, 2, facts("x")).progress(2, [3, 4])).await;
        s.commit(batch(2).process(Some("b"), None, "h").started(3, 2, facts("y")).progress(4, [3])).await;
        s.commit(batch(1).progress(2, [8])).await;
        let (chunks, path) = (s.chunk_ids(1).await, s.query(1).await.recording().expect("ended"));
        let sealed =
            Sealed { query_id: query_id(1), place: RecordingPlace::file(path), replaces: None, chunks };
        s.store.seal(vec![sealed]).await.expect("a store");
        let asked = [4, 2, 9, 1, 3, 2].map(query_id);
        let mut expected = Vec::new();
        for id in asked {
            let account = s.store.account(id).await.expect("a store");
            let parts = s.store.recording(id).await.expect("a store");
            expected.push(parts.map(|parts| Kept { parts, account }));
        }
        assert_eq!(expected.iter().flatten().map(|kept| kept.parts.chunks.len()).sum::<usize>(), 6);
        assert_eq!(s.store.kept(&asked).await.expect("a store"), expected);
        assert!(s.store.kept(&[]).await.expect("a store").is_empty());
    });
}

pub(super) fn bytes_are_kept(subjects: &Subjects) {
    subjects.one(async |s| {
        let odd = ["{\"seq\":2 ,\"x\":\"\u{2028}\\ud800\"}\r", "", " ", "{\"seq\":5,\"\0\":\"\u{10ffff}\"}"];
        let large = format!(r#"{{"seq":6,"x":"{}"}}"#, "0123456789".repeat(300_000));
        let mut sent = batch(1).event(1, 6, large.as_str());
        for (number, text) in (2..).zip(odd) {
            sent = sent.event(1, number, text);
        }
        s.commit(sent.clone()).await;
        let chunk = s.chunk_ids(1).await;
        let gzip = s.store.chunks(chunk).await.expect("a store").remove(0);
        assert_eq!(gzip, Some(sent.clone().build().parts.remove(0).gzip), "packed bytes stay as they came");

        // Packed anew the lines are the same, to the byte.
        s.commit(batch(1).progress(2, [12])).await;
        let mut again = batch(1).event(2, 12, "{}").event(2, 16, large.as_str());
        for (number, text) in (20..).zip(odd) {
            again = again.event(2, number, text);
        }
        s.commit(again).await;
        let mut expected = vec![large];
        expected.extend(odd.map(Into::into));
        assert_eq!(s.chunks(2).await, [vec![line(2, 12)], expected]);
        let last = s.parts(2).await.chunks[1];
        assert_eq!((last.first, last.last), (seq(16), seq(23)));
        s.commit(batch(1).finished(2, 30, facts("x"))).await;
        s.reopen().await;
        assert_eq!(s.chunks(2).await.concat().len(), 7);
    });
}
