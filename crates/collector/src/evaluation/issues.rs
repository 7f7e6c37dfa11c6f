//! Issues of changes that were open before there were issues.

use std::collections::BTreeMap;

use queryscope_diagnosis::{State, seen_change};
use queryscope_issues::{Observed, SeenChange};
use queryscope_store::{ChangesRequest, ObservedQuery, QueryKey, StoreError, StoredChange};

use super::found;
use crate::app::App;

/// Changes that are read at once.
const PAGE: usize = 1_000;

/// Open changes by query, as issues see them: a version without issues found them, and their queries may not run soon.
/// Those that have an issue stay as they are.
///
/// # Errors
/// When the store fails.
pub(super) async fn open_changes(app: &App) -> Result<Vec<ObservedQuery>, StoreError> {
    let unix_ns = app.clock.unix_ns();
    let mut queries: BTreeMap<QueryKey, Vec<SeenChange>> = BTreeMap::new();
    let mut after = None;
    loop {
        let state = Some(State::Open.name().to_owned());
        let request = ChangesRequest { state, after, limit: PAGE, ..ChangesRequest::default() };
        let page = app.store.changes(request).await?;
        for stored in &page {
            // One that cannot be read is told of where its query is evaluated.
            let change = found::change(stored).ok();
            if let Some(seen) = change.and_then(|change| seen_change(&change)) {
                queries.entry(stored.key.clone()).or_default().push(seen);
            }
        }
        after = page.last().map(StoredChange::place);
        if page.len() < PAGE {
            break;
        }
    }
    let observed =
        |(key, open)| ObservedQuery { key, seen: vec![Observed { unix_ns, open, ..Observed::default() }] };
    Ok(queries.into_iter().map(observed).collect())
}
