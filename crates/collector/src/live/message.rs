//! Messages as the wire carries them.

use std::fmt::{Display, Write};
use std::sync::Arc;

use bytes::Bytes;
use queryscope_store::QueryFilter;

use super::filter::{Tags, matches};
use super::snapshot::Shown;

/// Keeps proxies and readers from taking a quiet stream for a dead one.
pub(super) const COMMENT: Bytes = Bytes::from_static(b": still here\n\n");

/// Writes one message whose data is one line.
pub(super) fn write(text: &mut String, id: impl Display, event: &str, data: &str) {
    write!(text, "id: {id}\nevent: {event}\ndata: {data}\n\n").expect("text is written to memory");
}

/// A message of `/api/live`.
#[derive(Debug, Clone)]
pub(super) struct Message {
    pub(super) text: Bytes,
    pub(super) subject: Subject,
    /// What the query was known as before, where that was something else.
    pub(super) before: Option<Arc<Tags>>,
}

/// The subject of a message, which filters look at.
#[derive(Debug, Clone)]
pub(super) enum Subject {
    /// One query, change or issue.
    Tags(Arc<Tags>),
    /// A project: whatever else a reader filters by, the message goes to it.
    Project(Arc<str>),
}

impl Message {
    /// Whether a reader with this filter gets it.
    pub(super) fn concerns(&self, filter: &QueryFilter) -> bool {
        let tags = match &self.subject {
            Subject::Tags(tags) => tags,
            Subject::Project(project) => {
                return filter.project.as_deref().is_none_or(|wanted| wanted == &**project);
            }
        };
        matches(filter, tags) || self.before.as_ref().is_some_and(|before| matches(filter, before))
    }
}

/// Messages that go out together.
#[derive(Debug)]
pub(super) struct Flush {
    pub(super) messages: Vec<Message>,
    /// The texts of all of them.
    pub(super) joined: Bytes,
}

/// What waits for a reader of `/api/live`.
#[derive(Debug, Clone)]
pub(super) enum Sent {
    Messages(Arc<Flush>),
    /// The state anew: messages were lost.
    Snapshot(Arc<Shown>),
    Comment,
}

impl Sent {
    /// What of it a reader with this filter gets; without a filter all.
    pub(super) fn text(&self, filter: Option<&QueryFilter>) -> Bytes {
        match (self, filter) {
            (Self::Comment, _) => COMMENT,
            (Self::Snapshot(shown), filter) => shown.text(filter),
            (Self::Messages(flush), None) => flush.joined.clone(),
            (Self::Messages(flush), Some(filter)) => joined(&flush.messages, Some(filter)),
        }
    }
}

/// The texts of the messages a reader with this filter gets.
pub(super) fn joined(messages: &[Message], filter: Option<&QueryFilter>) -> Bytes {
    let kept = messages.iter().filter(|message| filter.is_none_or(|filter| message.concerns(filter)));
    kept.map(|message| &message.text[..]).collect::<Vec<_>>().concat().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_of_a_project_goes_to_its_readers_alone() {
        let message = Message { text: Bytes::new(), subject: Subject::Project("etl".into()), before: None };
        let of = |project: Option<&str>, host: Option<&str>| QueryFilter {
            project: project.map(Into::into),
            host: host.map(Into::into),
            ..QueryFilter::default()
        };
        assert!(message.concerns(&of(None, None)) && message.concerns(&of(Some("etl"), Some("h"))));
        assert!(message.concerns(&of(None, Some("h"))) && !message.concerns(&of(Some("bi"), None)));
    }
}
