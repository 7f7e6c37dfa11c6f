//! What people wrote beside issues: notes on queries, and views that are shared.

use anyhow::{Context, Result};
use queryscope_store::{NoteStore, NotesRequest, ViewStore};

use super::target::patiently;

/// Notes that are moved at once.
const PAGE: usize = 256;

/// Takes notes over; how many were not there.
pub(crate) async fn migrate_notes(source: &dyn NoteStore, target: &dyn NoteStore) -> Result<usize> {
    let (mut moved, mut after) = (0, None);
    loop {
        let request = NotesRequest { after, limit: PAGE, ..NotesRequest::default() };
        let page = source.query_notes(request).await.context("the notes on queries cannot be read")?;
        let Some(last) = page.last() else { return Ok(moved) };
        after = Some((last.unix_ns, last.id.clone()));
        moved += patiently(|| target.adopt_query_notes(page.clone())).await?;
    }
}

/// Takes shared views over; how many were not there.
pub(crate) async fn migrate_views(source: &dyn ViewStore, target: &dyn ViewStore) -> Result<usize> {
    let views = source.shared_views(None).await.context("the shared views cannot be read")?;
    Ok(patiently(|| target.adopt_views(views.clone())).await?)
}
