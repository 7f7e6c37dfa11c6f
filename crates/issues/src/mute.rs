//! Until when an issue is muted.

use chrono::{DateTime, SecondsFormat};
use serde::{Deserialize, Serialize};

/// A version that runs name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = IssueVersion))]
#[serde(rename_all = "snake_case")]
pub enum Version {
    /// Of the engine.
    Engine,
    /// Of the program.
    Program,
}

impl Version {
    /// What it is a version of.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Engine => "engine",
            Self::Program => "program",
        }
    }
}

/// What a mute waits for, as it is asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Condition {
    /// A time, in Unix nanoseconds.
    Time(i64),
    /// It is so many times worse than now: the median of wall times, or the rate of failures.
    TimesWorse(f64),
    /// A run of another version than that of the last run.
    Other(Version),
}

/// A mute: what it waits for, and what it is measured by. One of the fields `until_unix_ns`, `times_worse` and
/// `until_other` is set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = IssueMute))]
pub struct Mute {
    /// It ends at this time, in Unix nanoseconds.
    pub until_unix_ns: Option<i64>,
    /// It ends when the issue is so many times worse than `severity`.
    pub times_worse: Option<f64>,
    /// How bad the issue was when it was muted: a factor of wall time, or a rate of failures.
    pub severity: Option<f64>,
    /// It ends with a run of another version than `version`.
    pub until_other: Option<Version>,
    /// The version when it was muted.
    pub version: Option<String>,
}

impl Mute {
    /// Whether its time is over.
    pub(crate) fn is_due(&self, unix_ns: i64) -> bool {
        self.until_unix_ns.is_some_and(|until| until <= unix_ns)
    }

    /// Whether an issue is as bad as it waits for.
    pub(crate) fn is_exceeded(&self, severity: f64) -> bool {
        let limit = self.times_worse.zip(self.severity).map(|(times, then)| times * then);
        limit.is_some_and(|limit| severity >= limit)
    }

    /// Whether a run of these versions ends it.
    pub(crate) fn is_outdated(&self, engine: Option<&str>, program: Option<&str>) -> bool {
        let seen = match self.until_other {
            None => None,
            Some(Version::Engine) => engine,
            Some(Version::Program) => program,
        };
        seen.is_some() && seen != self.version.as_deref()
    }

    /// What it waits for, in words.
    pub(crate) fn words(&self) -> String {
        match (self.until_unix_ns, self.times_worse, self.until_other) {
            (Some(until), ..) => {
                let time = DateTime::from_timestamp_nanos(until);
                format!("muted until {}", time.to_rfc3339_opts(SecondsFormat::Secs, true))
            }
            (_, Some(times), _) => format!("muted until it is {times} times worse"),
            (.., Some(of)) => {
                let than = self.version.as_ref().map(|version| format!(" than {version}"));
                format!("muted until another version of the {}{}", of.name(), than.unwrap_or_default())
            }
            _ => "muted".into(),
        }
    }
}
