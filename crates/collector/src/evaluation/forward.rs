//! Brings queries forward that a format without features stored.
//!
//! Their last runs are evaluated as others are, by their recordings: those of a query of which a run ends now when it
//! ends, the others one after the other, those that ran last first. A query is brought forward once its evaluation is
//! stored, so a restart goes on.

use std::collections::{HashSet, VecDeque};

use queryscope_diagnosis::limits::WINDOW_RUNS;
use queryscope_store::{Is, Known, ListRequest, Order, Position, Query, QueryFilter, QueryKey, StoreError};

use super::look::Waiting;
use crate::app::App;

/// Rows that are read at once.
const PAGE: usize = 500;

/// What is left to bring forward.
#[derive(Debug, Default)]
pub(super) struct Forward {
    state: State,
    /// Queries that are brought forward, or on their way.
    known: HashSet<QueryKey>,
    found: VecDeque<QueryKey>,
    after: Option<Position>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    #[default]
    Unknown,
    /// Some queries may not be brought forward.
    UnderWay,
    Done,
}

impl Forward {
    /// Finds out what there is to do.
    pub(super) async fn begin(&mut self, app: &App) -> Result<(), StoreError> {
        if self.state != State::Unknown {
            return Ok(());
        }
        if app.store.is_brought_forward().await? {
            self.state = State::Done;
            return Ok(());
        }
        let mut after = None;
        loop {
            let page = app.store.evaluated_queries(after, PAGE).await?;
            let is_last = page.len() < PAGE;
            after = page.last().cloned();
            self.known.extend(page);
            app.evaluation.rest().await;
            if is_last {
                break;
            }
        }
        tracing::info!("the runs of earlier versions are evaluated in the background");
        self.state = State::UnderWay;
        Ok(())
    }

    pub(super) fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// Notes that a query is brought forward.
    pub(super) fn brought(&mut self, key: &QueryKey) {
        if self.state == State::UnderWay && !self.known.contains(key) {
            self.known.insert(key.clone());
        }
    }

    /// The next query; `None` where none was found yet, or when all are done.
    pub(super) async fn next(&mut self, app: &App) -> Result<Option<QueryKey>, StoreError> {
        if let Some(key) = self.found.pop_front() {
            return Ok(Some(key));
        }
        let request = ListRequest {
            filter: QueryFilter::default(),
            sort: None,
            order: Order::Newest,
            after: self.after,
            offset: 0,
            limit: PAGE,
        };
        let page = app.store.queries(request).await?;
        let is_last = page.len() < PAGE;
        if let Some(last) = page.last() {
            self.after = Some(last.position);
        }
        for listed in page {
            let Query { project, service, label, known, .. } = listed.query;
            let Some(label) = label.filter(|_| known == Known::Finished) else { continue };
            let key = QueryKey { project, service, label };
            if self.known.insert(key.clone()) {
                self.found.push_back(key);
            }
        }
        if is_last && self.found.is_empty() {
            app.store.mark_brought_forward().await?;
            tracing::info!(queries = self.known.len(), "the runs of earlier versions are evaluated");
            *self = Self { state: State::Done, ..Self::default() };
            return Ok(None);
        }
        app.evaluation.rest().await;
        Ok(None)
    }

    /// A query could not be brought forward now.
    pub(super) fn put_back(&mut self, key: QueryKey) {
        self.found.push_front(key);
    }

    /// The last runs of a query that ended, the oldest first, those that wait among them.
    pub(super) async fn join(
        &self,
        app: &App,
        key: &QueryKey,
        waiting: Vec<Waiting>,
    ) -> Result<Vec<Waiting>, StoreError> {
        let filter = QueryFilter {
            project: Some(key.project.clone()),
            service: Some(key.service.clone().map_or(Is::Absent, Is::Value)),
            label: Some(Is::Value(key.label.clone())),
            ..QueryFilter::default()
        };
        let inbox: HashSet<_> = waiting.iter().map(|run| run.query_id).collect();
        let mut runs = waiting;
        let mut after = None;
        let mut found = 0;
        while found < WINDOW_RUNS {
            let request = ListRequest {
                filter: filter.clone(),
                sort: None,
                order: Order::Newest,
                after,
                offset: 0,
                limit: PAGE,
            };
            let page = app.store.queries(request).await?;
            let is_last = page.len() < PAGE;
            after = page.last().map(|listed| listed.position);
            let ended = page.into_iter().map(|listed| listed.query);
            let ended = ended.filter(|query| query.known == Known::Finished).take(WINDOW_RUNS - found);
            for query in ended {
                found += 1;
                if !inbox.contains(&query.query_id) {
                    runs.push(Waiting {
                        place: None,
                        query_id: query.query_id,
                        started_unix_ns: query.started_unix_ns,
                        seq: None,
                    });
                }
            }
            if is_last {
                break;
            }
        }
        runs.sort_unstable_by_key(|run| (run.started_unix_ns, run.query_id));
        Ok(runs)
    }
}
