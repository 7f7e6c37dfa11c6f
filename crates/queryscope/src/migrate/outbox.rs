//! Messages of issues that nobody was told of yet.
//!
//! They are moved after the issues they tell of. What was delivered is moved, too: so nothing is sent again when a move
//! is run again.

use anyhow::{Context, Result};
use queryscope_store::{OutboxPage, OutboxStore};

use super::target::patiently;

/// Messages that are moved at once.
const PAGE: usize = 256;

/// Takes them over; how many were read.
pub(crate) async fn migrate(source: &dyn OutboxStore, target: &dyn OutboxStore) -> Result<usize> {
    let (mut moved, mut notice, mut delivery) = (0, i64::MIN, i64::MIN);
    loop {
        let page = source.outbox_page(notice, delivery, PAGE).await;
        let page = page.context("the messages of issues cannot be read")?;
        let OutboxPage { notices, deliveries } = &page;
        if notices.is_empty() && deliveries.is_empty() {
            return Ok(moved);
        }
        notice = notices.last().map_or(notice, |last| last.number);
        delivery = deliveries.last().map_or(delivery, |last| last.number);
        moved += notices.len() + deliveries.len();
        patiently(|| target.adopt_outbox(page.clone())).await?;
    }
}
