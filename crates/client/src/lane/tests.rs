use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Duration;

use super::*;
use crate::host::fake::Fake;

/// Answers what it is told to, and keeps what it was given.
#[derive(Clone, Default)]
struct Script(Arc<Mutex<Scripted>>);

#[derive(Default)]
struct Scripted {
    answers: VecDeque<Answer>,
    batches: Vec<Vec<String>>,
}

impl Delivery for Script {
    fn deliver(&mut self, batch: &Batch<'_>, _deadline: Option<Instant>) -> Answer {
        let mut script = self.0.lock().expect("no panic");
        let text = |line: &&[u8]| String::from_utf8_lossy(line).into_owned();
        script.batches.push(batch.events.iter().map(text).collect());
        script.answers.pop_front().unwrap_or(Answer::Delivered)
    }
}

/// A lane with its surroundings.
struct Bench {
    host: Fake,
    outbox: Arc<Outbox>,
    script: Script,
    lane: Lane,
    seq: u64,
}

impl Bench {
    fn new(answers: impl IntoIterator<Item = Answer>) -> Self {
        let script = Script::default();
        script.0.lock().expect("no panic").answers.extend(answers);
        let outbox = Arc::new(Outbox::new(1 << 20));
        let lane = Lane::new(
            Arc::clone(&outbox),
            Box::new(script.clone()),
            Arc::from(&b"process"[..]),
            Arc::new(Random::new(5)),
            Arc::default(),
        );
        Self { host: Fake::new(), outbox, script, lane, seq: 1 }
    }

    /// Events `e2`, `e3` …; samples are `s2` ….
    fn push(&mut self, count: u64, is_sample: bool) {
        for _ in 0..count {
            self.seq += 1;
            let name = if is_sample { 's' } else { 'e' };
            self.outbox.push(Entry {
                seq: Seq::new(self.seq).expect("over 0"),
                line: Arc::from(format!("{name}{}", self.seq).into_bytes()),
                is_sample,
                made: self.host.now(),
            });
        }
    }

    /// How long until a batch is due.
    fn due_in(&self) -> Option<Duration> {
        let now = self.host.now();
        self.lane.due(now).map(|due| due.saturating_duration_since(now))
    }

    /// Waits until a batch is due and delivers it.
    fn deliver(&mut self) -> Duration {
        let wait = self.due_in().expect("something waits");
        self.host.advance(wait);
        self.lane.deliver(&self.host, None);
        wait
    }

    fn batches(&self) -> Vec<String> {
        self.script.0.lock().expect("no panic").batches.iter().map(|events| events.join(" ")).collect()
    }

    /// Sent, dropped, queued, errors; and what adds up does.
    fn counts(&self) -> (u64, u64, u64, u64) {
        let stats = self.outbox.stats();
        assert_eq!(stats.sent + stats.dropped.total() + stats.queued, stats.enqueued, "{stats:?}");
        (stats.sent, stats.dropped.total(), stats.queued, stats.errors)
    }
}

fn later(after_s: Option<u64>) -> Answer {
    Answer::Later { after: after_s.map(Duration::from_secs), problem: "503".into() }
}

fn problem() -> String {
    "no".into()
}

const SAMPLE: bool = true;
const OTHER: bool = false;

#[test]
fn starts_and_ends_go_at_once_and_samples_every_half_second() {
    let mut bench = Bench::new([]);
    assert_eq!(bench.due_in(), None);
    bench.push(2, OTHER);
    assert_eq!(bench.deliver(), Duration::ZERO);
    bench.push(1, SAMPLE);
    assert_eq!(bench.due_in(), Some(Duration::from_millis(500)));
    bench.host.advance(Duration::from_millis(200));
    bench.push(1, SAMPLE);
    assert_eq!(bench.deliver(), Duration::from_millis(300));
    bench.push(1, SAMPLE);
    bench.push(1, OTHER);
    assert_eq!(bench.deliver(), Duration::ZERO);
    assert_eq!(bench.batches(), ["e2 e3", "s4 s5", "s6 e7"]);
    assert_eq!(bench.counts(), (6, 0, 0, 0));
}

#[test]
fn a_full_batch_goes_at_once() {
    let mut bench = Bench::new([]);
    bench.outbox = Arc::new(Outbox::new(BATCH_BYTES_MAX * 2));
    bench.lane.outbox = Arc::clone(&bench.outbox);
    bench.push(1, SAMPLE);
    bench.deliver();
    let sample = |seq| Entry {
        seq: Seq::new(seq).expect("over 0"),
        line: vec![b' '; BATCH_BYTES_MAX / 2].into(),
        is_sample: true,
        made: bench.host.now(),
    };
    bench.outbox.push(sample(3));
    assert_eq!(bench.due_in(), Some(SENDER_BATCH_INTERVAL));
    bench.outbox.push(sample(4));
    bench.outbox.push(sample(5));
    assert_eq!(bench.deliver(), Duration::ZERO);
    assert_eq!(bench.counts(), (3, 0, 1, 0), "two fit a batch");
}

