//! What issues about one run are told of it beside what it does.

use std::sync::Arc;

use queryscope_protocol::named_version;
use queryscope_store::Query;

use super::events::path_of;
use crate::app::App;
use crate::read::Stored;

/// The version of the engine of a run, with the engine's name, as in features of runs.
pub(super) fn engine_version(query: &Query) -> Option<String> {
    query.engine_version.as_deref().map(|version| named_version(query.engine.as_deref(), version))
}

/// The file that ran a query; `None` also where its events cannot be read now.
pub(super) async fn call_site(app: &Arc<App>, query: &Query) -> Option<String> {
    let stored = Stored::read(app, query.clone()).await.ok()?;
    path_of(&stored.profile().ok()?)
}
