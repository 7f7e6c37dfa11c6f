//! Identities of distributed traces.

use std::fmt;
use std::str::FromStr;

use serde::de::{Deserialize, Deserializer, Error as _};
use serde::ser::{Serialize, Serializer};
use thiserror::Error;

use crate::text::Text;

/// A text that should be lowercase hex characters of a fixed number and is not.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{found:?} is not {digits} lowercase hex characters")]
pub struct TraceIdError {
    found: String,
    digits: usize,
}

macro_rules! hex_id {
    ($(#[$doc:meta])* $name:ident($number:ty) $digits:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name($number);

        impl $name {
            /// Wraps a number.
            pub const fn new(number: $number) -> Self {
                Self(number)
            }

            /// The number itself.
            pub const fn get(self) -> $number {
                self.0
            }
        }

        impl FromStr for $name {
            type Err = TraceIdError;

            fn from_str(text: &str) -> Result<Self, TraceIdError> {
                Some(text)
                    .filter(|text| text.len() == $digits)
                    .filter(|text| text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')))
                    .and_then(|text| <$number>::from_str_radix(text, 16).ok())
                    .map(Self)
                    .ok_or_else(|| TraceIdError { found: text.chars().take(80).collect(), digits: $digits })
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:0width$x}", self.0, width = $digits)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Text::deserialize(deserializer)?.parse().map_err(D::Error::custom)
            }
        }
    };
}

hex_id! {
    /// Identity of a trace, 32 lowercase hex characters as text.
    TraceId(u128) 32
}
hex_id! {
    /// Identity of a span of a trace, 16 lowercase hex characters as text.
    SpanId(u64) 16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_in_front_are_kept() {
        let text = "00000000000000000000000000000a0f";
        assert_eq!(text.parse::<TraceId>().map(|id| id.to_string()), Ok(text.into()));
        assert_eq!(SpanId::new(0xa0f).to_string(), "0000000000000a0f");
    }

    #[test]
    fn other_texts_are_refused() {
        for text in ["", "a0f", "0000000000000A0F", "+000000000000a0f", "0000000000000a0ff", "äääääääa"]
        {
            let error = text.parse::<SpanId>().expect_err(text).to_string();
            assert!(error.contains("16 lowercase hex"), "{error}");
        }
    }
}
