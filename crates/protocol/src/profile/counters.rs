//! Counters: of a node, and of a run as a whole.

use std::fmt;

use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::Number;

use crate::text::Text;

/// Counters by name, in the order they were sent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Metrics<'a>(Vec<(Text<'a>, u64)>);

impl<'a> Metrics<'a> {
    /// The value of a counter; the first one when a sender wrote the name twice.
    pub fn get(&self, name: &str) -> Option<u64> {
        self.iter().find(|(each, _)| *each == name).map(|(_, value)| value)
    }

    /// Adds a counter at the end.
    pub fn push(&mut self, name: impl Into<Text<'a>>, value: u64) {
        self.0.push((name.into(), value));
    }

    /// All counters.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, u64)> {
        self.0.iter().map(|(name, value)| (&**name, *value))
    }
}

impl<'a, N: Into<Text<'a>>> FromIterator<(N, u64)> for Metrics<'a> {
    fn from_iter<I: IntoIterator<Item = (N, u64)>>(counters: I) -> Self {
        Self(counters.into_iter().map(|(name, value)| (name.into(), value)).collect())
    }
}

impl Serialize for Metrics<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Metrics<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MetricsVisitor;

        impl<'de> Visitor<'de> for MetricsVisitor {
            type Value = Metrics<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of name to integer >= 0")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Metrics<'de>, A::Error> {
                let mut metrics = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    metrics.push(entry);
                }
                Ok(Metrics(metrics))
            }
        }

        deserializer.deserialize_map(MetricsVisitor)
    }
}

/// The counters of a node.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Counters<'a> {
    /// Whether the node has ended; `None` when the sender did not say.
    pub done: Option<bool>,
    /// Counters with a unit of their own.
    pub custom: Vec<Custom<'a>>,
    /// All others.
    pub metrics: Metrics<'a>,
}

impl Counters<'_> {
    /// The value of a counter, those of `custom` left out.
    pub fn get(&self, name: &str) -> Option<u64> {
        self.metrics.get(name)
    }
}

/// A counter that the engine's node defines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Custom<'a> {
    /// Its name.
    #[serde(borrow)]
    pub key: Text<'a>,
    /// What it counts, such as `bytes`.
    #[serde(borrow)]
    pub unit: Text<'a>,
    /// How much; `None` where the node does not know (yet).
    #[serde(default)]
    pub value: Option<Number>,
}

impl Serialize for Counters<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in self.metrics.iter() {
            map.serialize_entry(name, &value)?;
        }
        if let Some(done) = self.done {
            map.serialize_entry("done", &done)?;
        }
        if !self.custom.is_empty() {
            map.serialize_entry("custom", &self.custom)?;
        }
        map.end()
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Counters<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct CountersVisitor;

        impl<'de> Visitor<'de> for CountersVisitor {
            type Value = Counters<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of counters")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Counters<'de>, A::Error> {
                let mut done = None;
                let mut custom = None;
                let mut metrics = Metrics::default();
                while let Some(name) = map.next_key::<Text<'de>>()? {
                    match &*name {
                        "done" if done.is_some() => return Err(A::Error::duplicate_field("done")),
                        "done" => done = Some(map.next_value()?),
                        "custom" if custom.is_some() => return Err(A::Error::duplicate_field("custom")),
                        "custom" => custom = Some(map.next_value()?),
                        _ => metrics.push(name, map.next_value()?),
                    }
                }
                Ok(Counters { done, custom: custom.unwrap_or_default(), metrics })
            }
        }

        deserializer.deserialize_map(CountersVisitor)
    }
}
