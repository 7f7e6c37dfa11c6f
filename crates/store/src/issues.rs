//! What a store keeps of issues.
//!
//! The problem: the service and people move the same issue, on several collectors. The mechanism: each move is one
//! transaction that reads the issue, asks the pure functions of `queryscope-issues`, and writes the issue and its
//! transition. What an evaluation saw moves issues in the transaction that records the evaluation.

use queryscope_issues::{
    Action, Issue, Kind, Moved, Note, Observed, Person, Refusal, State, Transition, observe,
};

use crate::diagnosis::QueryKey;
use crate::filter::Is;

/// What an evaluation saw of a query.
#[derive(Debug, Clone, PartialEq)]
pub struct ObservedQuery {
    /// The query.
    pub key: QueryKey,
    /// What was seen, in order: one for all runs between two of which no change began or ended.
    pub seen: Vec<Observed>,
}

impl ObservedQuery {
    /// What it makes of the issues that are known of the query: those to be stored.
    pub fn moves(&self, mut known: Vec<Issue>) -> Vec<Moved> {
        let of = |kind| {
            let known = known.iter().position(|issue| issue.kind == kind).map(|at| known.swap_remove(at));
            self.moves_of(kind, known)
        };
        Kind::ALL.into_iter().filter_map(of).collect()
    }

    fn moves_of(&self, kind: Kind, mut known: Option<Issue>) -> Option<Moved> {
        let QueryKey { project, service, label } = &self.key;
        let query = (project.as_str(), service.as_deref(), label.as_str());
        let (mut transitions, mut is_moved) = (Vec::new(), false);
        for seen in &self.seen {
            if let Some(moved) = observe(query, kind, known.clone(), seen) {
                known = Some(moved.issue);
                transitions.extend(moved.transitions);
                is_moved = true;
            }
        }
        known.filter(|_| is_moved).map(|issue| Moved { issue, transitions })
    }
}

/// A move of an issue that no evaluation makes.
#[derive(Debug, Clone, PartialEq)]
pub enum IssueStep {
    /// A person does something.
    Act(Action, Person),
    /// The time of a mute may be over.
    EndMute,
}

impl IssueStep {
    /// Makes it.
    ///
    /// # Errors
    /// Why it is refused; the issue is as it was.
    pub fn take(&self, issue: &mut Issue, unix_ns: i64) -> Result<Option<Transition>, Refusal> {
        match self {
            Self::Act(action, person) => issue.act(*action, person.clone(), unix_ns).map(Some),
            Self::EndMute => Ok(issue.end_mute(unix_ns)),
        }
    }
}

/// What became of a step.
#[derive(Debug, Clone, PartialEq)]
pub enum IssueMoved {
    /// The issue as it is now.
    Moved(Box<Issue>),
    /// There was nothing to be done.
    Unchanged,
    /// Its state does not allow it.
    Refused(Refusal),
    /// There is no such issue.
    Unknown,
}

/// What became of a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoteAdded {
    /// It is stored.
    Added,
    /// The issue has as many as it may have.
    Full,
    /// There is no such issue.
    Unknown,
}

/// An issue with all that happened to it.
#[derive(Debug, Clone, PartialEq)]
pub struct IssueRecord {
    /// The issue.
    pub issue: Issue,
    /// Its transitions, the first first.
    pub transitions: Vec<Transition>,
    /// What people wrote, the first first.
    pub notes: Vec<Note>,
}

/// How many issues of a kind are in a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct IssueCount {
    /// The kind.
    pub kind: Kind,
    /// The state.
    pub state: State,
    /// How many.
    pub count: u64,
}

/// Where an issue stands in the list: the one with the most wall time at stake first, then by id.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the fields of an issue")]
pub struct IssuePlace {
    pub wall_ms_a_day: f64,
    pub id: String,
}

impl IssuePlace {
    /// Where an issue stands.
    pub fn of(issue: &Issue) -> Self {
        Self { wall_ms_a_day: issue.wall_ms_a_day, id: issue.id.clone() }
    }
}

/// Which issues are asked for; a field that is `None` keeps all.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct IssuesRequest {
    /// Of queries with this project.
    pub project: Option<String>,
    /// Of queries with this service.
    pub service: Option<Is>,
    /// Of queries with this label.
    pub label: Option<String>,
    /// Of this kind.
    pub kind: Option<Kind>,
    /// In one of these states; all where it is empty.
    pub states: Vec<State>,
    /// Only those after this place.
    pub after: Option<IssuePlace>,
    /// How many at most.
    pub limit: usize,
}
