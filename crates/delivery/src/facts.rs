//! What issues of one cause have in common.

use std::collections::BTreeMap;

use queryscope_issues::Issue;
use serde::{Deserialize, Serialize};

/// What is known of the change that an issue is about, for a message.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Account {
    /// Median wall times before and after, in milliseconds.
    pub wall_ms: Option<(f64, f64)>,
    /// Its causes in words, the largest share first.
    pub sentences: Vec<String>,
    /// What runs after the change have and those before do not, by name: `engine_version`, `program_version`, `host`,
    /// `deploy`, or the `table` of which they read more rows.
    pub causes: BTreeMap<String, String>,
}

/// What two services may both name and mean different things by.
const OF_A_SERVICE: [&str; 2] = ["deploy", "program_version"];

/// Facts that issues may share.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// What their changes came with.
    pub causes: BTreeMap<String, String>,
    /// What their runs have: it came perhaps long before.
    pub runs: BTreeMap<String, String>,
}

impl Facts {
    /// Those of an issue.
    pub fn new(issue: &Issue, account: &Account) -> Self {
        let mut causes = account.causes.clone();
        let named = [("engine_version", &issue.engine_version), ("program_version", &issue.program_version)];
        let named = named.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value.clone()?)));
        let mut runs: BTreeMap<String, String> = named.collect();
        if let Some(host) = &issue.host {
            // A change names a host where that alone changed; a late run merely has one.
            let facts = if issue.change.is_some() { &mut causes } else { &mut runs };
            facts.entry("host".into()).or_insert_with(|| host.clone());
        }
        Self { causes, runs }
    }

    /// What the change of an issue came with.
    pub(crate) fn of_change(issue: &Issue, account: &Account) -> Self {
        Self::new(issue, account).without_versions_of_runs()
    }

    /// The same but for the versions that runs have, whatever their change came with.
    #[must_use]
    pub(crate) fn without_versions_of_runs(&self) -> Self {
        let mut facts = self.clone();
        facts.runs.retain(|name, _| name == "host");
        facts
    }

    /// What both have. Of two services, a deploy and a version of a program are never the same.
    #[must_use]
    pub fn shared(&self, other: &Self, is_one_service: bool) -> Self {
        let mut shared =
            Self { causes: both(&self.causes, &other.causes), runs: both(&self.runs, &other.runs) };
        if !is_one_service {
            for facts in [&mut shared.causes, &mut shared.runs] {
                facts.retain(|name, _| !OF_A_SERVICE.contains(&&**name));
            }
        }
        shared
    }

    /// Whether changes came with one thing at least.
    pub fn has_cause(&self) -> bool {
        !self.causes.is_empty()
    }

    /// Whether there is anything.
    pub fn is_empty(&self) -> bool {
        self.causes.is_empty() && self.runs.is_empty()
    }

    /// They in words, to follow what happened: ` since engine 2.1.0 on etl-3`; empty where there are none.
    pub fn words(&self) -> String {
        let cause = |name: &str| self.causes.get(name);
        let since = ["deploy", "engine_version", "program_version"]
            .into_iter()
            .find_map(|name| cause(name).map(|value| format!(" since {}", thing(name, value))));
        let mut words = since.unwrap_or_default();
        if let Some(host) = cause("host").or_else(|| self.runs.get("host")) {
            words.push_str(" on ");
            words.push_str(host);
        }
        if let Some(table) = cause("table") {
            words.push_str(" with more rows of ");
            words.push_str(table);
        }
        if words.is_empty()
            && let Some(version) = self.runs.get("engine_version")
        {
            words = format!(" with {}", thing("engine_version", version));
        }
        words
    }
}

/// A version in words: one of an engine names the engine (`polars 2.1.0`) where its run did.
fn thing(name: &str, value: &str) -> String {
    match name {
        "engine_version" if value.contains(' ') => value.to_owned(),
        _ => format!("{} {value}", name.trim_end_matches("_version")),
    }
}

fn both(one: &BTreeMap<String, String>, other: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let same = |(name, value): &(&String, &String)| other.get(*name) == Some(*value);
    one.iter().filter(same).map(|(name, value)| (name.clone(), value.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(causes: &[(&str, &str)], runs: &[(&str, &str)]) -> Facts {
        let map = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        Facts { causes: map(causes), runs: map(runs) }
    }

    #[test]
    fn only_equal_facts_are_shared() {
        let one = facts(&[("host", "etl-3"), ("engine_version", "2.1.0")], &[("program_version", "7")]);
        let other = facts(&[("host", "etl-3"), ("engine_version", "2.0.0")], &[("program_version", "7")]);
        assert_eq!(one.shared(&other, true), facts(&[("host", "etl-3")], &[("program_version", "7")]));
        assert_eq!(one.shared(&other, false), facts(&[("host", "etl-3")], &[]));
        assert!(one.shared(&other, true).has_cause() && one.shared(&Facts::default(), true).is_empty());
    }

    #[test]
    fn facts_are_said_in_words() {
        let words = |causes: &[(&str, &str)], runs: &[(&str, &str)]| facts(causes, runs).words();
        let version = ("engine_version", "2.1.0");
        assert_eq!(words(&[version, ("host", "etl-3")], &[]), " since engine 2.1.0 on etl-3");
        assert_eq!(words(&[("engine_version", "polars 2.1.0")], &[]), " since polars 2.1.0");
        assert_eq!(words(&[("deploy", "v7"), version], &[]), " since deploy v7");
        assert_eq!(words(&[("program_version", "7")], &[version]), " since program 7");
        assert_eq!(
            words(&[("table", "events"), ("host", "etl-3")], &[]),
            " on etl-3 with more rows of events"
        );
        assert_eq!(words(&[], &[version]), " with engine 2.1.0");
        assert_eq!(words(&[], &[("program_version", "7")]), "");
    }
}
