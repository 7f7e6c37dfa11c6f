//! What people do to an issue.

use thiserror::Error;

use crate::issue::{Issue, Kind, State, Who};
use crate::limits::TIMES_WORSE_MAX;
use crate::mute::{Condition, Mute, Version};
use crate::transition::Transition;

/// What a person asks for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Action {
    /// Says that somebody knows of it.
    Acknowledge,
    /// Keeps it quiet until something.
    Mute(Condition),
    /// Says that it is over.
    Resolve,
    /// Takes back an acknowledgement, a mute or a resolution.
    Reopen,
}

/// The person that asks, and what they write to it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Person {
    /// The name they give.
    pub by: Option<String>,
    /// What they write.
    pub comment: Option<String>,
}

/// Why an action is refused.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum Refusal {
    /// It is so already.
    #[error("the issue is {} already", .0.name())]
    Already(State),
    /// It is resolved.
    #[error("the issue is resolved: reopen it first")]
    Resolved,
    /// The time of a mute is over.
    #[error("until_unix_ns: the time has passed")]
    Past,
    /// The factor of a mute is none.
    #[error("times_worse: a number above 1 and up to {TIMES_WORSE_MAX} is allowed")]
    Factor,
    /// More than all runs would have to fail: the rate of failures now.
    #[error("times_worse: {}", beyond_all(*.0))]
    Rate(f64),
    /// No run named a version of it.
    #[error("until_other: no run of the query has named a version of the {}", .0.name())]
    NoVersion(Version),
}

/// Which factors a rate of failures allows, in words.
fn beyond_all(rate: f64) -> String {
    // Each figure is rounded down: what is said to be possible is.
    let (percent, most) = ((rate * 1_000.0).floor() / 10.0, (100.0 / rate).floor() / 100.0);
    if most > 1.0 {
        format!("of a rate of failures of {percent} % at most {most} is possible")
    } else {
        format!("a rate of failures of {percent} % cannot become so much worse")
    }
}

impl Issue {
    /// Does what a person asks for.
    ///
    /// # Errors
    /// When the state does not allow it, or a mute would end at once or never; the issue is as it was.
    pub fn act(&mut self, action: Action, person: Person, unix_ns: i64) -> Result<Transition, Refusal> {
        let from = self.state;
        let (to, mute, reason) = match (action, from) {
            (Action::Acknowledge, State::Acknowledged) | (Action::Resolve, State::Resolved) => {
                return Err(Refusal::Already(from));
            }
            (Action::Reopen, State::Open | State::Regressed) => return Err(Refusal::Already(from)),
            (Action::Acknowledge | Action::Mute(_), State::Resolved) => return Err(Refusal::Resolved),
            (Action::Acknowledge, _) => (State::Acknowledged, None, "acknowledged".to_owned()),
            (Action::Resolve, _) => (State::Resolved, None, "resolved".to_owned()),
            (Action::Reopen, _) => (State::Open, None, "reopened".to_owned()),
            (Action::Mute(until), _) => {
                let mute = self.mute_until(until, unix_ns)?;
                let reason = mute.words();
                (State::Muted, Some(mute), reason)
            }
        };
        self.mute = mute;
        if to == State::Acknowledged {
            self.watch.acknowledged_severity = Some(self.severity);
        }
        let Person { by, comment } = person;
        Ok(self.transition(Some(from), to, Who::Person { by, comment }, reason, unix_ns))
    }

    /// Ends a mute whose time is over; `None` where there is none.
    pub fn end_mute(&mut self, unix_ns: i64) -> Option<Transition> {
        let is_due =
            self.state == State::Muted && self.mute.as_ref().is_some_and(|mute| mute.is_due(unix_ns));
        is_due.then(|| self.unmute("the time of its mute is over".into(), unix_ns))
    }

    pub(crate) fn unmute(&mut self, reason: String, unix_ns: i64) -> Transition {
        self.mute = None;
        self.transition(Some(State::Muted), State::Open, Who::Service, reason, unix_ns)
    }

    fn mute_until(&self, until: Condition, unix_ns: i64) -> Result<Mute, Refusal> {
        match until {
            Condition::Time(until) if until <= unix_ns => Err(Refusal::Past),
            Condition::Time(until) => Ok(Mute { until_unix_ns: Some(until), ..Mute::default() }),
            Condition::TimesWorse(times) if !(times > 1.0 && times <= TIMES_WORSE_MAX) => {
                Err(Refusal::Factor)
            }
            Condition::TimesWorse(times) if self.kind == Kind::Failing && times * self.severity > 1.0 => {
                Err(Refusal::Rate(self.severity))
            }
            Condition::TimesWorse(times) => {
                let severity = Some(self.severity);
                Ok(Mute { times_worse: Some(times), severity, ..Mute::default() })
            }
            Condition::Other(of) => {
                let version = match of {
                    Version::Engine => &self.engine_version,
                    Version::Program => &self.program_version,
                };
                let version = Some(version.clone().ok_or(Refusal::NoVersion(of))?);
                Ok(Mute { until_other: Some(of), version, ..Mute::default() })
            }
        }
    }
}
