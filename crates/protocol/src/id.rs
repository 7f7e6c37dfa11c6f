//! Identities: of a stream, of a run (the format calls it a query), and of an event within its stream.

use std::fmt;
use std::num::NonZeroU64;
use std::str::FromStr;

use thiserror::Error;
use uuid::Uuid;

/// A text that should be a UUID in its hyphenated form and is not.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0:?} is not a UUID like 01a1faa8-1bd9-77b2-97ab-860dd7026506")]
pub struct IdError(String);

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Uuid);

        impl $name {
            /// Wraps a UUID.
            pub const fn new(uuid: Uuid) -> Self {
                Self(uuid)
            }

            /// The UUID itself.
            pub const fn uuid(self) -> Uuid {
                self.0
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                parse_hyphenated(text).map(Self)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.as_hyphenated().fmt(f)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.collect_str(self)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    };
}

id! {
    /// Identity of the stream of events one process sends.
    StreamId
}
id! {
    /// Identity of one run of a query.
    QueryId
}

impl QueryId {
    /// When the id was made, in Unix nanoseconds, where the id is a UUID of version 7 and says so.
    pub fn made_unix_ns(self) -> Option<i64> {
        let (seconds, nanos) = self.0.get_timestamp().filter(|_| self.0.get_version_num() == 7)?.to_unix();
        i64::try_from(seconds).ok()?.checked_mul(1_000_000_000)?.checked_add(i64::from(nanos))
    }
}

pub(crate) fn parse_hyphenated(text: &str) -> Result<Uuid, IdError> {
    Some(text)
        .filter(|text| text.len() == uuid::fmt::Hyphenated::LENGTH)
        .and_then(|text| Uuid::try_parse(text).ok())
        .ok_or_else(|| IdError(text.chars().take(80).collect()))
}

/// Number of an event within its stream, from 1 to [`Seq::MAX`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seq(NonZeroU64);

/// A number that is no [`Seq`].
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("seq {0} is outside 1..=9223372036854775807")]
pub struct SeqError(u64);

impl Seq {
    /// The largest seq: what a signed 64-bit integer holds.
    pub const MAX: u64 = i64::MAX as u64;

    /// Checks a number.
    ///
    /// # Errors
    /// When it is 0 or over [`Seq::MAX`].
    pub fn new(number: u64) -> Result<Self, SeqError> {
        NonZeroU64::new(number).filter(|n| n.get() <= Self::MAX).map(Self).ok_or(SeqError(number))
    }

    /// The number.
    pub const fn get(self) -> u64 {
        self.0.get()
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_a_hyphenated_uuid() {
        let id: QueryId = "01A1FAA8-1bd9-77b2-97ab-860dd7026506".parse().expect("a UUID");
        assert_eq!(id.to_string(), "01a1faa8-1bd9-77b2-97ab-860dd7026506");
        for text in ["", "x", "01a1faa81bd977b297ab860dd7026506", "{01a1faa8-1bd9-77b2-97ab-860dd7026506}"] {
            assert!(text.parse::<StreamId>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_version_7_id_knows_its_time() {
        let id: QueryId = "01a1faa8-1bd9-77b2-97ab-860dd7026506".parse().expect("a UUID");
        let ms = 0x01a1_faa8_1bd9_i64;
        assert_eq!(id.made_unix_ns().map(|ns| ns / 1_000_000), Some(ms));
        let id: QueryId = "210de94c-dce3-44f0-9cd3-2604c74dbeea".parse().expect("a UUID");
        assert_eq!(id.made_unix_ns(), None);
    }

    #[test]
    fn a_seq_fits_a_signed_integer() {
        assert!(Seq::new(0).is_err());
        assert_eq!(Seq::new(1).map(Seq::get), Ok(1));
        assert_eq!(Seq::new(Seq::MAX).map(Seq::get), Ok(Seq::MAX));
        assert!(Seq::new(Seq::MAX + 1).is_err());
    }
}
