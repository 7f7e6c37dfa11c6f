//! A JSON string as other senders write it.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use serde::de::{Deserialize, Deserializer, Error, Visitor};

/// A JSON string, borrowed where it holds no escapes.
///
/// Senders that write file names or labels they could not decode escape lone surrogates (`"\udc80"`). Such a
/// string is legal JSON but no UTF-8; here the stray unit becomes U+FFFD, so that it costs nobody a batch.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Text<'a>(Cow<'a, str>);

impl<'a> Text<'a> {
    /// The text, borrowed from the input where it could be.
    pub fn into_inner(self) -> Cow<'a, str> {
        self.0
    }
}

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'a> From<&'a str> for Text<'a> {
    fn from(text: &'a str) -> Self {
        Self(Cow::Borrowed(text))
    }
}

impl From<String> for Text<'_> {
    fn from(text: String) -> Self {
        Self(Cow::Owned(text))
    }
}

impl<'a> From<Cow<'a, str>> for Text<'a> {
    fn from(text: Cow<'a, str>) -> Self {
        Self(text)
    }
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl serde::Serialize for Text<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_bytes(TextVisitor).map(Self)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }

    fn visit_borrowed_bytes<E: Error>(self, bytes: &'de [u8]) -> Result<Self::Value, E> {
        Ok(String::from_utf8_lossy(bytes))
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Self::Value, E> {
        Ok(Cow::Owned(String::from_utf8_lossy(bytes).into_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn borrows_where_nothing_is_escaped() {
        let text: Text<'_> = serde_json::from_str(r#""orders/täglich""#).expect("a string");
        assert!(matches!(text.into_inner(), Cow::Borrowed("orders/täglich")));
    }

    #[test]
    fn a_lone_surrogate_is_replaced() {
        let text: Text<'_> = serde_json::from_str(r#""a\udc80b""#).expect("legal JSON");
        assert!(text.starts_with('a') && text.ends_with('b') && text.contains('\u{fffd}'), "{text}");
    }

    #[test]
    fn other_types_are_refused_by_name() {
        let error = serde_json::from_str::<Text<'_>>("[1]").expect_err("no string");
        assert!(error.to_string().contains("expected a string"), "{error}");
    }
}
