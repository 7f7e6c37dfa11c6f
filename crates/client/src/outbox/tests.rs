use std::time::Duration;

use proptest::prelude::*;

use super::*;

fn entry(seq: u64, bytes: usize, is_sample: bool, made: Instant) -> Entry {
    Entry { seq: Seq::new(seq).expect("over 0"), line: vec![b'x'; bytes].into(), is_sample, made }
}

/// Fills an outbox: bytes of an event and whether it is a sample.
fn filled(max_bytes: usize, events: &[(usize, bool)]) -> Outbox {
    let outbox = Outbox::new(max_bytes);
    let now = crate::now();
    for (at, (bytes, is_sample)) in events.iter().enumerate() {
        outbox.push(entry(at as u64 + 2, *bytes, *is_sample, now));
    }
    outbox
}

fn seqs(entries: &[Entry]) -> Vec<u64> {
    entries.iter().map(|entry| entry.seq.get()).collect()
}

const SAMPLE: bool = true;
const OTHER: bool = false;

#[test]
fn samples_go_first_then_the_oldest() {
    let events = [(30, OTHER), (30, SAMPLE), (30, OTHER), (30, SAMPLE)];
    let outbox = filled(100, &events);
    assert_eq!(outbox.stats().dropped.overflow, 1);
    outbox.push(entry(6, 30, OTHER, crate::now()));
    outbox.push(entry(7, 30, OTHER, crate::now()));
    assert_eq!(seqs(&outbox.take(1_000, None)), [4, 6, 7], "both samples went before the oldest did");
}

#[test]
fn an_event_that_can_not_fit_costs_no_other_its_place() {
    let outbox = filled(100, &[(40, OTHER), (101, OTHER)]);
    assert_eq!(seqs(&outbox.take(1_000, None)), [2]);
    assert!(!outbox.push(entry(4, 20, OTHER, crate::now())));
    assert!(outbox.push(entry(5, 61, OTHER, crate::now())), "40 bytes are on their way");
    assert!(!outbox.push(entry(6, 40, OTHER, crate::now())));
    assert_eq!(seqs(&outbox.take(1_000, None)), [4, 6]);
    assert_eq!(outbox.stats().dropped.overflow, 2);
}

#[test]
fn what_comes_back_is_first_again_with_the_same_bytes() {
    let outbox = filled(1_000, &[(10, OTHER), (20, SAMPLE), (30, OTHER), (40, SAMPLE)]);
    let taken = outbox.take(60, None);
    assert_eq!(seqs(&taken), [2, 3, 4]);
    let before: Vec<Arc<[u8]>> = taken.iter().map(|entry| Arc::clone(&entry.line)).collect();
    outbox.settle(taken, Fate::Back);
    let again = outbox.take(1_000, None);
    assert_eq!(seqs(&again), [2, 3, 4, 5]);
    assert!(before.iter().zip(&again).all(|(before, again)| Arc::ptr_eq(before, &again.line)));
}

#[test]
fn a_batch_holds_so_many_bytes_or_one_event_and_ends_where_it_is_told() {
    let outbox = filled(1_000, &[(500, OTHER), (10, OTHER), (10, OTHER), (10, OTHER)]);
    assert_eq!(seqs(&outbox.take(20, None)), [2]);
    assert_eq!(seqs(&outbox.take(20, None)), [3, 4]);
    assert_eq!(seqs(&outbox.take(20, Seq::new(4).ok())), [] as [u64; 0]);
    assert_eq!(seqs(&outbox.take(20, Seq::new(5).ok())), [5]);
}

#[test]
fn what_is_older_than_ten_minutes_expires() {
    let outbox = Outbox::new(1_000);
    let begin = crate::now();
    outbox.push(entry(2, 10, OTHER, begin));
    outbox.push(entry(3, 10, SAMPLE, begin));
    outbox.push(entry(4, 10, SAMPLE, begin + Duration::from_secs(1)));
    assert_eq!(outbox.expire(begin + Duration::from_mins(10)), 0);
    assert_eq!(outbox.expire(begin + Duration::from_millis(600_001)), 2);
    let stats = outbox.stats();
    assert_eq!((stats.dropped.expired, stats.queued, stats.queued_bytes), (2, 1, 10));
}

#[test]
fn what_is_settled_after_the_end_was_counted_at_the_end() {
    let outbox = filled(1_000, &[(10, OTHER), (10, OTHER)]);
    let taken = outbox.take(10, None);
    outbox.close(DropReason::Exit);
    outbox.settle(taken, Fate::Sent);
    outbox.push(entry(9, 10, OTHER, crate::now()));
    outbox.close(DropReason::Forbidden);
    let stats = outbox.stats();
    assert_eq!((stats.enqueued, stats.sent, stats.queued, stats.dropped.exit), (3, 0, 0, 3));
}

#[derive(Debug, Clone)]
enum Step {
    Push(usize, bool),
    Take(usize),
    Settle(Fate),
    Expire(u64),
    Close,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let fate = prop_oneof![Just(Fate::Sent), Just(Fate::Dropped(DropReason::Refused)), Just(Fate::Back)];
    let step = prop_oneof![
        8 => (1_usize..60, any::<bool>()).prop_map(|(bytes, is_sample)| Step::Push(bytes, is_sample)),
        4 => (1_usize..150).prop_map(Step::Take),
        4 => fate.prop_map(Step::Settle),
        1 => (0_u64..900).prop_map(Step::Expire),
        1 => Just(Step::Close),
    ];
    proptest::collection::vec(step, 0..60)
}

proptest! {
    #[test]
    fn the_counts_add_up_whatever_happens(steps in steps()) {
        let max_bytes = 100;
        let outbox = Outbox::new(max_bytes);
        let begin = crate::now();
        let (mut seq, mut in_flight) = (1, Vec::new());
        for step in steps {
            match step {
                Step::Push(bytes, is_sample) => {
                    seq += 1;
                    outbox.push(entry(seq, bytes, is_sample, begin + Duration::from_secs(seq)));
                }
                Step::Take(bytes) if in_flight.is_empty() => {
                    in_flight = outbox.take(bytes, None);
                    prop_assert!(in_flight.is_sorted_by_key(|entry: &Entry| entry.seq));
                }
                Step::Settle(fate) => outbox.settle(std::mem::take(&mut in_flight), fate),
                Step::Expire(secs) => drop(outbox.expire(begin + Duration::from_secs(secs))),
                Step::Close => outbox.close(DropReason::Exit),
                Step::Take(_) => {}
            }
            let stats = outbox.stats();
            prop_assert_eq!(stats.sent + stats.dropped.total() + stats.queued, stats.enqueued);
            prop_assert_eq!(stats.enqueued, seq - 1);
            prop_assert!(stats.queued_bytes <= max_bytes as u64);
            prop_assert_eq!(stats.queued == 0, stats.queued_bytes == 0);
        }
    }
}
