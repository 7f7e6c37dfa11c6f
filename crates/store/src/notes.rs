//! Notes that people write about queries.
//!
//! A note is about a moment of a query: of a label in one service of one project. It stays until a person deletes it,
//! also when no run of its query is left.

use async_trait::async_trait;
use serde::Serialize;

use crate::error::StoreError;

/// Notes a query may have.
pub const NOTES_OF_QUERY_MAX: usize = 1_000;
/// Notes a store takes, of all queries.
pub const NOTES_MAX: usize = 10_000;

/// A note on a query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct QueryNote {
    /// Its id, unique.
    pub id: String,
    /// The project of the query.
    pub project: String,
    /// The service of the query; null for programs that name none.
    pub service: Option<String>,
    /// The label of the query.
    pub label: String,
    /// The moment it is about, in Unix nanoseconds.
    pub unix_ns: i64,
    /// When it was written first, in Unix nanoseconds.
    pub written_unix_ns: i64,
    /// The name of the person who wrote it first; null where nobody says.
    pub by: Option<String>,
    /// The text.
    pub text: String,
    /// When its text was edited last, in Unix nanoseconds; null where it never was, or by a version that kept no time.
    pub edited_unix_ns: Option<i64>,
    /// The name of the person who edited it last; null where nobody did, or nobody says.
    pub edited_by: Option<String>,
}

/// Another text for a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteEdit {
    /// The text.
    pub text: String,
    /// When it is edited, in Unix nanoseconds.
    pub edited_unix_ns: i64,
    /// The name of the person who edits it, where somebody says.
    pub by: Option<String>,
}

/// Which notes are asked for; a field that is `None` keeps all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NotesRequest {
    /// Of this project.
    pub project: Option<String>,
    /// Of this service; empty for those without one.
    pub service: Option<String>,
    /// Of this label.
    pub label: Option<String>,
    /// About this time or later.
    pub since_unix_ns: Option<i64>,
    /// About this time or before.
    pub until_unix_ns: Option<i64>,
    /// Only those after the note of this moment and id.
    pub after: Option<(i64, String)>,
    /// How many at most.
    pub limit: usize,
}

/// Keeps notes on queries. Retention does not touch them.
#[async_trait]
pub trait NoteStore: Send + Sync {
    /// Adds a note; `false`, and nothing is done, where its id is there, or its query or the store has as many as it
    /// may have.
    async fn add_query_note(&self, note: QueryNote) -> Result<bool, StoreError>;

    /// One page of the notes: the last moment first, then by id.
    async fn query_notes(&self, request: NotesRequest) -> Result<Vec<QueryNote>, StoreError>;

    /// Puts a text in place of that of a note, and gives the note back as it is then; `None` where none of that id is
    /// there in that project, or in any. Who wrote it first, and when, stay.
    async fn edit_query_note(
        &self,
        id: &str,
        project: Option<&str>,
        edit: NoteEdit,
    ) -> Result<Option<QueryNote>, StoreError>;

    /// Deletes a note and gives it back; `None` where there is none of that id in that project, or in any.
    async fn delete_query_note(
        &self,
        id: &str,
        project: Option<&str>,
    ) -> Result<Option<QueryNote>, StoreError>;

    /// Takes over notes of elsewhere, however many there are; gives back how many. Those whose id is there change
    /// nothing.
    async fn adopt_query_notes(&self, notes: Vec<QueryNote>) -> Result<usize, StoreError>;
}
