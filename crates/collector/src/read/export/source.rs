//! Where the rows of a table come from, some at a time.

use std::sync::Arc;

use axum::http::StatusCode;
use futures_util::{StreamExt, TryStreamExt, stream};
use queryscope_store::{IssuePlace, IssuesRequest, ListRequest, Order, Position, Query, QueryFilter, Status};

use super::super::stored::Stored;
use super::table::Row;
use super::{details, issues, runs};
use crate::app::App;
use crate::error::ApiError;

/// Runs that are read at once.
const RUNS_AT_ONCE: usize = 1_000;
/// Runs whose recordings are read for one piece of a table, and how many of them at a time.
const RECORDINGS_AT_ONCE: usize = 64;
const RECORDINGS_BESIDE: usize = 4;
const ISSUES_AT_ONCE: usize = 500;

/// Which table of runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    Runs,
    Nodes,
    Findings,
}

/// The rows of a table that are still to come.
pub(super) enum Source {
    /// Those of runs, the oldest first: runs that start meanwhile are behind those that are read.
    Runs { of: Of, filter: QueryFilter, after: Option<Position>, is_done: bool },
    /// Issues, in the order of the API.
    Issues { request: IssuesRequest, is_done: bool },
}

impl Source {
    pub(super) fn of_runs(of: Of, filter: QueryFilter) -> Self {
        Self::Runs { of, filter, after: None, is_done: false }
    }

    pub(super) fn of_issues(request: IssuesRequest) -> Self {
        Self::Issues { request: IssuesRequest { limit: ISSUES_AT_ONCE, ..request }, is_done: false }
    }

    /// The next rows, of which there may be none; `None` at the end.
    ///
    /// # Errors
    /// 503 when the store or a recording cannot be read.
    pub(super) async fn next(&mut self, app: &Arc<App>) -> Result<Option<Vec<Row>>, ApiError> {
        match self {
            Self::Runs { is_done: true, .. } | Self::Issues { is_done: true, .. } => Ok(None),
            Self::Runs { of, filter, after, is_done } => {
                let limit = if *of == Of::Runs { RUNS_AT_ONCE } else { RECORDINGS_AT_ONCE };
                let (filter, order) = (filter.clone(), Order::Oldest);
                let request = ListRequest { filter, sort: None, order, after: *after, offset: 0, limit };
                let listed = app.store.queries(request).await?;
                *is_done = listed.len() < limit;
                *after = listed.last().map(|last| last.position);
                let read = listed.into_iter().map(|listed| listed.query);
                match of {
                    Of::Runs => Ok(Some(read.map(runs::row).collect())),
                    Of::Nodes | Of::Findings => details(app, *of, read.collect()).await.map(Some),
                }
            }
            Self::Issues { request, is_done } => {
                let read = app.store.issues(request.clone()).await?;
                *is_done = read.len() < request.limit;
                request.after = read.last().map(IssuePlace::of);
                Ok(Some(read.into_iter().map(|issue| issues::row(app.own(issue))).collect()))
            }
        }
    }
}

/// What recordings of runs say. A run whose plan was not sent or cannot be read has no row, and one that runs none yet.
async fn details(app: &Arc<App>, of: Of, runs: Vec<Query>) -> Result<Vec<Row>, ApiError> {
    let read = |app: Arc<App>, query: Query| async move {
        let rows = Stored::read(&app, query).await.and_then(|stored| {
            let profile = stored.profile()?;
            Ok(match of {
                Of::Findings => details::found(&stored.query, &profile),
                Of::Runs | Of::Nodes => details::nodes(&stored.query, &profile),
            })
        });
        match rows {
            Err(error) if error.status() != StatusCode::SERVICE_UNAVAILABLE => Ok(Vec::new()),
            rows => rows,
        }
    };
    let ended = runs.into_iter().filter(|query| query.status != Status::Running);
    let reads: Vec<_> = ended.map(|query| read(Arc::clone(app), query)).collect();
    let rows: Vec<Vec<Row>> = stream::iter(reads).buffered(RECORDINGS_BESIDE).try_collect().await?;
    Ok(rows.into_iter().flatten().collect())
}
