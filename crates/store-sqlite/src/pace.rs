//! When the next group commit may begin.

use std::time::{Duration, Instant};

use queryscope_protocol::StreamId;

/// From the begin of one group to that of the next, at least.
const APART: Duration = Duration::from_millis(1);

/// The last group.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    last: Option<(Instant, Option<StreamId>)>,
}

impl Pace {
    /// How long a group is to wait for company, of whose batches the first is of this stream.
    ///
    /// A sender of all of the last group that sends again has waited for that answer, and is likely the only one:
    /// it waits for nobody.
    pub(crate) fn wait(&self, stream: StreamId, now: Instant) -> Duration {
        match self.last {
            Some((begun, only)) if only != Some(stream) => {
                APART.saturating_sub(now.saturating_duration_since(begun))
            }
            _ => Duration::ZERO,
        }
    }

    /// A group of batches of these streams begins.
    pub(crate) fn begin(&mut self, now: Instant, mut streams: impl Iterator<Item = StreamId>) {
        let first = streams.next();
        self.last = Some((now, first.filter(|first| streams.all(|stream| stream == *first))));
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn stream(number: u128) -> StreamId {
        StreamId::new(Uuid::from_u128(number))
    }

    #[test]
    fn groups_of_several_streams_begin_a_millisecond_apart() {
        let (mut pace, begun) = (Pace::default(), queryscope_store::now());
        let after = |micros| begun + Duration::from_micros(micros);
        assert_eq!(pace.wait(stream(1), begun), Duration::ZERO);

        pace.begin(begun, [stream(1)].into_iter());
        assert_eq!(pace.wait(stream(2), after(300)), Duration::from_micros(700));
        assert_eq!(pace.wait(stream(2), after(1_000)), Duration::ZERO);
        assert_eq!(pace.wait(stream(2), after(5_000)), Duration::ZERO);

        pace.begin(begun, [stream(1), stream(2)].into_iter());
        for sender in [stream(1), stream(2), stream(3)] {
            assert_eq!(pace.wait(sender, after(400)), Duration::from_micros(600));
        }
    }

    #[test]
    fn a_stream_that_sends_alone_waits_for_nobody() {
        let (mut pace, begun) = (Pace::default(), queryscope_store::now());
        for group in [vec![stream(1)], vec![stream(1), stream(1)]] {
            pace.begin(begun, group.into_iter());
            assert_eq!(pace.wait(stream(1), begun), Duration::ZERO);
        }
    }
}
