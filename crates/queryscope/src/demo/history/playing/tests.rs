use std::collections::BTreeMap;

use queryscope_protocol::{Batch, EventKind};
use rand::SeedableRng;

use super::*;

const START_UNIX_NS: i64 = 1_800_000_000_123_456_789;

#[test]
fn the_programme_is_told_in_order_within_the_minute_and_every_run_of_it_ends() {
    let postings = schedule(&mut StdRng::seed_from_u64(7), START_UNIX_NS).expect("a programme");
    assert!(postings.is_sorted_by_key(|posting| posting.at));
    assert!(postings.last().is_some_and(|last| last.at < Duration::from_secs(57)));
    let mut told: BTreeMap<_, Vec<(&str, u64)>> = BTreeMap::new();
    for posting in &postings {
        let batch = Batch::open(&posting.batch).expect("a batch");
        for event in batch.events {
            let event = event.expect("an event");
            let (kind, id) = match &event.kind {
                EventKind::Started(id, _) => ("started", id),
                EventKind::Progress(id, _) => ("sample", id),
                EventKind::Finished(id, _) => ("finished", id),
                _ => panic!("{}", event.line),
            };
            assert_eq!(posting.ended, usize::from(kind == "finished"));
            told.entry(*id).or_default().push((kind, event.seq.get()));
        }
    }
    assert_eq!(told.len(), PROGRAMME.len());
    for events in told.values() {
        assert_eq!(
            (events.first(), events.last().map(|last| last.0)),
            (Some(&("started", 2)), Some("finished"))
        );
        assert!(events.is_sorted_by_key(|(_, seq)| *seq) && events.len() > 4, "{events:?}");
    }
}

#[test]
fn one_runs_while_the_first_page_opens_and_is_known_by_then() {
    let postings = schedule(&mut StdRng::seed_from_u64(7), START_UNIX_NS).expect("a programme");
    let at_once = postings.iter().filter(|posting| posting.at.is_zero()).count();
    assert!(at_once > 5, "{at_once}");
}
