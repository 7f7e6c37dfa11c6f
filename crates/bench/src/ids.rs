//! Ids nobody has used before, from a seeded source.

use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng, SeedableRng};
use uuid::Builder;
use uuid::fmt::Hyphenated;

/// Randomness of the generator: the same seed gives the same bodies on every platform.
pub(crate) type Random = Xoshiro256PlusPlus;

/// A UUID as text: 36 bytes, lowercase, hyphenated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct IdText([u8; Hyphenated::LENGTH]);

impl IdText {
    /// A random id, as a stream has one.
    pub(crate) fn stream(random: &mut Random) -> Self {
        let mut bytes = [0; 16];
        random.fill_bytes(&mut bytes);
        Self::from_builder(&Builder::from_random_bytes(bytes))
    }

    /// An id that begins with a time (Unix nanoseconds), as a query has one.
    pub(crate) fn query(random: &mut Random, unix_ns: i64) -> Self {
        let mut bytes = [0; 10];
        random.fill_bytes(&mut bytes);
        let unix_ms = u64::try_from(unix_ns / 1_000_000).unwrap_or_default();
        Self::from_builder(&Builder::from_unix_timestamp_millis(unix_ms, &bytes))
    }

    fn from_builder(builder: &Builder) -> Self {
        let mut text = [0; Hyphenated::LENGTH];
        builder.as_uuid().hyphenated().encode_lower(&mut text);
        Self(text)
    }

    /// The text's bytes.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The text.
    pub(crate) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

/// A source for one part of a run: parts of one seed are independent of each other.
pub(crate) fn random(seed: u64, part: u64) -> Random {
    Random::seed_from_u64(seed ^ part.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

#[cfg(test)]
mod tests {
    use queryscope_protocol::{QueryId, StreamId};

    use super::*;

    #[test]
    fn ids_are_of_their_kind_and_of_their_seed() {
        let mut source = random(7, 0);
        let stream = IdText::stream(&mut source);
        let query = IdText::query(&mut source, 1_795_206_683_560_726_422);
        assert!(stream.as_str().parse::<StreamId>().is_ok());
        let query_id: QueryId = query.as_str().parse().expect("a UUID");
        assert_eq!(query_id.made_unix_ns(), Some(1_795_206_683_560_000_000));
        assert_eq!(IdText::stream(&mut random(7, 0)), stream);
        assert_ne!(IdText::stream(&mut random(7, 1)), stream);
        assert_ne!(IdText::stream(&mut random(8, 0)), stream);
    }
}
