//! When a message is tried again.

use std::time::Duration;

const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_mins(10);
/// The longest wait a receiver may ask for.
const ASKED_MAX: Duration = Duration::from_hours(1);

/// A message that could not be sent for so long is given up.
pub const GIVE_UP_AFTER: Duration = Duration::from_hours(24);

/// The pause after so many attempts that failed, at least one: exponential backoff from 1 s to 10 min with 50 % jitter;
/// `random` is 0 to 1. What the receiver asks for (`Retry-After`) counts where it is longer, up to an hour.
pub fn pause(attempts: u32, random: f64, asked: Option<Duration>) -> Duration {
    let exponent = attempts.saturating_sub(1).min(16);
    let whole = FIRST.saturating_mul(1 << exponent).min(LONGEST);
    let jittered = whole.mul_f64(0.5 + 0.5 * random.clamp(0.0, 1.0));
    let asked = asked.map_or(Duration::ZERO, |asked| asked.min(ASKED_MAX));
    // Those that were told the same time do not come at once.
    jittered.max(asked.saturating_add(asked.mul_f64(0.1 * random.clamp(0.0, 1.0))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_up_to_ten_minutes() {
        let of = |attempts| pause(attempts, 1.0, None).as_secs_f64();
        assert_eq!(
            [0, 1, 2, 3, 9, 10, 11, 4_000_000_000].map(of),
            [1.0, 1.0, 2.0, 4.0, 256.0, 512.0, 600.0, 600.0]
        );
        assert_eq!(pause(3, 0.0, None), Duration::from_secs(2));
    }

    #[test]
    fn what_the_receiver_asks_for_is_honoured_within_bounds() {
        let asked = |seconds| pause(1, 0.0, Some(Duration::from_secs(seconds))).as_secs();
        assert_eq!([0, 30, 3_600, 86_400].map(asked), [0, 30, 3_600, 3_600]);
        assert_eq!(pause(20, 0.0, Some(Duration::from_secs(30))), Duration::from_mins(5));
        assert_eq!(pause(1, 1.0, Some(Duration::from_secs(100))), Duration::from_secs(110));
    }
}
