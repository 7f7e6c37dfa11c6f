//! How long to wait before sending again.

use std::time::Duration;

use queryscope_protocol::limits::{SENDER_EVENT_AGE_MAX, SENDER_RETRY_PAUSE_MAX};

use crate::random::Random;

/// The shortest wait, whatever the server asks for.
pub(crate) const RETRY_PAUSE_MIN: Duration = Duration::from_millis(500);

/// A pause that doubles with each failure, with jitter, so that many senders do not come back at once.
#[derive(Debug, Default)]
pub(crate) struct Pause {
    failures: u32,
}

impl Pause {
    /// The pause after one more failure: what the server asked for, up to the age at which events are dropped, else
    /// exponential backoff from 1 s to 30 s with 50 % jitter.
    pub(crate) fn after_failure(&mut self, asked: Option<Duration>, random: &Random) -> Duration {
        if let Some(asked) = asked {
            return asked.clamp(RETRY_PAUSE_MIN, SENDER_EVENT_AGE_MAX);
        }
        let growing = {
            let doubled = 1_u32.checked_shl(self.failures).unwrap_or(u32::MAX);
            self.failures = self.failures.saturating_add(1);
            let growing = Duration::from_secs(1).saturating_mul(doubled).min(SENDER_RETRY_PAUSE_MAX);
            growing.mul_f64(f64::midpoint(1.0, random.unit()))
        };
        growing.clamp(RETRY_PAUSE_MIN, SENDER_RETRY_PAUSE_MAX)
    }

    /// Begins anew after a success.
    pub(crate) fn reset(&mut self) {
        self.failures = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grows_to_thirty_seconds_with_jitter() {
        let (mut pause, random) = (Pause::default(), Random::new(3));
        for bound_s in [1, 2, 4, 8, 16, 30, 30, 30] {
            let bound = Duration::from_secs(bound_s);
            let wait = pause.after_failure(None, &random);
            assert!((bound / 2..=bound).contains(&wait), "{wait:?} of {bound:?}");
        }
        let waits: Vec<Duration> = (0..100).map(|_| pause.after_failure(None, &random)).collect();
        assert!(waits.iter().all(|wait| *wait >= SENDER_RETRY_PAUSE_MAX / 2));
        assert!(waits.iter().any(|wait| *wait < SENDER_RETRY_PAUSE_MAX), "not all at once");
        pause.reset();
        assert!(pause.after_failure(None, &random) <= Duration::from_secs(1));
    }

    #[test]
    fn what_the_server_asks_for_is_kept_within_bounds() {
        let (mut pause, random) = (Pause::default(), Random::new(3));
        for (asked_ms, waits_ms) in
            [(0, 500), (500, 500), (7_000, 7_000), (90_000, 90_000), (86_400_000, 600_000)]
        {
            let wait = pause.after_failure(Some(Duration::from_millis(asked_ms)), &random);
            assert_eq!(wait, Duration::from_millis(waits_ms), "asked for {asked_ms} ms");
        }
    }
}
