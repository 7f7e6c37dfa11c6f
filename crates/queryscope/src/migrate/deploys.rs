//! Deploys of the folder, and versions that its senders named: what was posted is nowhere else.

use anyhow::{Context, Result};
use queryscope_store::DeployStore;

use super::target::patiently;

/// Rows that are moved at once.
const PAGE: usize = 256;

/// Takes them over; how many were not there.
pub(crate) async fn migrate(source: &dyn DeployStore, target: &dyn DeployStore) -> Result<usize> {
    let (mut moved, mut after) = (0, None);
    loop {
        let page = source.deploy_rows(after, PAGE).await.context("the deploys cannot be read")?;
        let Some(last) = page.last() else { return Ok(moved) };
        after = Some(last.id.clone());
        moved += patiently(|| target.adopt_deploys(page.clone())).await?;
    }
}
