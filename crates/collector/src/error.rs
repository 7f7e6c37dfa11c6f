//! Every error a caller sees, and the one table from kind to status.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use queryscope_store::StoreError;
use serde::Serialize;
use utoipa::ToSchema;

/// Seconds after which a sender may try again; never 0, on which a real sender spins.
const RETRY_AFTER_S: &str = "1";
/// The same for a reader, where there are as many as there may be: they come back in thousands.
const FULL_RETRY_AFTER_S: &str = "5";

/// An answer that is an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiError {
    status: StatusCode,
    reason: String,
    line: Option<usize>,
    cause: Cause,
}

/// What an error has to do with more than its request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cause {
    Other,
    /// The request may be read in two ways.
    Malformed,
    /// Others are being worked on.
    Overload,
    /// As many readers are answered as may be.
    Full,
}

/// The body of every error.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Error, example = json!({"error": "limit: 0 is not a whole number from 1 to 1000"}))]
pub(crate) struct ErrorBody {
    /// What is wrong, and what is allowed.
    error: String,
    /// The line of a batch that is to blame, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
}

impl ApiError {
    pub(crate) fn new(status: StatusCode, reason: impl Into<String>) -> Self {
        Self { status, reason: reason.into(), line: None, cause: Cause::Other }
    }

    /// 400.
    pub(crate) fn invalid(reason: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, reason)
    }

    /// 400 to what may be read in two ways. The connection is closed: where the next request begins is open, too.
    pub(crate) fn malformed(reason: &str) -> Self {
        Self { cause: Cause::Malformed, ..Self::invalid(reason) }
    }

    /// 401.
    pub(crate) fn unauthorized(reason: &str) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, reason)
    }

    /// 409: what is there does not allow it.
    pub(crate) fn conflict(reason: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, reason)
    }

    /// 404.
    pub(crate) fn not_found(reason: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, reason)
    }

    /// 413.
    pub(crate) fn too_large(reason: impl Into<String>) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, reason)
    }

    /// 503, to be tried again.
    pub(crate) fn unavailable(reason: &str) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, reason)
    }

    /// 503, because others are being worked on.
    pub(crate) fn overloaded(reason: &str) -> Self {
        Self { cause: Cause::Overload, ..Self::unavailable(reason) }
    }

    /// 503, because as many readers are answered as may be. The connection is closed: it is wanted for others.
    pub(crate) fn full(reason: &str) -> Self {
        Self { cause: Cause::Full, ..Self::unavailable(reason) }
    }

    /// Blames a line.
    pub(crate) fn at_line(self, line: Option<usize>) -> Self {
        Self { line, ..self }
    }

    /// The status of the answer.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// Whether there is nothing wrong but that others are being worked on.
    pub(crate) fn is_overload(&self) -> bool {
        self.cause == Cause::Overload
    }

    /// The body of its answer.
    pub(crate) fn body(self) -> String {
        let body = ErrorBody { error: self.reason, line: self.line };
        serde_json::to_string(&body).unwrap_or_default()
    }

    /// What is wrong, and what is allowed.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// The line to blame, counted from 1.
    pub fn line(&self) -> Option<usize> {
        self.line
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        match &error {
            StoreError::ForeignStream(_) => Self::new(StatusCode::FORBIDDEN, error.to_string()),
            StoreError::ForeignQuery(_) => Self::invalid(error.to_string()),
            StoreError::Full(_) => Self::unavailable("the disk is full, try again later"),
            StoreError::Displaced(_) => {
                Self::unavailable("the data folder is not where it was, try again later")
            }
            _ => {
                tracing::warn!(error = &error as &dyn std::error::Error, "the store failed");
                Self::unavailable("storing or reading failed, try again")
            }
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let body = ErrorBody { error: self.reason, line: self.line };
        let mut response = (self.status, Json(body)).into_response();
        let extra = match self.status {
            StatusCode::UNAUTHORIZED => Some((header::WWW_AUTHENTICATE, "Bearer")),
            StatusCode::SERVICE_UNAVAILABLE if self.cause == Cause::Full => {
                Some((header::RETRY_AFTER, FULL_RETRY_AFTER_S))
            }
            StatusCode::SERVICE_UNAVAILABLE => Some((header::RETRY_AFTER, RETRY_AFTER_S)),
            _ => None,
        };
        if let Some((name, value)) = extra {
            response.headers_mut().insert(name, HeaderValue::from_static(value));
        }
        if matches!(self.cause, Cause::Full | Cause::Malformed) {
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }
}

impl std::fmt::Display for ApiError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.reason),
            None => f.write_str(&self.reason),
        }
    }
}

impl std::error::Error for ApiError {}
