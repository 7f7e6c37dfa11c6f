//! What is noted of a transition for those who are to be told of it.

use serde::{Deserialize, Serialize};

use crate::issue::{Issue, State, Unreadable};
use crate::transition::{Actor, Transition};

/// A transition with its issue as it was when the transition was stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Notice {
    /// The issue.
    pub issue: Issue,
    /// The transition.
    pub transition: Transition,
}

/// What a transition means to somebody who waits for news.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Something is wrong that nobody knows of: it opened, came back, got much worse, or its mute ended.
    Alarm,
    /// It is over, as runs say.
    Over,
    /// A person moved it, or it moved while it was muted.
    Moved,
}

impl Notice {
    /// What it means.
    pub fn direction(&self) -> Direction {
        let Transition { from, to, actor, .. } = &self.transition;
        match (actor, from, to) {
            (Actor::Person, ..)
            | (Actor::Service, Some(State::Muted), State::Resolved)
            | (Actor::Service, _, State::Acknowledged | State::Muted) => Direction::Moved,
            (Actor::Service, _, State::Open | State::Regressed) => Direction::Alarm,
            (Actor::Service, _, State::Resolved) => Direction::Over,
        }
    }

    /// What no other transition has: the id of the issue and the number of the transition.
    pub fn key(&self) -> String {
        format!("{}.{}", self.issue.id, self.transition.number)
    }

    /// It as a store keeps it.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("texts and finite numbers are written to memory")
    }

    /// The notice a store kept.
    ///
    /// # Errors
    /// When it is none.
    pub fn from_json(text: &str) -> Result<Self, Unreadable> {
        Ok(serde_json::from_str(text)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::issue::Kind;

    fn notice(from: Option<State>, to: State, actor: Actor) -> Notice {
        let mut issue = Issue::new(("default", None, "a"), Kind::Slower, "01-2", 5);
        issue.state = to;
        let (by, comment, change) = (None, None, None);
        let transition =
            Transition { number: 3, unix_ns: 5, from, to, actor, by, reason: "why".into(), comment, change };
        Notice { issue, transition }
    }

    #[test]
    fn what_the_service_opens_is_an_alarm_and_what_people_do_is_none() {
        use Direction::{Alarm, Moved, Over};
        use State::{Acknowledged, Muted, Open, Regressed, Resolved};
        let of = |from, to, actor| notice(from, to, actor).direction();
        for (from, to, expected) in [
            (None, Open, Alarm),
            (Some(Muted), Open, Alarm),
            (Some(Resolved), Regressed, Alarm),
            (Some(Resolved), Muted, Moved),
            (Some(Open), Resolved, Over),
            (Some(Acknowledged), Resolved, Over),
            (Some(Muted), Resolved, Moved),
        ] {
            assert_eq!(of(from, to, Actor::Service), expected, "{from:?} to {to:?}");
        }
        for (from, to) in [(Open, Acknowledged), (Open, Muted), (Muted, Open), (Regressed, Resolved)] {
            assert_eq!(of(Some(from), to, Actor::Person), Moved, "{from:?} to {to:?}");
        }
    }

    #[test]
    fn a_notice_comes_back_as_it_was() {
        let notice = notice(Some(State::Resolved), State::Regressed, Actor::Service);
        assert_eq!(notice.key(), "issue-slower-012.3");
        assert_eq!(Notice::from_json(&notice.to_json()).expect("a notice"), notice);
        assert!(Notice::from_json("{}").is_err());
    }
}
