//! Takes parameters from a request.
//!
//! Each set of parameters is one struct: `IntoParams` documents it, `Deserialize` reads it, and [`Asked`] takes it
//! from a request. Parameters that no set of a handler has are ignored. A value that is not allowed is answered
//! 400 with the name of the parameter, its value and what it takes.

use std::borrow::Cow;
use std::fmt::{self, Display};
use std::ops::RangeInclusive;
use std::str::FromStr;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use percent_encoding::percent_decode_str;
use serde::de::value::MapDeserializer;
use serde::de::{self, DeserializeOwned, Deserializer, IntoDeserializer, Unexpected, Visitor};
use serde::forward_to_deserialize_any;

use crate::error::ApiError;

/// Characters of a refused value that are shown.
const SHOWN_CHARS: usize = 80;

/// Takes parameters from a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Asked<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        read(parts.uri.query()).map(Self)
    }
}

/// Reads parameters from the query of an address.
///
/// # Errors
/// 400 when a parameter is given twice, is no text, or has a value that is not allowed.
pub(crate) fn read<T: DeserializeOwned>(query: Option<&str>) -> Result<T, ApiError> {
    let pairs = query.unwrap_or_default().split('&').filter(|pair| !pair.is_empty());
    let values = pairs.filter_map(|pair| {
        let (name, text) = pair.split_once('=').unwrap_or((pair, ""));
        Some(Value { name: decoded(name)?, text: decoded(text) })
    });
    T::deserialize(Values(values.collect())).map_err(|Refused(reason)| ApiError::invalid(reason))
}

/// The values of a request.
struct Values<'q>(Vec<Value<'q>>);

impl<'de> Deserializer<'de> for Values<'_> {
    type Error = Refused;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        visitor.visit_map(MapDeserializer::new(self.0.into_iter().map(|value| (value.name.clone(), value))))
    }

    /// Of a parameter that is given twice this is said, whatever its values.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refused> {
        let twice = |field: &&&str| self.0.iter().filter(|value| value.name == **field).count() > 1;
        match fields.iter().find(twice) {
            Some(field) => Err(de::Error::duplicate_field(field)),
            None => self.deserialize_any(visitor),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

/// The text that a part of an address stands for; `None` where it stands for none: a `%` without two digits, or bytes
/// that are not UTF-8.
fn decoded(part: &str) -> Option<Cow<'_, str>> {
    let is_encoded = part
        .split('%')
        .skip(1)
        .all(|rest| rest.len() >= 2 && rest.as_bytes()[..2].iter().all(u8::is_ascii_hexdigit));
    if !is_encoded {
        return None;
    }
    if !part.contains('+') {
        return percent_decode_str(part).decode_utf8().ok();
    }
    let part = part.replace('+', " ");
    percent_decode_str(&part).decode_utf8().ok().map(|text| text.into_owned().into())
}

/// The value of one parameter; `None` where it is no text.
struct Value<'q> {
    name: Cow<'q, str>,
    text: Option<Cow<'q, str>>,
}

impl Value<'_> {
    fn read<T>(self, read: impl FnOnce(String) -> Result<T, Refused>) -> Result<T, Refused> {
        let name = self.name;
        let text = self.text.ok_or_else(|| Refused("the value is not percent-encoded UTF-8".into()));
        text.and_then(|text| read(text.into_owned()))
            .map_err(|Refused(why)| Refused(format!("{name}: {why}")))
    }
}

impl IntoDeserializer<'_, Refused> for Value<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Value<'_> {
    type Error = Refused;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        self.read(|text| visitor.visit_string(text))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Refused> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refused> {
        self.read(|text| visitor.visit_enum(text.into_deserializer()))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier
    }
}

/// Why parameters are refused.
#[derive(Debug)]
struct Refused(String);

impl Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refused {}

impl de::Error for Refused {
    fn custom<T: Display>(reason: T) -> Self {
        Self(reason.to_string())
    }

    fn invalid_value(found: Unexpected<'_>, takes: &dyn de::Expected) -> Self {
        let Unexpected::Str(text) = found else { return Self(format!("{found} is not {takes}")) };
        let shown: String = text.chars().take(SHOWN_CHARS).collect();
        Self(format!("{shown:?} is not {takes}"))
    }

    fn unknown_variant(text: &str, allowed: &'static [&'static str]) -> Self {
        let (last, others) = allowed.split_last().unwrap_or((&"known", &[]));
        let takes =
            if others.is_empty() { (*last).into() } else { format!("{} or {last}", others.join(", ")) };
        Self::invalid_value(Unexpected::Str(text), &takes.as_str())
    }

    fn duplicate_field(name: &'static str) -> Self {
        Self(format!("{name}: given twice, once is allowed"))
    }

    fn missing_field(name: &'static str) -> Self {
        Self(format!("{name}: is needed"))
    }
}

/// Reads a value that `parse` understands, for `#[serde(deserialize_with)]`.
///
/// # Errors
/// When it understands nothing: says what is taken.
pub(crate) fn parsed<'de, T, D: Deserializer<'de>>(
    from: D,
    takes: impl Display,
    parse: impl FnOnce(&str) -> Option<T>,
) -> Result<Option<T>, D::Error> {
    from.deserialize_str(Parsed { parse, takes })
}

/// Reads a whole number of a range.
///
/// # Errors
/// When it is none.
pub(crate) fn whole<'de, T, D>(from: D, range: RangeInclusive<T>) -> Result<Option<T>, D::Error>
where
    T: FromStr + PartialOrd + Display,
    D: Deserializer<'de>,
{
    let takes = format!("a whole number from {} to {}", range.start(), range.end());
    parsed(from, takes, |text| text.parse().ok().filter(|number| range.contains(number)))
}

struct Parsed<P, W> {
    parse: P,
    takes: W,
}

impl<T, P: FnOnce(&str) -> Option<T>, W: Display> Visitor<'_> for Parsed<P, W> {
    type Value = Option<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.takes.fmt(f)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Option<T>, E> {
        let takes = self.takes.to_string();
        let parsed = (self.parse)(text);
        parsed.map(Some).ok_or_else(|| E::invalid_value(Unexpected::Str(text), &takes.as_str()))
    }
}
