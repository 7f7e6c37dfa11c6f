//! Counts of what became of every event.

/// What became of the events of one exporter.
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
    /// They hold values the format can not.
    pub unwritable: u64,
    /// They were left when the telemetry ended.
    pub exit: u64,
}

impl Dropped {
    /// All of them.
    pub fn total(&self) -> u64 {
        let Self { overflow, expired, too_large, refused, forbidden, unwritable, exit } = *self;
        overflow + expired + too_large + refused + forbidden + unwritable + exit
    }
}
