//! Arguments of tools. Their descriptions are what an agent reads.

use rmcp::model::JsonObject;
use rmcp::schemars::{self, JsonSchema};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::read::args::SourceArgs;

/// Which runs count.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
pub(super) struct Source {
    /// Only runs of this project
    project: Option<String>,
    /// Only runs of this service; empty for runs without one
    service: Option<String>,
    /// Only runs in this environment; empty for runs without one
    environment: Option<String>,
    /// Only runs on this host
    host: Option<String>,
}

impl Source {
    pub(super) fn args(self) -> SourceArgs {
        let Self { project, service, environment, host } = self;
        SourceArgs { project, service, environment, host }
    }
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
pub(super) struct WhatGotWorse {
    /// Only changes that began in so many last hours, 1 to 2160; all open ones without it
    #[schemars(range(min = 1, max = 2160))]
    pub(super) hours: Option<u32>,
    /// Changes to show at most, 1 to 50; 10 without it
    #[schemars(range(min = 1, max = 50))]
    pub(super) limit: Option<usize>,
    #[serde(flatten)]
    pub(super) source: Source,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
pub(super) struct WhySlower {
    /// Label of the query, exactly as it is shown
    pub(super) label: String,
    #[serde(flatten)]
    pub(super) source: Source,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
pub(super) struct Running {
    /// Runs to show at most, those that run for longest first, 1 to 50; 20 without it
    #[schemars(range(min = 1, max = 50))]
    pub(super) limit: Option<usize>,
    #[serde(flatten)]
    pub(super) source: Source,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
pub(super) struct Run {
    /// Id of the run, or at least 6 characters of it that no other run has
    pub(super) run: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
pub(super) struct PlanDiff {
    /// The run to judge: its id, at least 6 characters of it, or LABEL@PLAN for the last run of a plan, which is a
    /// letter (orders@A) or the begin of a fingerprint
    pub(super) run: String,
    /// What to compare with, in the same forms; without it, the usual run or one from before the change of the query
    pub(super) base: Option<String>,
    /// Nodes to show at most, those that changed most first, 1 to 50; 12 without it
    #[schemars(range(min = 1, max = 50))]
    pub(super) limit: Option<usize>,
    #[serde(flatten)]
    pub(super) source: Source,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
pub(super) struct Findings {
    /// Findings of this run: its id, or at least 6 characters of it
    pub(super) run: Option<String>,
    /// Findings of the last run with this label that finished; without run and label, the rules that warn in the newest
    /// runs of all queries
    pub(super) label: Option<String>,
    #[serde(flatten)]
    pub(super) source: Source,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
pub(super) struct History {
    /// Label of the query, exactly as it is shown
    pub(super) label: String,
    /// Runs to show at most, the newest first, 1 to 100; 15 without it
    #[schemars(range(min = 1, max = 100))]
    pub(super) limit: Option<usize>,
    #[serde(flatten)]
    pub(super) source: Source,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
pub(super) struct Issues {
    /// One issue by its id, with its history and notes; the other arguments do not count then
    pub(super) id: Option<String>,
    /// Only issues in this state, or in one of several separated by commas: open, acknowledged, muted, resolved,
    /// regressed; without it all but resolved
    pub(super) state: Option<String>,
    /// Only issues of queries with this label
    pub(super) label: Option<String>,
    /// Only issues of queries of this service
    pub(super) service: Option<String>,
    /// Only issues of this project
    pub(super) project: Option<String>,
    /// Issues to show at most, those with most wall time a day at stake first, 1 to 50; 20 without it
    #[schemars(range(min = 1, max = 50))]
    pub(super) limit: Option<usize>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
pub(super) struct Resolve {
    /// Id of the issue
    pub(super) id: String,
    /// Why it is over, up to 10,000 characters
    pub(super) comment: String,
    /// Name of the person who says so, up to 200 characters; "an agent" without it
    pub(super) by: Option<String>,
}

/// Reads the arguments of a tool, none that it does not have.
///
/// # Errors
/// What is wrong, and what is allowed.
pub(super) fn read<T: DeserializeOwned>(given: JsonObject, schema: &JsonObject) -> Result<T, String> {
    let known: Vec<&String> = schema
        .get("properties")
        .and_then(|members| members.as_object())
        .into_iter()
        .flat_map(|all| all.keys())
        .collect();
    if let Some(unknown) = given.keys().find(|name| !known.contains(name)) {
        let known: Vec<&str> = known.iter().map(|name| name.as_str()).collect();
        let shown: String = unknown.chars().take(80).collect();
        return Err(format!("There is no argument {shown:?}: this tool takes {}.", known.join(", ")));
    }
    serde_json::from_value(given.into()).map_err(|error| format!("The arguments are not valid: {error}."))
}

/// A number of entries within its bounds.
///
/// # Errors
/// What is allowed.
pub(super) fn bounded(name: &str, given: Option<usize>, default: usize, max: usize) -> Result<usize, String> {
    match given {
        None => Ok(default),
        Some(number) if (1..=max).contains(&number) => Ok(number),
        Some(number) => Err(format!("{name} must be from 1 to {max}, not {number}.")),
    }
}

#[cfg(test)]
mod tests {
    use rmcp::handler::server::tool::schema_for_type;
    use serde_json::json;

    use super::*;

    fn read_history(given: &serde_json::Value) -> Result<History, String> {
        let given = given.as_object().cloned().expect("an object");
        read(given, &schema_for_type::<History>())
    }

    #[test]
    fn arguments_are_checked() {
        let history = read_history(&json!({"label": "a", "service": "s", "limit": 3})).expect("valid");
        assert_eq!((history.label.as_str(), history.limit), ("a", Some(3)));
        assert_eq!(history.source.args().params(), [("service", "s".to_owned())]);
        let unknown = read_history(&json!({"label": "a", "days": 3})).expect_err("unknown");
        assert!(unknown.contains("\"days\"") && unknown.contains("label"), "{unknown}");
        for wrong in [json!({}), json!({"label": 7}), json!({"label": "a", "limit": "many"})] {
            assert!(read_history(&wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn numbers_are_bounded() {
        assert_eq!([bounded("limit", None, 5, 9), bounded("limit", Some(9), 5, 9)], [Ok(5), Ok(9)]);
        for wrong in [0, 10] {
            assert_eq!(
                bounded("limit", Some(wrong), 5, 9),
                Err(format!("limit must be from 1 to 9, not {wrong}."))
            );
        }
    }
}
