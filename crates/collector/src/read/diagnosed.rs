//! What is known of the query that a run is one of.

use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use queryscope_diagnosis::{Change, Detector, Kind, State};
use queryscope_store::{ChangesRequest, HistoryRevision, Is, Query, QueryKey};

use crate::app::App;
use crate::error::ApiError;
use crate::evaluation::{self, Cache};

/// Changes of one query that are looked at: it has one open change of time, one of failures and one of growth in each
/// environment at most.
const CHANGES_MAX: usize = 100;
/// Bytes of the detectors that are held for readers, with the features of their runs.
const HELD_BYTES_MAX: usize = 32 << 20;

/// The open change that runs of this sort take longer by, or less time.
pub(crate) async fn open_change(app: &App, query: &Query) -> Result<Option<Change>, ApiError> {
    let Some(label) = query.label.clone() else { return Ok(None) };
    let request = ChangesRequest {
        project: Some(query.project.clone()),
        service: Some(query.service.clone().map_or(Is::Absent, Is::Value)),
        label: Some(label),
        environment: Some(query.environment.clone().map_or(Is::Absent, Is::Value)),
        state: Some(State::Open.name().to_owned()),
        limit: CHANGES_MAX,
        ..ChangesRequest::default()
    };
    let found = app.store.changes(request).await?;
    let of_time = |change: &Change| matches!(change.kind, Kind::Slower | Kind::Faster);
    let on_host = |change: &Change| change.host.as_ref().is_none_or(|host| *host == query.host);
    for stored in &found {
        let change = evaluation::change(stored)?;
        if of_time(&change) && on_host(&change) {
            return Ok(Some(change));
        }
    }
    Ok(None)
}

/// Detectors that readers asked for last, each with its revision.
#[derive(Debug)]
pub(crate) struct Detectors(Mutex<Cache<(HistoryRevision, Arc<Detector>)>>);

impl Default for Detectors {
    fn default() -> Self {
        Self(Mutex::new(Cache::new(HELD_BYTES_MAX)))
    }
}

impl Detectors {
    fn held(&self) -> MutexGuard<'_, Cache<(HistoryRevision, Arc<Detector>)>> {
        self.0.lock()
    }
}

/// The detector of the query that a run is one of, with the features of its runs; `None` where none was evaluated.
pub(crate) async fn detector(app: &App, query: &Query) -> Result<Option<Arc<Detector>>, ApiError> {
    let Some(label) = query.label.clone() else { return Ok(None) };
    let key = QueryKey { project: query.project.clone(), service: query.service.clone(), label };
    let Some(revision) = app.store.history_revision(&key).await? else { return Ok(None) };
    if let Some((held, detector)) = app.detectors.held().get(&key)
        && *held == revision
    {
        return Ok(Some(Arc::clone(detector)));
    }
    let Some(history) = app.store.query_history(&key).await? else { return Ok(None) };
    let restored = tokio::task::spawn_blocking(move || (history.revision(), evaluation::detector(&history)));
    let (revision, detector) =
        restored.await.map_err(|_| ApiError::unavailable("reading was interrupted, try again"))?;
    let detector = Arc::new(detector?);
    app.detectors.held().put(key, detector.bytes(), (revision, Arc::clone(&detector)));
    Ok(Some(detector))
}
