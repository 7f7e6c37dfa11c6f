//! Views of the page of queries that people share: a name, and the filters that the page's address holds.

use async_trait::async_trait;
use serde::Serialize;

use crate::error::StoreError;

/// Views a project may share.
pub const VIEWS_OF_PROJECT_MAX: usize = 100;
/// Views a store takes, of all projects.
pub const VIEWS_MAX: usize = 1_000;

/// A view that is shared in a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SharedView {
    /// The project it is shared in.
    pub project: String,
    /// Its name, unique in the project.
    pub name: String,
    /// The query of the page's address, with its `?`; empty where the page has no filter.
    pub search: String,
    /// The name of the person who shared it last; null where nobody says.
    pub by: Option<String>,
    /// When it was shared last, in Unix nanoseconds.
    pub unix_ns: i64,
}

/// Keeps views that are shared. Retention does not touch them.
#[async_trait]
pub trait ViewStore: Send + Sync {
    /// The views of a project, or of all, by name, then by project.
    async fn shared_views(&self, project: Option<&str>) -> Result<Vec<SharedView>, StoreError>;

    /// Shares a view in place of one of the same project and name; `false`, and nothing is done, where there is none,
    /// and the project or the store has as many as it may have.
    async fn share_view(&self, view: SharedView) -> Result<bool, StoreError>;

    /// Takes a view away; `false` where there is none.
    async fn unshare_view(&self, project: &str, name: &str) -> Result<bool, StoreError>;

    /// Takes over views of elsewhere, however many there are; gives back how many. Those of a project and name that is
    /// there change nothing.
    async fn adopt_views(&self, views: Vec<SharedView>) -> Result<usize, StoreError>;
}
