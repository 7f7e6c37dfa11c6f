//! The profile of a stored run, as far as it is known.

use std::fmt::Display;
use std::sync::Arc;

use axum::http::StatusCode;
use queryscope_insights::Latest;
use queryscope_protocol::{Event, EventKind, Profile};
use queryscope_recordings::{LineReader, RecordingError};
use queryscope_store::Query;

use super::query::unknown;
use super::unreadable::unreadable;
use crate::app::App;
use crate::error::ApiError;

/// Lines after which others get their turn.
const LINES_AT_ONCE: usize = 256;

/// A query and what its events say of its plan.
pub(crate) struct Stored {
    pub(crate) query: Query,
    /// The line of its `query.finished`, else of its `query.started`.
    line: Option<String>,
    /// Samples to lay over a `query.started`.
    latest: Option<Latest>,
}

impl Stored {
    /// Reads the events of a query and keeps what its profile is made of.
    ///
    /// # Errors
    /// 404 when the query is deleted meanwhile, 503 when its events cannot be read.
    pub(crate) async fn read(app: &Arc<App>, query: Query) -> Result<Self, ApiError> {
        let id = query.query_id;
        let parts = app.store.recording(id).await?.ok_or_else(|| unknown(&id.to_string()))?;
        let mut stored = Self { query, line: None, latest: None };
        let read = async {
            let content = app.recordings.read(&app.store, parts).await?;
            stored.take(LineReader::new(id, content.bytes)).await
        };
        read.await.map_err(|error| unreadable(app, id, error))?;
        Ok(stored)
    }

    async fn take(&mut self, mut lines: LineReader) -> Result<(), RecordingError> {
        let mut read = 0;
        while let Some(line) = lines.next_text().await? {
            // Lines were checked when they came; what cannot be read now says nothing.
            if let Ok(line) = String::from_utf8(line) {
                self.hear(line);
            }
            read += 1;
            if read % LINES_AT_ONCE == 0 {
                tokio::task::yield_now().await;
            }
        }
        Ok(())
    }

    fn hear(&mut self, line: String) {
        let Ok(event) = Event::read_stored(&line) else { return };
        match event.kind {
            // Of two that finished, the first counts.
            EventKind::Finished(..) if self.line.is_none() || self.latest.is_some() => {
                self.latest = None;
                self.line = Some(line);
            }
            EventKind::Started(..) if self.line.is_none() => {
                self.latest.get_or_insert_default();
                self.line = Some(line);
            }
            EventKind::Progress(..) if self.line.is_none() || self.latest.is_some() => {
                if let Ok(Some(sample)) = event.sample() {
                    self.latest.get_or_insert_default().take(sample);
                }
            }
            _ => {}
        }
    }

    /// The complete profile of a query that ended; of any other its plan with its latest samples.
    ///
    /// # Errors
    /// 404 when nothing has been sent of its plan, 422 when what was sent cannot be read.
    pub(crate) fn profile(&self) -> Result<Profile<'_>, ApiError> {
        let id = self.query.query_id;
        let not_sent = || ApiError::not_found(format!("the plan of query {id} has not been sent"));
        let line = self.line.as_deref().ok_or_else(not_sent)?;
        let unreadable = |reason: &dyn Display| {
            let reason = format!("the profile of query {id} cannot be read: {reason}");
            ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, reason)
        };
        let event = Event::read_stored(line).map_err(|reason| unreadable(&reason))?;
        let profile = event.profile().map_err(|reason| unreadable(&reason))?;
        let profile = profile.ok_or_else(not_sent)?;
        Ok(match &self.latest {
            Some(latest) => latest.of(profile),
            None => profile,
        })
    }
}
