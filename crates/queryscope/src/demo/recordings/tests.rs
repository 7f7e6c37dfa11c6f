use std::collections::BTreeSet;

use queryscope_protocol::Event;
use rand::SeedableRng;

use super::*;

const START_UNIX_NS: i64 = 1_800_000_000_123_456_789;

fn random() -> StdRng {
    StdRng::seed_from_u64(7)
}

fn postings() -> Vec<Posting> {
    schedule(&mut random(), START_UNIX_NS).expect("the recordings")
}

/// The events of a posting, which must be a batch.
fn events(posting: &Posting) -> Vec<Event<'_>> {
    let batch = Batch::open(&posting.batch).expect("a batch");
    batch.events.collect::<Result<_, _>>().expect("events")
}

#[test]
fn the_programme_is_about_a_minute_of_batches_in_order() {
    let postings = postings();
    assert!(postings.is_sorted_by_key(|posting| posting.at));
    let length = postings.last().expect("postings").at;
    assert!((55..70).contains(&length.as_secs()), "{length:?}");
    let bytes: usize = postings.iter().map(|posting| posting.batch.len()).sum();
    assert!(
        (100..400).contains(&postings.len()) && bytes < 1_500_000,
        "{} postings, {bytes} bytes",
        postings.len()
    );
    for posting in &postings {
        assert!(!events(posting).is_empty());
    }
}

#[test]
fn there_is_something_of_everything() {
    let mut names = BTreeSet::new();
    for posting in &postings() {
        for event in events(posting) {
            match event.kind {
                EventKind::Started(..) => names.insert("started"),
                EventKind::Progress(..) => names.insert("progress"),
                EventKind::Finished(_, profile) if profile.failed.is_some() => names.insert("failed"),
                EventKind::Finished(_, profile) if profile.warnings().next().is_some() => {
                    names.insert("warned")
                }
                EventKind::Finished(_, profile) if profile.wall_ms < 1000.0 => names.insert("fast"),
                EventKind::Finished(..) => names.insert("slow"),
                _ => false,
            };
        }
    }
    assert_eq!(
        names.into_iter().collect::<Vec<_>>(),
        ["failed", "fast", "progress", "slow", "started", "warned"]
    );
}

#[test]
fn several_queries_run_at_once() {
    let (mut running, mut most) = (BTreeSet::new(), 0);
    for posting in &postings() {
        for event in events(posting) {
            match event.kind {
                EventKind::Started(id, _) => running.insert(id),
                EventKind::Finished(id, _) => running.remove(&id),
                _ => false,
            };
            most = most.max(running.len());
        }
    }
    assert!(most >= 4, "{most} at once");
    assert!(running.is_empty(), "{running:?} never end");
}

#[test]
fn every_query_is_posted_when_it_says_it_happened() {
    for posting in &postings() {
        for event in events(posting) {
            let (EventKind::Started(id, profile) | EventKind::Finished(id, profile)) = event.kind else {
                continue;
            };
            let started = profile.started_unix_ns.expect("a start");
            let ended = started + (profile.wall_ms * 1e6) as i64;
            let late = START_UNIX_NS + posting.at.as_nanos() as i64 - ended;
            assert!((-1_000..100_000_000).contains(&late), "{id} is posted {late} ns late");
            let made = id.made_unix_ns().expect("an id that says when");
            assert_eq!(made / 1_000_000, started / 1_000_000);
        }
    }
}

#[test]
fn seqs_and_identities_are_unique() {
    let mut seen = BTreeSet::new();
    let mut ended = BTreeSet::new();
    let postings = postings();
    for posting in &postings {
        let stream = Batch::open(&posting.batch).expect("a batch").process.id;
        for event in events(posting) {
            assert!(seen.insert((stream, event.seq)), "{stream} {}", event.seq);
            if let EventKind::Finished(id, _) = event.kind {
                assert!(ended.insert(id), "{id} ends twice");
            }
        }
    }
    assert_eq!(ended.len(), postings.iter().map(|posting| posting.ended).sum::<usize>());
    assert_eq!(seen.iter().map(|(stream, _)| stream).collect::<BTreeSet<_>>().len(), PROGRAMME.len());
}

#[test]
fn all_but_identities_and_times_is_as_it_was_sent() {
    for (name, gzip) in RECORDINGS {
        let recording = Recording::read(gzip).expect(name);
        let played = recording.play(&mut random(), START_UNIX_NS, Duration::ZERO);
        let shift_ns = START_UNIX_NS - recording.first_unix_ns;
        let mut lines = Vec::new();
        for posting in &played {
            let batch = Batch::open(&posting.batch).expect("a batch");
            let process =
                batch.process_line.replace(&batch.process.id.to_string(), &recording.stream_id.to_string());
            let moved = recording.process_started_unix_ns + shift_ns;
            assert_eq!(restarted(&process, moved, -shift_ns), recording.process_line);
            lines.extend(events(posting).iter().map(|event| event.line.to_owned()));
        }
        assert_eq!(lines.len(), recording.events.len());
        for (line, recorded) in lines.iter().zip(&recording.events) {
            let id = Event::read(line).expect("an event").kind.query_id().expect("a query's");
            assert_ne!(id, recorded.query_id);
            let back = line.replace(&id.to_string(), &recorded.query_id.to_string());
            let moved = recording.queries[&recorded.query_id] + shift_ns;
            assert_eq!(restarted(&back, moved, -shift_ns), recorded.line);
        }
    }
}

#[test]
fn the_same_seed_plays_the_same() {
    assert_eq!(postings(), postings());
    let other = schedule(&mut StdRng::seed_from_u64(8), START_UNIX_NS).expect("the recordings");
    assert_ne!(postings(), other);
}
