//! Lines of the log that would be written thousands of times a second by those who attack the service.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// How often such a line is written at most.
const EVERY: Duration = Duration::from_secs(10);

/// Tells when a line is due.
#[derive(Debug, Default)]
pub(crate) struct Rarely(Mutex<Written>);

#[derive(Debug, Default)]
struct Written {
    last: Option<Instant>,
    since: u64,
}

impl Rarely {
    /// How often it came to that since the line was last written, if it is to be written now.
    pub(crate) fn due(&self) -> Option<u64> {
        self.due_at(queryscope_store::now())
    }

    fn due_at(&self, now: Instant) -> Option<u64> {
        let mut written = self.0.lock();
        written.since += 1;
        if written.last.is_some_and(|last| now.duration_since(last) < EVERY) {
            return None;
        }
        written.last = Some(now);
        Some(std::mem::take(&mut written.since))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_is_due_and_later_ones_are_counted() {
        let (rarely, begun) = (Rarely::default(), queryscope_store::now());
        assert_eq!(rarely.due_at(begun), Some(1));
        assert_eq!(rarely.due_at(begun + EVERY / 2), None);
        assert_eq!(rarely.due_at(begun + EVERY / 2), None);
        assert_eq!(rarely.due_at(begun + EVERY), Some(3));
    }
}
