//! Why a run's events cannot be read, for the caller and for the log: also when the bucket is away.

use axum::http::StatusCode;
use queryscope_protocol::QueryId;
use queryscope_recordings::RecordingError;

use super::query::unknown;
use crate::app::App;
use crate::error::ApiError;

/// The answer to a reader of a run whose events could not be read.
pub(crate) fn unreadable(app: &App, id: QueryId, error: RecordingError) -> ApiError {
    note(app, id, &error);
    match error {
        RecordingError::Gone => unknown(&id.to_string()),
        RecordingError::Store(error) => error.into(),
        RecordingError::Missing { .. } => ApiError::new(
            StatusCode::GONE,
            format!("the recording of query {id} is missing: it is not where it was written"),
        ),
        RecordingError::Damaged { .. } => ApiError::unavailable(
            "the query's events are damaged where they are stored: queryscope check says what is wrong",
        ),
        RecordingError::Unavailable(_) => ApiError::unavailable(
            "the recordings cannot be reached at the moment, and this query's events are among them: try again",
        ),
        _ => ApiError::unavailable("reading the query's events failed, try again"),
    }
}

/// Logs and counts what is wrong with a run's events, unless the run is gone or it is the store that failed.
pub(crate) fn note(app: &App, id: QueryId, error: &RecordingError) {
    if !matches!(error, RecordingError::Gone | RecordingError::Store(_)) {
        app.metrics.recordings_failed("read");
        let error = error as &dyn std::error::Error;
        tracing::warn!(query_id = %id, error, "the events of a run cannot be read");
    }
}
