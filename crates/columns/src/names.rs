//! What a store says of the numbers in its columns.

use std::sync::Arc;

use queryscope_protocol::QueryId;

/// Texts that repeat are terms, which a store numbers; the columns know the numbers alone.
pub trait Names {
    /// Why the store cannot say it.
    type Error;

    /// The text of a term.
    fn text(&self, term: i64) -> Result<Arc<str>, Self::Error>;

    /// The term of a text, if it has one.
    fn find(&self, text: &str) -> Result<Option<i64>, Self::Error>;

    /// The rules of a term that is a list of them.
    fn rules(&self, term: i64) -> Result<Vec<String>, Self::Error>;

    /// The query of a row; `None` when it is gone.
    fn query_id(&self, row: i64) -> Result<Option<QueryId>, Self::Error>;

    /// The text of a term that may be absent.
    fn optional(&self, term: Option<i64>) -> Result<Option<String>, Self::Error> {
        term.map(|term| self.text(term).map(|text| text.to_string())).transpose()
    }
}
