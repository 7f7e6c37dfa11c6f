//! A message, as it is stored and sent.

use queryscope_issues::{Direction, Issue, Transition};
use serde::{Deserialize, Serialize};

use crate::facts::Facts;

/// A message to a route. It is composed once: key and content are the same at each attempt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Its idempotency key: that of its first transition, `ISSUE.NUMBER`.
    pub id: String,
    /// The key of the first message of its group.
    pub group: String,
    /// The name of the route.
    pub route: String,
    /// What it says; null of a test.
    pub direction: Option<Direction>,
    /// When it was composed, in Unix nanoseconds.
    pub unix_ns: i64,
    /// It in a sentence.
    pub sentence: String,
    /// What all issues of its group have in common.
    pub facts: Facts,
    /// How many transitions it tells of; `members` may hold fewer.
    pub count: u64,
    /// The transitions it tells of, those with the most wall time at stake first.
    pub members: Vec<Member>,
    /// The address of the page for it.
    pub link: Option<String>,
}

/// A transition a message tells of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Member {
    /// The issue as it was when the transition was stored.
    pub issue: Issue,
    /// The transition.
    pub transition: Transition,
    /// The owner of the query.
    pub owner: Option<String>,
    /// It in a sentence.
    pub sentence: String,
    /// The causes of its change in words, the largest share first.
    pub account: Vec<String>,
    /// The address of the page of the issue.
    pub link: Option<String>,
}

impl Member {
    /// Whose query it is and where it runs: `project default`, `host etl-3`, `owner team-orders`.
    pub(crate) fn whose(&self) -> Vec<String> {
        let issue = &self.issue;
        let named = [
            ("project", Some(&issue.project)),
            ("service", issue.service.as_ref()),
            ("environment", issue.environment.as_ref()),
            ("host", issue.host.as_ref()),
            ("owner", self.owner.as_ref()),
        ];
        named.into_iter().filter_map(|(name, value)| Some(format!("{name} {}", value?))).collect()
    }
}

impl Message {
    /// A message that tests a route; `random` makes its key.
    pub fn test(route: &str, unix_ns: i64, random: &str, link: Option<String>) -> Self {
        let id = format!("test-{random}");
        Self {
            group: id.clone(),
            id,
            route: route.to_owned(),
            direction: None,
            unix_ns,
            sentence: format!("queryscope tests the route {route}: nothing happened"),
            facts: Facts::default(),
            count: 0,
            members: Vec::new(),
            link,
        }
    }

    /// What it says, by name.
    pub(crate) fn name(&self) -> &'static str {
        match self.direction {
            None => "test",
            Some(Direction::Alarm) => "alarm",
            Some(Direction::Over) => "over",
            Some(Direction::Moved) => "moved",
        }
    }

    /// It as a store keeps it.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("texts and finite numbers are written to memory")
    }

    /// The message a store kept.
    ///
    /// # Errors
    /// When it is none.
    pub fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }
}
