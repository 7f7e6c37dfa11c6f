//! What a check finds, and how it is told.

use std::fmt;

use queryscope_protocol::{QueryId, StreamId};
use queryscope_store::QueryKey;
use serde_json::json;

/// Findings that are printed as text; further ones are counted.
const SHOWN_MAX: usize = 100;

/// What a finding is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Subject {
    Query(QueryId),
    Stream(StreamId),
    /// A file below the recordings' root.
    File(String),
    /// What evaluations found of the runs of a label.
    Label(QueryKey),
    Store,
}

/// Tells findings as they come, and counts them.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// Whether each is told as one JSON object a line.
    pub(crate) json: bool,
    pub(crate) problems: usize,
    pub(crate) notes: usize,
    pub(crate) repairs: usize,
    /// Problems a repair could not undo: events that are lost, and what it left as it is.
    pub(crate) lost: usize,
    /// Queries of which acknowledged events are lost, as an earlier repair recorded.
    pub(crate) known_losses: usize,
}

impl Findings {
    /// What must not be.
    pub(crate) fn problem(&mut self, subject: &Subject, text: &str) {
        self.problems += 1;
        self.tell("problem", subject, text, self.problems);
    }

    /// What is worth knowing, and sound.
    pub(crate) fn note(&mut self, subject: &Subject, text: &str) {
        self.notes += 1;
        self.tell("note", subject, text, self.notes);
    }

    /// What was mended, and how.
    pub(crate) fn repaired(&mut self, subject: &Subject, text: &str) {
        self.repairs += 1;
        self.tell("repaired", subject, text, self.repairs);
    }

    /// What cannot be mended.
    pub(crate) fn lost(&mut self, subject: &Subject, text: &str) {
        self.lost += 1;
        self.tell("lost", subject, text, self.lost);
    }

    /// What was acknowledged and is known to be lost.
    pub(crate) fn known_loss(&mut self, subject: &Subject, text: &str) {
        self.known_losses += 1;
        self.tell("lost", subject, text, self.known_losses);
    }

    fn tell(&self, level: &str, subject: &Subject, text: &str, count: usize) {
        if self.json {
            let (about, id) = subject.parts();
            println!("{}", json!({ "level": level, "about": about, "id": id, "text": text }));
        } else if count <= SHOWN_MAX {
            match subject {
                Subject::Store => println!("{level}: {text}"),
                _ => println!("{level}: {subject}: {text}"),
            }
        }
    }
}

impl Subject {
    fn parts(&self) -> (&'static str, Option<String>) {
        match self {
            Self::Query(id) => ("query", Some(id.to_string())),
            Self::Stream(id) => ("stream", Some(id.to_string())),
            Self::File(path) => ("file", Some(path.clone())),
            Self::Label(QueryKey { project, service, label }) => {
                let service =
                    service.as_ref().map_or(String::new(), |service| format!("service {service}, "));
                ("label", Some(format!("{label} ({service}project {project})")))
            }
            Self::Store => ("store", None),
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (about, id) = self.parts();
        write!(f, "{about} {}", id.unwrap_or_default())
    }
}
