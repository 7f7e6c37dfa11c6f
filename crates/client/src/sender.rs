//! The thread that sends to one exporter, and may block.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::host::Host;
use crate::lane::Lane;

/// Longest sleep of the sender, should nobody wake it.
const SLEEP_MAX: Duration = Duration::from_secs(30);

/// Tells the background threads that the telemetry ends.
#[derive(Debug, Default)]
pub(crate) struct Ending {
    deadline: OnceLock<Instant>,
    /// Set once nothing more is made.
    made_all: OnceLock<()>,
}

impl Ending {
    /// Ends; true the first time.
    pub(crate) fn begin(&self, deadline: Instant) -> bool {
        self.deadline.set(deadline).is_ok()
    }

    /// When all must be done; `None` while nothing ends.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.deadline.get().copied()
    }

    /// Notes that the sampler has made its last event.
    pub(crate) fn note_made_all(&self) {
        let _ = self.made_all.set(());
    }

    fn made_all(&self) -> bool {
        self.made_all.get().is_some()
    }
}

/// Serves a lane until the telemetry has ended.
pub(crate) fn run(mut lane: Lane, ending: &Ending, host: &dyn Host) {
    let mut hurried = false;
    loop {
        if ending.deadline().is_some() && !hurried {
            hurried = true;
            lane.hurry();
        }
        match step(&mut lane, ending, host) {
            Step::Ended => return,
            Step::Sleep(duration) => std::thread::park_timeout(duration),
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Step {
    Sleep(Duration),
    Ended,
}

/// Delivers what is due, and says what comes next.
fn step(lane: &mut Lane, ending: &Ending, host: &dyn Host) -> Step {
    let deadline = ending.deadline();
    // Read before the lane is: what is made after that is not missed.
    let made_all = ending.made_all();
    if lane.due(host.now()).is_some_and(|due| due <= host.now()) {
        lane.deliver(host, deadline);
    }
    let now = host.now();
    let next = lane.due(now);
    let ended = match deadline {
        Some(deadline) => deadline <= now || (made_all && next.is_none()),
        None => false,
    };
    if ended {
        return Step::Ended;
    }
    let wake = [next, deadline].into_iter().flatten().min();
    Step::Sleep(wake.map_or(SLEEP_MAX, |wake| wake.saturating_duration_since(now)).min(SLEEP_MAX))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use queryscope_protocol::Seq;

    use super::*;
    use crate::exporter::{Answer, Batch, Delivery};
    use crate::host::fake::Fake;
    use crate::outbox::{Entry, Outbox};
    use crate::random::Random;

    struct Always(Answer);

    impl Delivery for Always {
        fn deliver(&mut self, _batch: &Batch<'_>, _deadline: Option<Instant>) -> Answer {
            self.0.clone()
        }
    }

    fn lane(answer: Answer) -> (Lane, Arc<Outbox>) {
        let outbox = Arc::new(Outbox::new(1_000));
        let random = Arc::new(Random::new(1));
        let delivery = Box::new(Always(answer));
        (Lane::new(Arc::clone(&outbox), delivery, Arc::from(&b"p"[..]), random, Arc::default()), outbox)
    }

    fn push(outbox: &Outbox, host: &Fake) {
        let seq = Seq::new(2).expect("over 0");
        outbox.push(Entry { seq, line: Arc::from(&b"e"[..]), is_sample: false, made: host.now() });
    }

    fn later() -> Answer {
        Answer::Later { after: Some(Duration::from_secs(7)), problem: "503".into() }
    }

    #[test]
    fn sleeps_until_the_lane_is_due() {
        let (host, ending) = (Fake::new(), Ending::default());
        let (mut lane, outbox) = lane(later());
        assert_eq!(step(&mut lane, &ending, &host), Step::Sleep(SLEEP_MAX));
        push(&outbox, &host);
        assert_eq!(step(&mut lane, &ending, &host), Step::Sleep(Duration::from_secs(7)));
        assert_eq!(step(&mut lane, &ending, &host), Step::Sleep(Duration::from_secs(7)), "woken early");
        assert_eq!((outbox.stats().queued, outbox.stats().errors), (1, 1));
    }

    #[test]
    fn ends_when_all_is_made_and_sent() {
        let (host, ending) = (Fake::new(), Ending::default());
        let (mut lane, outbox) = lane(Answer::Delivered);
        assert!(ending.begin(host.now() + Duration::from_secs(2)));
        assert_eq!(step(&mut lane, &ending, &host), Step::Sleep(Duration::from_secs(2)), "more may be made");
        push(&outbox, &host);
        ending.note_made_all();
        assert_eq!(step(&mut lane, &ending, &host), Step::Ended);
        assert_eq!(outbox.stats().sent, 1);
    }

    #[test]
    fn ends_at_the_deadline_whatever_waits() {
        let (host, ending) = (Fake::new(), Ending::default());
        let (mut lane, outbox) = lane(later());
        push(&outbox, &host);
        ending.begin(host.now() + Duration::from_secs(2));
        ending.note_made_all();
        assert_eq!(step(&mut lane, &ending, &host), Step::Sleep(Duration::from_secs(2)));
        host.advance(Duration::from_secs(2));
        assert_eq!(step(&mut lane, &ending, &host), Step::Ended);
        assert_eq!(outbox.stats().queued, 1);
    }
}
