//! What is known of the query that a run is one of.

use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use queryscope_diagnosis::limits::SHORT_RUNS;
use queryscope_diagnosis::{Change, Detector, Kind, State};
use queryscope_store::{ChangesRequest, HistoryRevision, Is, Query, QueryKey};

use crate::app::App;
use crate::error::ApiError;
use crate::evaluation::{self, Cache};

/// Changes of one query that are looked at: open, it has one of time, one of failures and one of growth in each
/// environment at most; between two runs, and of those that are over, those that cost most a day.
const CHANGES_MAX: usize = 100;
/// Bytes of the detectors that are held for readers, with the features of their runs.
const HELD_BYTES_MAX: usize = 32 << 20;

/// The open change that runs of this sort take longer by, or less time.
pub(crate) async fn open_change(app: &App, query: &Query) -> Result<Option<Change>, ApiError> {
    let open = ChangesRequest { state: Some(State::Open.name().to_owned()), ..ChangesRequest::default() };
    Ok(changes_of_time(app, query, open).await?.into_iter().next())
}

/// The changes of time that are over and that were more than what the query does at times: what its runs took meanwhile
/// is not usual.
pub(crate) async fn past_changes(app: &App, query: &Query) -> Result<Vec<Change>, ApiError> {
    let until_now =
        ChangesRequest { until_unix_ns: Some(query.started_unix_ns), ..ChangesRequest::default() };
    let mut changes = changes_of_time(app, query, until_now).await?;
    changes.retain(|change| change.recovered_unix_ns.is_some() && change.cost.runs > SHORT_RUNS as u64);
    Ok(changes)
}

/// The last change of time of the query that both are runs of, before which the base began and since which the run did.
pub(crate) async fn change_between(app: &App, base: &Query, run: &Query) -> Result<Option<Change>, ApiError> {
    let of = |query: &Query| {
        let Query { project, service, label, environment, .. } = query;
        (project.clone(), service.clone(), label.clone(), environment.clone())
    };
    if of(base) != of(run) || base.started_unix_ns >= run.started_unix_ns {
        return Ok(None);
    }
    let began_between = ChangesRequest {
        since_unix_ns: Some(base.started_unix_ns + 1),
        until_unix_ns: Some(run.started_unix_ns),
        ..ChangesRequest::default()
    };
    let lasts = |change: &Change| {
        change.recovered_unix_ns.is_none_or(|until| run.started_unix_ns < until)
            && change.host.as_ref().is_none_or(|host| *host == base.host)
    };
    let between = changes_of_time(app, run, began_between).await?.into_iter().filter(lasts);
    Ok(between.max_by_key(|change| change.since_unix_ns))
}

/// The changes of time among those asked for that runs of this sort are of.
async fn changes_of_time(app: &App, query: &Query, asked: ChangesRequest) -> Result<Vec<Change>, ApiError> {
    let Some(label) = query.label.clone() else { return Ok(Vec::new()) };
    let request = ChangesRequest {
        project: Some(query.project.clone()),
        service: Some(query.service.clone().map_or(Is::Absent, Is::Value)),
        label: Some(label),
        environment: Some(query.environment.clone().map_or(Is::Absent, Is::Value)),
        limit: CHANGES_MAX,
        ..asked
    };
    let mut changes = Vec::new();
    for stored in &app.store.changes(request).await? {
        let change = evaluation::change(stored)?;
        let of_time = matches!(change.kind, Kind::Slower | Kind::Faster);
        if of_time && change.host.as_ref().is_none_or(|host| *host == query.host) {
            changes.push(change);
        }
    }
    Ok(changes)
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
