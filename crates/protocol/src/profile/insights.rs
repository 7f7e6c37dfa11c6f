//! What was found in a plan and its counters.

use serde::de::{Deserializer, Error, Unexpected};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Number;
use serde_json::value::RawValue;

use crate::number::finite;
use crate::text::Text;

/// The name of the format of findings.
pub const INSIGHTS_FORMAT: &str = "insights@1";

/// The findings of a profile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Insights<'a> {
    /// Format of the findings, [`INSIGHTS_FORMAT`] where this crate's users write them.
    #[serde(borrow)]
    pub schema: Text<'a>,
    /// The findings.
    #[serde(borrow)]
    pub findings: Vec<Finding<'a>>,
}

/// One thing that was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding<'a> {
    /// Name of the rule that found it.
    #[serde(borrow)]
    pub rule: Text<'a>,
    /// What sort of finding it is, such as `problem`.
    #[serde(borrow)]
    pub kind: Text<'a>,
    /// How much it matters; `warn` makes it a warning of the query.
    #[serde(borrow)]
    pub level: Text<'a>,
    /// The physical node it is about; `None` when it is about the whole query.
    #[serde(deserialize_with = "Option::deserialize")]
    pub node_id: Option<i64>,
    /// The kind of that node.
    #[serde(borrow, default)]
    pub node_kind: Option<Text<'a>>,
    /// The node's share of the query's CPU time, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none", serialize_with = "finite")]
    pub cpu_share: Option<f64>,
    /// The share of the query's wall time in which the node held up others, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none", serialize_with = "finite")]
    pub blocked_share: Option<f64>,
    /// The finding in one line.
    #[serde(borrow)]
    pub title: Text<'a>,
    /// What to do about it.
    #[serde(borrow, default)]
    pub fix: Option<Text<'a>>,
    /// The numbers it rests on.
    #[serde(borrow, default)]
    pub evidence: Vec<Evidence<'a>>,
}

/// A number or text a finding rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evidence<'a> {
    /// What it is.
    #[serde(borrow)]
    pub name: Text<'a>,
    /// Its value.
    #[serde(borrow)]
    pub value: EvidenceValue<'a>,
    /// Unit of the value.
    #[serde(borrow, default)]
    pub unit: Option<Text<'a>>,
}

/// The value of an [`Evidence`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EvidenceValue<'a> {
    /// A number.
    Number(Number),
    /// A text.
    Text(Text<'a>),
    /// Nothing known.
    Null,
}

impl From<u64> for EvidenceValue<'_> {
    fn from(number: u64) -> Self {
        Self::Number(number.into())
    }
}

/// A number JSON cannot hold is nothing known.
impl From<f64> for EvidenceValue<'_> {
    fn from(number: f64) -> Self {
        Number::from_f64(number).map_or(Self::Null, Self::Number)
    }
}

impl Serialize for EvidenceValue<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) => number.serialize(serializer),
            Self::Text(text) => text.serialize(serializer),
            Self::Null => serializer.serialize_unit(),
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for EvidenceValue<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        fn read<'de, T: Deserialize<'de>, E: Error>(json: &'de str) -> Result<T, E> {
            serde_json::from_str(json).map_err(E::custom)
        }

        let json = <&RawValue>::deserialize(deserializer)?.get();
        match json.as_bytes().first() {
            Some(b'"') => read(json).map(Self::Text),
            Some(b'-' | b'0'..=b'9') => read(json).map(Self::Number),
            Some(b'n') => Ok(Self::Null),
            _ => {
                Err(D::Error::invalid_type(Unexpected::Other("another value"), &"a number, a string or null"))
            }
        }
    }
}
