//! How often somebody may try to log in.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// Attempts that fail count until none was made for so long.
const WINDOW: Duration = Duration::from_mins(5);
/// So many may fail until then, from one address and of one user.
const OF_ADDRESS_MAX: u32 = 20;
const OF_USER_MAX: u32 = 10;
/// Addresses and users that are remembered. Beyond them those with the fewest attempts are forgotten.
const REMEMBERED_MAX: usize = 10_000;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Of {
    Address(IpAddr),
    User(String),
}

impl Of {
    fn max(&self) -> u32 {
        match self {
            Self::Address(_) => OF_ADDRESS_MAX,
            Self::User(_) => OF_USER_MAX,
        }
    }

    /// A client with one address of IPv6 has 2^64 of them.
    fn address(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V6(address) => Self::Address(IpAddr::V6((address.to_bits() >> 64 << 64).into())),
            address @ IpAddr::V4(_) => Self::Address(address),
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Counted {
    /// The last of them.
    since: Instant,
    count: u32,
}

/// Attempts lately.
#[derive(Debug, Default)]
pub(super) struct Attempts(Mutex<HashMap<Of, Counted>>);

impl Attempts {
    /// Counts an attempt before it is made; how long to wait where there were too many.
    pub(super) fn begin(&self, address: Option<IpAddr>, user: &str, now: Instant) -> Result<(), Duration> {
        let all = &mut *self.0.lock();
        for of in Self::both(address, user) {
            if let Some(counted) = all.get(&of)
                && counted.count >= of.max()
                && let Some(left) = WINDOW.checked_sub(now.duration_since(counted.since))
            {
                return Err(left);
            }
        }
        for of in Self::both(address, user) {
            if all.len() >= REMEMBERED_MAX && !all.contains_key(&of) {
                Self::forget(all, now);
            }
            let counted = all.entry(of).or_insert(Counted { since: now, count: 0 });
            if now.duration_since(counted.since) > WINDOW {
                *counted = Counted { since: now, count: 0 };
            }
            counted.count += 1;
            counted.since = now;
        }
        Ok(())
    }

    /// Takes back an attempt that went well. A user who is known again is not kept out by the attempts of others.
    pub(super) fn succeeded(&self, address: Option<IpAddr>, user: &str) {
        let all = &mut *self.0.lock();
        all.remove(&Of::User(user.to_owned()));
        if let Some(counted) = address.and_then(|address| all.get_mut(&Of::address(address))) {
            counted.count = counted.count.saturating_sub(1);
        }
    }

    fn both(address: Option<IpAddr>, user: &str) -> impl Iterator<Item = Of> {
        address.map(Of::address).into_iter().chain([Of::User(user.to_owned())])
    }

    /// Forgets what is over, and where nothing is the half with the fewest attempts, of as many the oldest: names that
    /// are made up push nobody out who failed often.
    fn forget(all: &mut HashMap<Of, Counted>, now: Instant) {
        all.retain(|_, counted| now.duration_since(counted.since) <= WINDOW);
        if all.len() >= REMEMBERED_MAX {
            let weight = |counted: &Counted| (counted.count, counted.since);
            let mut weights: Vec<(u32, Instant)> = all.values().map(weight).collect();
            weights.sort_unstable();
            let middle = weights[weights.len() / 2];
            all.retain(|_, counted| weight(counted) > middle);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(last: u32) -> Option<IpAddr> {
        let first: u32 = 0x0a00_0000;
        first.checked_add(last).map(|bits| IpAddr::V4(bits.into()))
    }

    #[test]
    fn an_address_and_a_user_fail_so_often() {
        let (attempts, now) = (Attempts::default(), queryscope_store::now());
        for _ in 0..OF_USER_MAX {
            assert_eq!(attempts.begin(address(1), "ada", now), Ok(()));
        }
        let left = attempts.begin(address(2), "ada", now + Duration::from_secs(10)).expect_err("too many");
        assert_eq!(left + Duration::from_secs(10), WINDOW);
        for n in 0..OF_ADDRESS_MAX - OF_USER_MAX {
            assert_eq!(attempts.begin(address(1), &format!("user {n}"), now), Ok(()));
        }
        assert!(attempts.begin(address(1), "eve", now).is_err());
        assert_eq!(attempts.begin(address(2), "eve", now), Ok(()));
        let later = now + WINDOW + Duration::from_secs(1);
        assert_eq!(attempts.begin(address(1), "ada", later), Ok(()));
    }

    #[test]
    fn attempts_count_until_there_were_none_for_a_while() {
        let (attempts, now) = (Attempts::default(), queryscope_store::now());
        for n in 0..OF_USER_MAX {
            assert_eq!(attempts.begin(address(1), "ada", now + WINDOW / 2 * n), Ok(()));
        }
        let last = now + WINDOW / 2 * (OF_USER_MAX - 1);
        assert_eq!(attempts.begin(address(1), "ada", last + WINDOW / 2), Err(WINDOW / 2));
        assert_eq!(attempts.begin(address(1), "ada", last + WINDOW + Duration::from_secs(1)), Ok(()));
    }

    #[test]
    fn what_went_well_does_not_count() {
        let (attempts, now) = (Attempts::default(), queryscope_store::now());
        for _ in 0..1000 {
            assert_eq!(attempts.begin(address(1), "ada", now), Ok(()));
            attempts.succeeded(address(1), "ada");
        }
    }

    #[test]
    fn neighbours_in_ipv6_count_as_one() {
        let (attempts, now) = (Attempts::default(), queryscope_store::now());
        let of = |last: u128| Some(IpAddr::V6((0x2001_0db8_u128 << 96 | last).into()));
        for n in 0..u128::from(OF_ADDRESS_MAX) {
            assert_eq!(attempts.begin(of(n), &n.to_string(), now), Ok(()));
        }
        assert!(attempts.begin(of(77), "x", now).is_err());
        assert_eq!(attempts.begin(of(1 << 64), "x", now), Ok(()));
    }

    #[test]
    fn made_up_names_let_nobody_guess_again() {
        let (attempts, now) = (Attempts::default(), queryscope_store::now());
        for _ in 0..OF_USER_MAX {
            assert_eq!(attempts.begin(address(0), "ada", now), Ok(()));
        }
        for n in 1..30_000 {
            let at = now + Duration::from_millis(n);
            assert_eq!(attempts.begin(address(n as u32), &n.to_string(), at), Ok(()));
        }
        assert!(attempts.begin(address(40_000), "ada", now + Duration::from_secs(30)).is_err());
    }

    #[test]
    fn few_are_remembered() {
        let (attempts, now) = (Attempts::default(), queryscope_store::now());
        for n in 0..30_000 {
            let at = now + Duration::from_millis(n);
            assert_eq!(attempts.begin(address(n as u32), &n.to_string(), at), Ok(()));
        }
        assert!(attempts.0.lock().len() <= REMEMBERED_MAX);
    }
}
