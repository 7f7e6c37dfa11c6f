//! Counts of what became of every event.

/// What became of the events, summed over all exporters.
///
/// `enqueued = sent + dropped.total() + queued` holds at every moment, also after the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Stats {
    /// Events that were made for the exporter.
    pub enqueued: u64,
    /// Events that arrived.
    pub sent: u64,
    /// Events that wait or are on their way.
    pub queued: u64,
    /// Bytes of those.
    pub queued_bytes: u64,
    /// Events that will never be sent, by reason.
    pub dropped: Dropped,
    /// Requests that failed.
    pub errors: u64,
    /// Queries that were not followed, because there were too many at a time or the telemetry had ended.
    pub unfollowed: u64,
}

/// Events that were never sent, by reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Dropped {
    /// The queue was full.
    pub overflow: u64,
    /// They could not be delivered for ten minutes.
    pub expired: u64,
    /// Too large for the server, even alone.
    pub too_large: u64,
    /// The server refused their batch.
    pub refused: u64,
    /// The server does not let this process send.
    pub forbidden: u64,
    /// They hold values the format cannot.
    pub unwritable: u64,
    /// They were left when the telemetry ended.
    pub exit: u64,
}

/// Why an event was never sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DropReason {
    Overflow,
    Expired,
    TooLarge,
    Refused,
    Forbidden,
    Unwritable,
    Exit,
}

impl Stats {
    /// The counts of both.
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            enqueued: self.enqueued + other.enqueued,
            sent: self.sent + other.sent,
            queued: self.queued + other.queued,
            queued_bytes: self.queued_bytes + other.queued_bytes,
            dropped: self.dropped.plus(other.dropped),
            errors: self.errors + other.errors,
            unfollowed: self.unfollowed + other.unfollowed,
        }
    }
}

impl Dropped {
    pub(crate) fn add(&mut self, reason: DropReason, count: u64) {
        *match reason {
            DropReason::Overflow => &mut self.overflow,
            DropReason::Expired => &mut self.expired,
            DropReason::TooLarge => &mut self.too_large,
            DropReason::Refused => &mut self.refused,
            DropReason::Forbidden => &mut self.forbidden,
            DropReason::Unwritable => &mut self.unwritable,
            DropReason::Exit => &mut self.exit,
        } += count;
    }

    fn plus(self, other: Self) -> Self {
        Self {
            overflow: self.overflow + other.overflow,
            expired: self.expired + other.expired,
            too_large: self.too_large + other.too_large,
            refused: self.refused + other.refused,
            forbidden: self.forbidden + other.forbidden,
            unwritable: self.unwritable + other.unwritable,
            exit: self.exit + other.exit,
        }
    }

    /// All of them.
    pub fn total(&self) -> u64 {
        let Self { overflow, expired, too_large, refused, forbidden, unwritable, exit } = *self;
        overflow + expired + too_large + refused + forbidden + unwritable + exit
    }
}
