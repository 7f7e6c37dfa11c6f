//! What is kept of each move of an issue, and what people write to it.

use serde::{Deserialize, Serialize};

use crate::issue::State;

/// The mover of an issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = IssueActor))]
#[serde(rename_all = "snake_case")]
pub enum Actor {
    /// The service, by what runs did.
    Service,
    /// A person.
    Person,
}

/// A move of an issue from one state to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = IssueTransition))]
pub struct Transition {
    /// Its number within the issue, from 1 without a gap.
    pub number: u64,
    /// When it was made, in Unix nanoseconds.
    pub unix_ns: i64,
    /// The state before; null for the first.
    pub from: Option<State>,
    /// The state after. A mute that replaces another goes from `muted` to `muted`.
    pub to: State,
    /// Its maker.
    pub actor: Actor,
    /// The name a person gave, if any.
    pub by: Option<String>,
    /// Why, in words.
    pub reason: String,
    /// What a person wrote to it, if anything.
    pub comment: Option<String>,
    /// The change it was about, by id.
    pub change: Option<String>,
}

/// What a person wrote to an issue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = IssueNote))]
pub struct Note {
    /// When, in Unix nanoseconds.
    pub unix_ns: i64,
    /// The name the person gave, if any.
    pub by: Option<String>,
    /// The text.
    pub text: String,
}

impl Actor {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Service, Self::Person];

    /// Its name in JSON and in stores.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Service => "service",
            Self::Person => "person",
        }
    }

    /// The actor of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|actor| actor.name() == name)
    }
}