#[test]
fn a_batch_that_may_arrive_later_goes_again_after_a_growing_pause() {
    let mut bench = Bench::new([later(None), later(None), later(None), Answer::Delivered, later(None)]);
    bench.push(2, OTHER);
    bench.deliver();
    let mut bound = Duration::from_secs(1);
    for _ in 0..3 {
        bench.push(1, OTHER);
        let wait = bench.deliver();
        assert!((bound / 2..=bound).contains(&wait), "{wait:?} of {bound:?}");
        bound *= 2;
    }
    assert_eq!(bench.batches(), ["e2 e3", "e2 e3 e4", "e2 e3 e4 e5", "e2 e3 e4 e5 e6"]);
    assert_eq!(bench.counts(), (5, 0, 0, 3));
    bench.push(1, OTHER);
    bench.deliver();
    assert!(bench.due_in() <= Some(Duration::from_secs(1)), "after a success it begins anew");
}

#[test]
fn retry_after_stands_whatever_new_events_arrive_and_never_spins() {
    let mut bench = Bench::new([later(Some(7)), later(Some(90)), later(Some(0))]);
    bench.push(1, OTHER);
    bench.deliver();
    bench.push(3, OTHER);
    assert_eq!(bench.deliver(), Duration::from_secs(7));
    bench.push(3, OTHER);
    assert_eq!(bench.deliver(), Duration::from_secs(90));
    assert_eq!(bench.deliver(), Duration::from_millis(500));
    assert_eq!(bench.counts(), (7, 0, 0, 3));
}

#[test]
fn events_older_than_ten_minutes_are_dropped_and_younger_ones_are_not() {
    let mut bench = Bench::new(std::iter::repeat_n(later(Some(30)), 21));
    bench.push(1, OTHER);
    bench.deliver();
    bench.push(1, SAMPLE);
    bench.host.advance(Duration::from_secs(1));
    bench.push(1, OTHER);
    for _ in 0..20 {
        bench.deliver();
    }
    bench.host.advance(Duration::from_millis(999));
    bench.lane.deliver(&bench.host, None);
    assert_eq!(bench.batches().last().map(String::as_str), Some("e4"));
    assert_eq!(bench.outbox.stats().dropped.expired, 2);
    assert_eq!(bench.counts(), (1, 2, 0, 21));
}

#[test]
fn what_is_too_large_goes_in_halves_in_order_and_alone_is_dropped() {
    let mut bench =
        Bench::new([Answer::TooLarge, Answer::TooLarge, Answer::TooLarge, Answer::Delivered, later(Some(1))]);
    bench.push(5, OTHER);
    bench.deliver();
    bench.push(1, OTHER);
    while bench.due_in().is_some() {
        bench.deliver();
    }
    assert_eq!(
        bench.batches(),
        ["e2 e3 e4 e5 e6", "e2 e3", "e2", "e3", "e4 e5 e6", "e4 e5 e6", "e7"],
        "e2 alone was too large; the second half was sent twice"
    );
    assert_eq!(bench.outbox.stats().dropped.too_large, 1);
    assert_eq!(bench.counts(), (5, 1, 0, 4));
}

#[test]
fn a_refused_batch_is_dropped_and_the_next_is_sent() {
    let mut bench = Bench::new([Answer::Refused { problem: problem() }]);
    bench.push(2, OTHER);
    bench.deliver();
    bench.push(1, OTHER);
    assert_eq!(bench.deliver(), Duration::ZERO);
    assert_eq!(bench.batches(), ["e2 e3", "e4"]);
    assert_eq!(bench.outbox.stats().dropped.refused, 2);
    assert_eq!(bench.counts(), (1, 2, 0, 1));
}

#[test]
fn a_sender_that_may_not_send_is_silent_for_good() {
    let mut bench = Bench::new([Answer::Forbidden { problem: problem() }]);
    bench.push(2, OTHER);
    bench.deliver();
    bench.push(3, OTHER);
    bench.host.advance(Duration::from_hours(1));
    assert_eq!(bench.due_in(), None);
    bench.lane.hurry();
    bench.lane.deliver(&bench.host, None);
    assert_eq!(bench.batches(), ["e2 e3"]);
    assert_eq!(bench.outbox.stats().dropped.forbidden, 5);
    assert_eq!(bench.counts(), (0, 5, 0, 1));
}

#[test]
fn an_end_does_not_wait_for_a_pause() {
    let mut bench = Bench::new([later(Some(30)), later(None)]);
    bench.push(1, OTHER);
    bench.deliver();
    bench.lane.hurry();
    assert_eq!(bench.deliver(), Duration::ZERO);
    assert!(bench.due_in() >= Some(Duration::from_millis(500)), "but for the next one");
}

#[test]
fn an_exporter_that_panics_costs_its_batch_alone() {
    struct Panics;
    impl Delivery for Panics {
        fn deliver(&mut self, _batch: &Batch<'_>, _deadline: Option<Instant>) -> Answer {
            panic!("a bug in an exporter: this text in the output of the tests is expected")
        }
    }
    let mut bench = Bench::new([]);
    bench.lane.delivery = Box::new(Panics);
    bench.push(2, OTHER);
    bench.deliver();
    assert_eq!(bench.counts(), (0, 2, 0, 1));
}
