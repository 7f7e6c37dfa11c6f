//! Issues of the folder, with what people did to them.
//!
//! What evaluations find is found anew from the runs. What people said is nowhere else: so issues are moved before the
//! runs are, and the collectors that evaluate these find the issues as they were left. An issue of the same query and
//! kind that is there already stays as it is.

use anyhow::{Context, Result};
use queryscope_store::StoreAudit;

use super::target::patiently;

/// Issues that are moved at once.
const PAGE: usize = 64;

/// Takes them over; how many were not there.
pub(crate) async fn migrate(source: &dyn StoreAudit, target: &dyn StoreAudit) -> Result<usize> {
    let (mut moved, mut after) = (0, None);
    loop {
        let page = source.issue_records(after, PAGE).await.context("the issues cannot be read")?;
        let Some(last) = page.last() else { return Ok(moved) };
        after = Some(last.issue.id.clone());
        moved += patiently(|| target.adopt_issues(page.clone())).await?;
    }
}
