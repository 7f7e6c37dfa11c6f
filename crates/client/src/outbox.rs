//! The events that wait for one exporter, and the count of what became of each.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use queryscope_protocol::Seq;
use queryscope_protocol::limits::SENDER_EVENT_AGE_MAX;

use crate::stats::{DropReason, Stats};

/// A bounded queue. Its lock is never held over IO.
#[derive(Debug)]
pub(crate) struct Outbox {
    max_bytes: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Progress samples, which are dropped first. By seq, as are the others.
    samples: VecDeque<Entry>,
    others: VecDeque<Entry>,
    waiting_bytes: usize,
    in_flight: u64,
    in_flight_bytes: usize,
    enqueued: u64,
    sent: u64,
    errors: u64,
    dropped: crate::stats::Dropped,
    /// Why nothing is taken any more.
    closed: Option<DropReason>,
}

/// An event that waits.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) seq: Seq,
    /// The event's line, without a line feed: the same bytes however often it is sent.
    pub(crate) line: Arc<[u8]>,
    pub(crate) is_sample: bool,
    pub(crate) made: Instant,
}

/// What became of events that were taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Sent,
    Dropped(DropReason),
    /// They wait again.
    Back,
}

/// What waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Waiting {
    pub(crate) bytes: usize,
    pub(crate) first: Option<Seq>,
    /// Whether there is something else than samples.
    pub(crate) urgent: bool,
}

impl Outbox {
    pub(crate) fn new(max_bytes: usize) -> Self {
        Self { max_bytes, state: Mutex::default() }
    }

    /// Adds an event, which may cost others or itself their place. True when any was dropped for want of space.
    pub(crate) fn push(&self, entry: Entry) -> bool {
        let mut state = self.lock();
        state.enqueued += 1;
        if let Some(reason) = state.closed {
            state.dropped.add(reason, 1);
            return false;
        }
        let bytes = entry.line.len();
        if state.in_flight_bytes + bytes > self.max_bytes {
            state.dropped.add(DropReason::Overflow, 1);
            return true;
        }
        state.waiting_bytes += bytes;
        if entry.is_sample { &mut state.samples } else { &mut state.others }.push_back(entry);
        let mut dropped = false;
        while state.waiting_bytes + state.in_flight_bytes > self.max_bytes {
            let oldest = state.samples.pop_front().or_else(|| state.others.pop_front());
            let Some(oldest) = oldest else { break };
            state.waiting_bytes -= oldest.line.len();
            state.dropped.add(DropReason::Overflow, 1);
            dropped = true;
        }
        dropped
    }

    /// Counts an event that could not be written.
    pub(crate) fn count_unwritable(&self) {
        let mut state = self.lock();
        state.enqueued += 1;
        state.dropped.add(DropReason::Unwritable, 1);
    }

    /// Counts a request that failed.
    pub(crate) fn count_error(&self) {
        self.lock().errors += 1;
    }

    pub(crate) fn waiting(&self) -> Waiting {
        let state = self.lock();
        Waiting { bytes: state.waiting_bytes, first: state.first(), urgent: !state.others.is_empty() }
    }

    /// Drops what is too old; how many.
    pub(crate) fn expire(&self, now: Instant) -> u64 {
        let mut guard = self.lock();
        let state = &mut *guard;
        let mut expired = 0;
        for queue in [&mut state.samples, &mut state.others] {
            while let Some(entry) =
                queue.pop_front_if(|entry| now.saturating_duration_since(entry.made) > SENDER_EVENT_AGE_MAX)
            {
                state.waiting_bytes -= entry.line.len();
                expired += 1;
            }
        }
        state.dropped.add(DropReason::Expired, expired);
        expired
    }

    /// Takes the first events, in the order of their seqs: up to a number of bytes though at least one, and none
    /// behind `last`. What became of them is told to [`Outbox::settle`].
    pub(crate) fn take(&self, bytes_max: usize, last: Option<Seq>) -> Vec<Entry> {
        let mut guard = self.lock();
        let state = &mut *guard;
        let mut taken: Vec<Entry> = Vec::new();
        let mut bytes = 0;
        while let Some(first) = state.first().filter(|first| last.is_none_or(|last| *first <= last)) {
            let queue = if state.samples.front().is_some_and(|entry| entry.seq == first) {
                &mut state.samples
            } else {
                &mut state.others
            };
            let fits = |entry: &mut Entry| taken.is_empty() || bytes + entry.line.len() <= bytes_max;
            let Some(entry) = queue.pop_front_if(fits) else { break };
            bytes += entry.line.len();
            taken.push(entry);
        }
        state.waiting_bytes -= bytes;
        state.in_flight_bytes += bytes;
        state.in_flight += taken.len() as u64;
        taken
    }

    /// Notes what became of events that were taken.
    pub(crate) fn settle(&self, taken: Vec<Entry>, fate: Fate) {
        let mut guard = self.lock();
        let state = &mut *guard;
        if state.closed.is_some() {
            // They were counted when it was closed.
            return;
        }
        let count = taken.len() as u64;
        let bytes: usize = taken.iter().map(|entry| entry.line.len()).sum();
        state.in_flight -= count;
        state.in_flight_bytes -= bytes;
        match fate {
            Fate::Sent => state.sent += count,
            Fate::Dropped(reason) => state.dropped.add(reason, count),
            Fate::Back => {
                state.waiting_bytes += bytes;
                for entry in taken.into_iter().rev() {
                    if entry.is_sample { &mut state.samples } else { &mut state.others }.push_front(entry);
                }
            }
        }
    }

    /// Takes no more events, and drops those that wait or are on their way.
    pub(crate) fn close(&self, reason: DropReason) {
        let mut guard = self.lock();
        let state = &mut *guard;
        if state.closed.is_some() {
            return;
        }
        state.closed = Some(reason);
        let left = state.queued();
        state.dropped.add(reason, left);
        (state.samples, state.others) = Default::default();
        (state.waiting_bytes, state.in_flight, state.in_flight_bytes) = (0, 0, 0);
    }

    /// Events that will never be sent, by now.
    pub(crate) fn dropped(&self) -> u64 {
        self.lock().dropped.total()
    }

    pub(crate) fn stats(&self) -> Stats {
        let state = self.lock();
        Stats {
            enqueued: state.enqueued,
            sent: state.sent,
            queued: state.queued(),
            queued_bytes: (state.waiting_bytes + state.in_flight_bytes) as u64,
            dropped: state.dropped,
            errors: state.errors,
            unfollowed: 0,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn first(&self) -> Option<Seq> {
        let fronts = [self.samples.front(), self.others.front()];
        fronts.into_iter().flatten().map(|entry| entry.seq).min()
    }

    fn queued(&self) -> u64 {
        (self.samples.len() + self.others.len()) as u64 + self.in_flight
    }
}

#[cfg(test)]
mod tests;
