//! One exporter's way out: when to send, what, and how to take the answer.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use queryscope_protocol::Seq;
use queryscope_protocol::limits::SENDER_BATCH_INTERVAL;

use crate::exporter::{Answer, Batch, Delivery};
use crate::host::Host;
use crate::outbox::{Entry, Fate, Outbox};
use crate::pause::Pause;
use crate::problems::{Problem, Problems};
use crate::random::Random;
use crate::stats::DropReason;

/// A batch holds no more than these bytes of events, except where one event alone has more.
const BATCH_BYTES_MAX: usize = 4 << 20;

/// Delivers what is in an outbox. Its owner calls it when it is due; it has no thread and no clock of its own.
pub(crate) struct Lane {
    outbox: Arc<Outbox>,
    delivery: Box<dyn Delivery>,
    process: Arc<[u8]>,
    random: Arc<Random>,
    problems: Arc<Problems>,
    pause: Pause,
    /// Nothing is sent before, whatever new events arrive.
    not_before: Option<Instant>,
    last_batch: Option<Instant>,
    /// Ends of the parts that a batch was split into, the next part's last.
    parts: Vec<Seq>,
}

impl Lane {
    pub(crate) fn new(
        outbox: Arc<Outbox>,
        delivery: Box<dyn Delivery>,
        process: Arc<[u8]>,
        random: Arc<Random>,
        problems: Arc<Problems>,
    ) -> Self {
        Self {
            outbox,
            delivery,
            process,
            random,
            problems,
            pause: Pause::default(),
            not_before: None,
            last_batch: None,
            parts: Vec::new(),
        }
    }

    /// When the next batch should go; `None` while nothing waits.
    ///
    /// At once for the start or end of a query, or a batch that is full; else half a second after the last one.
    pub(crate) fn due(&self, now: Instant) -> Option<Instant> {
        let waiting = self.outbox.waiting();
        waiting.first?;
        let at_once = waiting.urgent || waiting.bytes >= BATCH_BYTES_MAX || !self.parts.is_empty();
        let paced = match self.last_batch {
            Some(last) if !at_once => last + SENDER_BATCH_INTERVAL,
            _ => now,
        };
        Some(self.not_before.map_or(paced, |not_before| not_before.max(paced)))
    }

    /// Lets the next batch go at once: the process ends.
    pub(crate) fn hurry(&mut self) {
        self.not_before = None;
        self.last_batch = None;
    }

    /// Sends one batch and takes its answer, which may block until the deadline or as long as the exporter lets it.
    pub(crate) fn deliver(&mut self, host: &dyn Host, deadline: Option<Instant>) {
        let now = host.now();
        if self.outbox.expire(now) > 0 {
            self.problems
                .warn(Problem::Expired, "events could not be delivered for ten minutes, and are dropped");
        }
        let Some(first) = self.outbox.waiting().first else { return };
        self.parts.retain(|last| *last >= first);
        let taken = self.outbox.take(BATCH_BYTES_MAX, self.parts.last().copied());
        if taken.is_empty() {
            return;
        }
        self.last_batch = Some(now);
        self.not_before = None;
        let events: Vec<&[u8]> = taken.iter().map(|entry| &*entry.line).collect();
        let batch = Batch { process: &self.process, events: &events, dropped: self.outbox.dropped() };
        let delivered = catch_unwind(AssertUnwindSafe(|| self.delivery.deliver(&batch, deadline)));
        let answer =
            delivered.unwrap_or_else(|_| Answer::Refused { problem: "the exporter panicked".to_owned() });
        self.take_answer(answer, taken, host);
    }

    fn take_answer(&mut self, answer: Answer, taken: Vec<Entry>, host: &dyn Host) {
        if answer != Answer::Delivered {
            self.outbox.count_error();
        }
        match answer {
            Answer::Delivered => {
                self.pause.reset();
                self.outbox.settle(taken, Fate::Sent);
            }
            Answer::Later { after, problem } => {
                self.problems.warn(Problem::Failed, format_args!("{problem}: events are sent again later"));
                self.not_before = Some(host.now() + self.pause.after_failure(after, &self.random));
                self.outbox.settle(taken, Fate::Back);
            }
            Answer::TooLarge => self.split(taken),
            Answer::Refused { problem } => {
                self.problems.warn(Problem::Refused, format_args!("{problem}: a batch is dropped"));
                self.outbox.settle(taken, Fate::Dropped(DropReason::Refused));
            }
            Answer::Forbidden { problem } => {
                self.problems.warn(
                    Problem::Forbidden,
                    format_args!("{problem}: nothing more is sent by this process; is the token right?"),
                );
                self.outbox.settle(taken, Fate::Dropped(DropReason::Forbidden));
                self.outbox.close(DropReason::Forbidden);
            }
        }
    }

    /// Sends the halves next, or drops a single event.
    fn split(&mut self, taken: Vec<Entry>) {
        let half = taken.len() / 2;
        if half == 0 {
            self.problems.warn(Problem::TooLarge, "an event is too large for the server, and is dropped");
            self.outbox.settle(taken, Fate::Dropped(DropReason::TooLarge));
            return;
        }
        for part in [&taken[half..], &taken[..half]] {
            let last = part.last().expect("two halves of at least two").seq;
            if self.parts.last() != Some(&last) {
                self.parts.push(last);
            }
        }
        self.outbox.settle(taken, Fate::Back);
    }
}

#[cfg(test)]
mod tests;
