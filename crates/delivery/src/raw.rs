//! The file as it is written, with the place of each value.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde::{Deserialize, de};
use toml::Spanned;

use crate::secret::Place;

/// Texts, each with its place.
pub(crate) type RawList = Spanned<Vec<Spanned<String>>>;

/// The whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct RawFile {
    pub(crate) base_url: Option<Spanned<String>>,
    pub(crate) group_wait: Option<Spanned<String>>,
    #[serde(default)]
    pub(crate) allow_private: Vec<Spanned<String>>,
    #[serde(default)]
    pub(crate) receivers: BTreeMap<Spanned<String>, Spanned<RawReceiver>>,
    #[serde(default)]
    pub(crate) routes: Vec<Spanned<RawRoute>>,
    #[serde(default)]
    pub(crate) owners: Vec<Spanned<RawOwner>>,
    pub(crate) cost: Option<Spanned<RawCost>>,
}

/// What CPU time costs.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct RawCost {
    pub(crate) per_core_hour: Option<Spanned<f64>>,
    pub(crate) currency: Option<Spanned<String>>,
}

/// A receiver of any type. What it, a route and a rule must have is looked at later, so that a mistake hides no other.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct RawReceiver {
    pub(crate) r#type: Option<Spanned<String>>,
    pub(crate) url: Option<Spanned<RawText>>,
    pub(crate) secret: Option<Spanned<RawText>>,
    pub(crate) authorization: Option<Spanned<RawText>>,
    pub(crate) host: Option<Spanned<String>>,
    pub(crate) port: Option<Spanned<u16>>,
    pub(crate) tls: Option<Spanned<String>>,
    pub(crate) user: Option<Spanned<String>>,
    pub(crate) password: Option<Spanned<RawText>>,
    pub(crate) from: Option<Spanned<String>>,
    pub(crate) to: Option<RawList>,
}

impl RawReceiver {
    /// The fields that are set beside the type, each with its place.
    pub(crate) fn fields(&self) -> Vec<(&'static str, Range<usize>)> {
        let all = [
            ("url", self.url.as_ref().map(Spanned::span)),
            ("secret", self.secret.as_ref().map(Spanned::span)),
            ("authorization", self.authorization.as_ref().map(Spanned::span)),
            ("host", self.host.as_ref().map(Spanned::span)),
            ("port", self.port.as_ref().map(Spanned::span)),
            ("tls", self.tls.as_ref().map(Spanned::span)),
            ("user", self.user.as_ref().map(Spanned::span)),
            ("password", self.password.as_ref().map(Spanned::span)),
            ("from", self.from.as_ref().map(Spanned::span)),
            ("to", self.to.as_ref().map(Spanned::span)),
        ];
        all.into_iter().filter_map(|(name, span)| Some((name, span?))).collect()
    }
}

/// A route.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct RawRoute {
    pub(crate) name: Option<Spanned<String>>,
    pub(crate) receiver: Option<Spanned<String>>,
    pub(crate) projects: Option<RawList>,
    pub(crate) services: Option<RawList>,
    pub(crate) labels: Option<RawList>,
    pub(crate) kinds: Option<RawList>,
    pub(crate) owners: Option<RawList>,
}

/// A rule of owners.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct RawOwner {
    pub(crate) label: Option<Spanned<String>>,
    pub(crate) path: Option<Spanned<String>>,
    pub(crate) owner: Option<Spanned<String>>,
}

/// A text, or where it is. It may be a secret: no error quotes a value or a name of it.
#[derive(Debug)]
pub(crate) enum RawText {
    Here(String),
    Elsewhere(Place),
}

const TEXT: &str = r#"a text, { env = "NAME" } or { file = "PATH" }"#;

impl<'de> Deserialize<'de> for RawText {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = RawText;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(TEXT)
            }

            fn visit_bool<E: de::Error>(self, _: bool) -> Result<RawText, E> {
                Err(no_text())
            }

            fn visit_i64<E: de::Error>(self, _: i64) -> Result<RawText, E> {
                Err(no_text())
            }

            fn visit_i128<E: de::Error>(self, _: i128) -> Result<RawText, E> {
                Err(no_text())
            }

            fn visit_u64<E: de::Error>(self, _: u64) -> Result<RawText, E> {
                Err(no_text())
            }

            fn visit_u128<E: de::Error>(self, _: u128) -> Result<RawText, E> {
                Err(no_text())
            }

            fn visit_f64<E: de::Error>(self, _: f64) -> Result<RawText, E> {
                Err(no_text())
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<RawText, E> {
                Ok(RawText::Here(text.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawText, A::Error> {
                let mut place = Place::default();
                while let Some(name) = map.next_key::<String>()? {
                    let value = match map.next_value()? {
                        RawText::Here(text) if name == "env" || name == "file" => text,
                        _ => return Err(no_text()),
                    };
                    if name == "env" {
                        place.env = Some(value);
                    } else {
                        place.file = Some(value.into());
                    }
                }
                Ok(RawText::Elsewhere(place))
            }
        }
        from.deserialize_any(Either)
    }
}

fn no_text<E: de::Error>() -> E {
    E::custom(format_args!("expected {TEXT}"))
}
