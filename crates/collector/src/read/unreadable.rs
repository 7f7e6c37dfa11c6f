//! Why a query's events can not be read, for the caller and for the log.

use queryscope_protocol::QueryId;
use queryscope_recordings::RecordingError;

use super::query::unknown;
use crate::app::App;
use crate::error::ApiError;

/// The answer to a reader of a query whose events could not be read.
pub(crate) fn unreadable(app: &App, id: QueryId, error: RecordingError) -> ApiError {
    let reason = match &error {
        RecordingError::Gone => return unknown(&id.to_string()),
        RecordingError::Unavailable(_) => {
            "the recordings can not be reached at the moment, and this query's events are among them: try again"
        }
        _ => "reading the query's events failed, try again",
    };
    match error {
        RecordingError::Store(error) => error.into(),
        other => {
            app.metrics.recordings_failed("read");
            let error = &other as &dyn std::error::Error;
            tracing::warn!(query_id = %id, error, "the events of a query can not be read");
            ApiError::unavailable(reason)
        }
    }
}
