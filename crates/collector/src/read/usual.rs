//! Earlier runs of a query, and the usual one of them.

use queryscope_history::median;
use queryscope_store::{Is, ListRequest, Order, Query, QueryFilter, Status};

use super::diagnosed::past_changes;
use crate::app::App;
use crate::error::ApiError;

/// So many runs, the newest, say what is usual.
pub(crate) const RUNS: usize = 100;

/// What a run has in common with those it is judged by, beside its service: a label in another is another query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Alike {
    /// The plan, and the label.
    Plan,
    /// The label.
    Label,
}

/// Of the last [`RUNS`] finished runs that began before a query and are alike, those of no change that is over, the
/// newest first, each with its wall time in milliseconds; none where the query does not say what they would be alike
/// in.
pub(crate) async fn earlier(app: &App, query: &Query, alike: Alike) -> Result<Vec<(Query, f64)>, ApiError> {
    earlier_than(app, query, alike, query.started_unix_ns).await
}

/// The same of runs that began then at the latest.
pub(crate) async fn earlier_than(
    app: &App,
    query: &Query,
    alike: Alike,
    until_unix_ns: i64,
) -> Result<Vec<(Query, f64)>, ApiError> {
    let fingerprint = match (alike, &query.fingerprint) {
        (Alike::Plan, Some(fingerprint)) => Some(Is::Value(fingerprint.clone())),
        (Alike::Label, _) if query.label.is_some() => None,
        _ => return Ok(Vec::new()),
    };
    let filter = QueryFilter { fingerprint, until_unix_ns: Some(until_unix_ns), ..QueryFilter::default() };
    let mut runs = finished(app, query, filter).await?;
    for change in past_changes(app, query).await? {
        let is_of = |run: &Query| {
            run.environment == change.environment
                && change.host.as_ref().is_none_or(|host| *host == run.host)
                && change.since_unix_ns <= run.started_unix_ns
                && change.recovered_unix_ns.is_some_and(|until| run.started_unix_ns < until)
        };
        runs.retain(|(run, _)| !is_of(run));
    }
    Ok(runs)
}

/// Up to [`RUNS`] other finished runs of a query's label and service that a filter keeps, the newest first.
async fn finished(app: &App, query: &Query, among: QueryFilter) -> Result<Vec<(Query, f64)>, ApiError> {
    let filter = QueryFilter {
        project: Some(query.project.clone()),
        label: Some(query.label.clone().map_or(Is::Absent, Is::Value)),
        service: Some(query.service.clone().map_or(Is::Absent, Is::Value)),
        status: Some(Status::Finished),
        ..among
    };
    // One more: the query itself may be among them.
    let request =
        ListRequest { filter, sort: None, order: Order::Newest, after: None, offset: 0, limit: RUNS + 1 };
    let listed = app.store.queries(request).await?.into_iter().map(|listed| listed.query);
    let others = listed.filter(|other| other.query_id != query.query_id);
    Ok(others.filter_map(|other| other.wall_ms.map(|wall_ms| (other, wall_ms))).take(RUNS).collect())
}

/// The run a query is compared with where none is named: of the earlier finished runs of its plan, else of its
/// label, the one whose wall time is nearest their median; how they are alike, and how many they are.
pub(crate) async fn usual(app: &App, query: &Query) -> Result<Option<(Query, Alike, usize)>, ApiError> {
    for alike in [Alike::Plan, Alike::Label] {
        let runs = earlier(app, query, alike).await?;
        let count = runs.len();
        if let Some(run) = nearest_median(runs) {
            return Ok(Some((run, alike, count)));
        }
    }
    Ok(None)
}

/// Of the other finished runs of a query's label and service that a filter keeps, the one whose wall time is nearest
/// their median, and how many they are; `None` where there is none, or the run has no label.
pub(crate) async fn typical(
    app: &App,
    query: &Query,
    among: QueryFilter,
) -> Result<Option<(Query, usize)>, ApiError> {
    if query.label.is_none() {
        return Ok(None);
    }
    let runs = finished(app, query, among).await?;
    let count = runs.len();
    Ok(nearest_median(runs).map(|run| (run, count)))
}

/// Of two that are as near, the newer.
fn nearest_median<T>(runs: Vec<(T, f64)>) -> Option<T> {
    let mut walls: Vec<f64> = runs.iter().map(|(_, wall_ms)| *wall_ms).collect();
    let median = median(&mut walls)?;
    let off = |wall_ms: f64| (wall_ms - median).abs();
    runs.into_iter().min_by(|a, b| off(a.1).total_cmp(&off(b.1))).map(|(run, _)| run)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_run_is_nearest_the_median() {
        let of = |walls: &[f64]| nearest_median(walls.iter().map(|&wall| (wall, wall)).collect());
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[5.0]), Some(5.0));
        assert_eq!(of(&[9.0, 1.0, 4.0]), Some(4.0));
        assert_eq!(of(&[9.0, 1.0, 4.0, 5.0]), Some(4.0));
        assert_eq!(of(&[3.0, 1.0]), Some(3.0));
    }
}
