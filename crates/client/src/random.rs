//! Randomness that needs no lock and no system call on a query's thread.
//!
//! A forked child has a copy of all its parent's memory, its generators too. So a stream draws one seed from the
//! system when it starts, and all else follows from that and a counter.

use std::sync::atomic::{AtomicU64, Ordering};

use queryscope_protocol::QueryId;
use uuid::Uuid;

/// The increment of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// A random id, from the system.
#[expect(clippy::disallowed_methods, reason = "the library's one place that asks the system for randomness")]
pub(crate) fn random_id() -> Uuid {
    Uuid::new_v4()
}

/// A stream of numbers, from a seed.
#[derive(Debug)]
pub(crate) struct Random {
    state: AtomicU64,
}

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: AtomicU64::new(seed) }
    }

    /// A generator that no other process shares.
    pub(crate) fn from_system() -> Self {
        Self::new(random_id().as_u64_pair().1 ^ random_id().as_u64_pair().0)
    }

    /// SplitMix64: bijective mixing of a counter.
    pub(crate) fn next_u64(&self) -> u64 {
        let mut mixed = self.state.fetch_add(GAMMA, Ordering::Relaxed).wrapping_add(GAMMA);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 to below 1.
    pub(crate) fn unit(&self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A UUID of version 7, which carries its time.
    pub(crate) fn query_id(&self, unix_ns: i64) -> QueryId {
        let mut bytes = [0; 10];
        bytes[..8].copy_from_slice(&self.next_u64().to_be_bytes());
        bytes[8..].copy_from_slice(&self.next_u64().to_be_bytes()[..2]);
        let unix_ms = u64::try_from(unix_ns / 1_000_000).unwrap_or_default();
        QueryId::new(uuid::Builder::from_unix_timestamp_millis(unix_ms, &bytes).into_uuid())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn ids_differ_and_carry_their_time() {
        let random = Random::new(7);
        let ids: HashSet<QueryId> = (0..10_000).map(|_| random.query_id(1_795_000_000_123_456_789)).collect();
        assert_eq!(ids.len(), 10_000);
        assert!(
            ids.iter().all(|id| id.made_unix_ns() == Some(1_795_000_000_123_000_000)),
            "to a millisecond"
        );
    }

    #[test]
    fn numbers_fill_the_unit() {
        let random = Random::new(1);
        let numbers: Vec<f64> = (0..1_000).map(|_| random.unit()).collect();
        assert!(numbers.iter().all(|number| (0.0..1.0).contains(number)));
        let mean = numbers.iter().sum::<f64>() / 1_000.0;
        assert!((0.45..0.55).contains(&mean), "{mean}");
    }
}
