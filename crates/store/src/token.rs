//! Tokens that senders and programs authenticate with.

use crate::access::Scope;

/// SHA-256 of a token: tokens are random and long, so a plain hash keeps them secret.
pub type TokenHash = [u8; 32];

/// A token as a store keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenRecord {
    /// Its name, unique.
    pub name: String,
    /// The project its batches belong to, or that it may read; [`TokenRecord::ALL_PROJECTS`] for each.
    pub project: String,
    /// Its hash.
    pub hash: TokenHash,
    /// When it was made, in Unix milliseconds.
    pub created_unix_ms: i64,
    /// What it is for.
    pub scope: Scope,
    /// From when on it is not taken any more, in Unix milliseconds.
    pub expires_unix_ms: Option<i64>,
    /// When it was used, to the minute, in Unix milliseconds.
    pub used_unix_ms: Option<i64>,
}

impl TokenRecord {
    /// The project of a token that may read all. No project can be named so; a token that sends has one project.
    pub const ALL_PROJECTS: &str = "*";

    /// A token of a sender, for ever.
    pub fn of_sender(
        name: impl Into<String>,
        project: impl Into<String>,
        hash: TokenHash,
        created_unix_ms: i64,
    ) -> Self {
        Self {
            name: name.into(),
            project: project.into(),
            hash,
            created_unix_ms,
            scope: Scope::Ingest,
            expires_unix_ms: None,
            used_unix_ms: None,
        }
    }

    /// The only project it may read; `None` for one that may read all.
    pub fn wall(&self) -> Option<&str> {
        Some(&*self.project).filter(|project| *project != Self::ALL_PROJECTS)
    }

    /// Whether it is still taken at a time.
    pub fn holds_at(&self, unix_ms: i64) -> bool {
        self.expires_unix_ms.is_none_or(|expires| unix_ms < expires)
    }
}
