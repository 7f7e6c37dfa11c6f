//! Bodies of requests that change something.

use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode, header};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use queryscope_issues::Person;
use queryscope_issues::limits::{NAME_CHARS_MAX, TEXT_CHARS_MAX};
use serde::de::DeserializeOwned;

use crate::error::ApiError;

/// Bytes of a body.
const BODY_BYTES_MAX: usize = 64 << 10;
/// How long a body may take to arrive.
const BODY_DEADLINE: Duration = Duration::from_secs(10);
/// How far ahead of the collector's clock a moment may be: clocks differ.
const AHEAD_NS_MAX: i64 = 3_600_000_000_000;

/// Reads the JSON of a request.
///
/// # Errors
/// 415 where it is not called JSON, 413 and 408 beyond the bounds, 400 where it is not what is expected.
pub(crate) async fn read<T: DeserializeOwned>(request: Request) -> Result<T, ApiError> {
    if !is_json(request.headers()) {
        let reason = "Content-Type must be application/json";
        return Err(ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, reason));
    }
    let bytes = receive(request.into_body()).await?;
    // A list would be taken for the members in the order of the code.
    if bytes.trim_ascii_start().first() == Some(&b'[') {
        return Err(ApiError::invalid("the body is not valid: expected an object"));
    }
    serde_json::from_slice(&bytes)
        .map_err(|error| ApiError::invalid(format!("the body is not valid: {error}")))
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default();
    kind.trim().eq_ignore_ascii_case("application/json")
}

async fn receive(body: Body) -> Result<bytes::Bytes, ApiError> {
    let body = Limited::new(body, BODY_BYTES_MAX).collect();
    match tokio::time::timeout(BODY_DEADLINE, body).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            Err(ApiError::too_large(format!("the body is larger than {BODY_BYTES_MAX} bytes")))
        }
        Ok(Err(_)) => Err(ApiError::invalid("the body ended early")),
        Err(_) => Err(ApiError::new(StatusCode::REQUEST_TIMEOUT, "the body did not arrive in time")),
    }
}

/// The person that asks, and what they write.
///
/// # Errors
/// 400 where it is too long.
pub(super) fn person(by: Option<String>, comment: Option<String>) -> Result<Person, ApiError> {
    Ok(Person { by: name(by)?, comment: bounded("comment", comment, TEXT_CHARS_MAX)? })
}

/// A name.
///
/// # Errors
/// 400 where it is too long.
pub(crate) fn name(by: Option<String>) -> Result<Option<String>, ApiError> {
    bounded("by", by, NAME_CHARS_MAX)
}

/// The text of a note.
///
/// # Errors
/// 400 where it is too long or empty.
pub(crate) fn written(text: String) -> Result<String, ApiError> {
    let text = bounded("text", Some(text), TEXT_CHARS_MAX)?;
    text.ok_or_else(|| ApiError::invalid("text: must not be empty"))
}

/// When something was, in Unix nanoseconds; left out for now.
///
/// # Errors
/// 400 where it is before 1970, or more than an hour ahead.
pub(crate) fn moment(unix_ns: Option<i64>, now_unix_ns: i64) -> Result<i64, ApiError> {
    let unix_ns = unix_ns.unwrap_or(now_unix_ns);
    if !(0..=now_unix_ns.saturating_add(AHEAD_NS_MAX)).contains(&unix_ns) {
        return Err(ApiError::invalid("unix_ns: must be from 0 to an hour from now, in nanoseconds"));
    }
    Ok(unix_ns)
}

/// A text without white space around it; what is empty then is none.
pub(crate) fn bounded(
    member: &str,
    text: Option<String>,
    chars_max: usize,
) -> Result<Option<String>, ApiError> {
    let Some(text) = text else { return Ok(None) };
    let text = text.trim();
    if text.chars().nth(chars_max).is_some() {
        return Err(ApiError::invalid(format!("{member}: longer than {chars_max} characters")));
    }
    if text.contains('\0') {
        return Err(ApiError::invalid(format!("{member}: must not hold the character U+0000")));
    }
    Ok(Some(text.to_owned()).filter(|text| !text.is_empty()))
}
