//! The part of a profile that a query's summary needs.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, SeqAccess, Unexpected, Visitor};

use crate::format::engine_of_profile;
use crate::members::members;
use crate::text::Text;

/// Finding level that makes an insight a warning.
const WARN: &str = "warn";

/// What a summary shows of a profile, read without building the rest.
///
/// Reading checks the members every profile must have (`schema`, `query_id`, `wall_ms`, `plan` with `physical`
/// and `logical`) and the types of the members it reads; all others are passed over.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct ProfileSummary<'a> {
    #[serde(rename = "schema", deserialize_with = "profile_schema")]
    _schema: (),
    #[serde(borrow, rename = "query_id")]
    _query_id: Text<'a>,
    /// Name the program gave the query.
    #[serde(borrow, default)]
    pub label: Option<Text<'a>>,
    /// Hash of the plan.
    #[serde(borrow, default)]
    pub fingerprint: Option<Text<'a>>,
    /// When the query started, in Unix nanoseconds.
    #[serde(default)]
    pub started_unix_ns: Option<i64>,
    /// Time since the start, in milliseconds; at least 0.
    #[serde(deserialize_with = "millis")]
    pub wall_ms: f64,
    /// CPU time over all threads, in milliseconds; at least 0.
    #[serde(default, deserialize_with = "optional_millis")]
    pub cpu_ms: Option<f64>,
    /// Rows of the result.
    #[serde(default)]
    pub result_rows: Option<i64>,
    /// The engine's error text when the query failed.
    #[serde(borrow, default)]
    pub failed: Option<Text<'a>>,
    #[serde(rename = "plan", deserialize_with = "members")]
    _plan: Plan,
    #[serde(borrow, default)]
    insights: Option<Insights<'a>>,
}

impl ProfileSummary<'_> {
    /// The rules of the findings that warn, one entry a finding, in the profile's order.
    pub fn warnings(&self) -> impl Iterator<Item = &str> {
        self.insights
            .iter()
            .flat_map(|insights| &insights.findings)
            .filter(|finding| finding.level.as_deref() == Some(WARN))
            .filter_map(|finding| finding.rule.as_deref())
    }
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Plan {
    #[serde(rename = "physical")]
    _physical: Nodes,
    #[serde(rename = "logical")]
    _logical: Nodes,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Insights<'a> {
    #[serde(borrow, default)]
    findings: Vec<Finding<'a>>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Finding<'a> {
    #[serde(borrow, default)]
    rule: Option<Text<'a>>,
    #[serde(borrow, default)]
    level: Option<Text<'a>>,
}

/// An array whose items are passed over.
#[derive(Debug, Clone, PartialEq)]
struct Nodes;

impl<'de> Deserialize<'de> for Nodes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NodesVisitor;

        impl<'de> Visitor<'de> for NodesVisitor {
            type Value = Nodes;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array of nodes")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut nodes: A) -> Result<Nodes, A::Error> {
                while nodes.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Nodes)
            }
        }

        deserializer.deserialize_seq(NodesVisitor)
    }
}

fn profile_schema<'de, D: Deserializer<'de>>(deserializer: D) -> Result<(), D::Error> {
    let schema = Text::deserialize(deserializer)?;
    engine_of_profile(&schema).map(|_| ()).map_err(D::Error::custom)
}

pub(crate) fn millis<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let ms = f64::deserialize(deserializer)?;
    if ms >= 0.0 {
        Ok(ms)
    } else {
        Err(D::Error::invalid_value(Unexpected::Float(ms), &"a number of milliseconds >= 0"))
    }
}

fn optional_millis<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    #[derive(Deserialize)]
    struct Millis(#[serde(deserialize_with = "millis")] f64);

    Ok(Option::<Millis>::deserialize(deserializer)?.map(|Millis(ms)| ms))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALLEST: &str = r#"{"schema":"x-telemetry/profile@1","query_id":"q","wall_ms":1,"plan":{"physical":[],"logical":[]}}"#;

    fn read(profile: &str) -> Result<ProfileSummary<'_>, String> {
        serde_json::from_str(profile).map_err(|error| error.to_string())
    }

    #[test]
    fn the_smallest_profile() {
        let summary = read(SMALLEST).expect("all required members");
        assert_eq!((summary.wall_ms, summary.label, summary.cpu_ms), (1.0, None, None));
    }

    #[test]
    fn every_required_member_is_missed_by_name() {
        for (member, text) in [
            ("schema", r#""schema":"x-telemetry/profile@1","#),
            ("query_id", r#""query_id":"q","#),
            ("wall_ms", r#""wall_ms":1,"#),
            ("plan", r#","plan":{"physical":[],"logical":[]}"#),
            ("physical", r#""physical":[],"#),
            ("logical", r#","logical":[]"#),
        ] {
            let profile = SMALLEST.replace(text, "");
            assert_ne!(profile, SMALLEST);
            let error = read(&profile).expect_err(member);
            assert!(error.contains(&format!("missing field `{member}`")), "{error}");
        }
    }

    #[test]
    fn wrong_types_and_values_are_refused() {
        for (from, to) in [
            (r#""wall_ms":1"#, r#""wall_ms":-1"#),
            (r#""wall_ms":1"#, r#""wall_ms":"1""#),
            (r#""wall_ms":1"#, r#""wall_ms":1,"cpu_ms":-0.5"#),
            (r#""wall_ms":1"#, r#""wall_ms":1,"label":5"#),
            ("profile@1", "profile@2"),
            (r#""physical":[]"#, r#""physical":{}"#),
        ] {
            let profile = SMALLEST.replace(from, to);
            assert!(read(&profile).is_err(), "{profile}");
        }
    }

    #[test]
    fn findings_that_warn_are_named() {
        let profile = SMALLEST.replace(
            r#""wall_ms":1"#,
            r#""wall_ms":1,"insights":{"schema":"i","findings":[
                {"rule":"a","level":"warn"},{"rule":"b","level":"info"},{"rule":"a","level":"warn"}]}"#,
        );
        assert_eq!(read(&profile).expect("a profile").warnings().collect::<Vec<_>>(), ["a", "a"]);
    }
}
