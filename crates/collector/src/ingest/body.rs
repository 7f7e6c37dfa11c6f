//! Reading a request's body within its limits, and answering a sender that is still sending.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use queryscope_protocol::limits::MAX_BODY_BYTES;

use super::budget::{Budget, Share};
use super::decode::Coding;
use crate::error::ApiError;

/// What is still read of a body that has been refused, so that the sender gets to read the answer.
const DRAIN_BYTES_MAX: usize = 64 << 20;
const DRAIN_TIME_MAX: Duration = Duration::from_secs(5);
/// The same for a body that took too long already.
const LATE_DRAIN_TIME_MAX: Duration = Duration::from_secs(1);

/// Room that is made for a body before it has come, on its word alone.
const RESERVED_BYTES_MAX: usize = 64 << 10;

/// A body that has been read, and its share of the budget.
#[derive(Debug)]
pub(crate) struct Received {
    pub(crate) bytes: Bytes,
    pub(crate) share: Share,
}

/// The coding a request announces.
///
/// # Errors
/// 415 for any other than gzip and identity.
pub(crate) fn coding(headers: &HeaderMap) -> Result<Coding, ApiError> {
    let mut codings = headers
        .get_all(header::CONTENT_ENCODING)
        .iter()
        .flat_map(|value| value.to_str().unwrap_or("?").split(','))
        .map(str::trim)
        .filter(|coding| !coding.is_empty() && !coding.eq_ignore_ascii_case("identity"));
    match (codings.next(), codings.next()) {
        (None, _) => Ok(Coding::Plain),
        (Some(coding), None) if ["gzip", "x-gzip"].iter().any(|name| coding.eq_ignore_ascii_case(name)) => {
            Ok(Coding::Gzip)
        }
        _ => {
            let reason = "Content-Encoding must be gzip, identity or absent";
            Err(ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, reason))
        }
    }
}

/// Reads a body.
///
/// # Errors
/// 413 over [`MAX_BODY_BYTES`], 503 when the budget is spent, 408 at the deadline, 400 when it ends early.
pub(crate) async fn receive(
    headers: &HeaderMap,
    body: &mut Body,
    budget: &Budget,
    deadline: Duration,
) -> Result<Received, ApiError> {
    let announced: Option<usize> =
        headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    if announced.is_some_and(|bytes| bytes > MAX_BODY_BYTES) {
        return Err(too_large());
    }
    // Looked at and given back: what is announced and does not come must not keep others out.
    drop(budget.take(announced.unwrap_or_default()).ok_or_else(spent)?);
    let mut share = budget.take(0).ok_or_else(spent)?;
    let read = read(body, announced, budget, &mut share);
    let bytes = tokio::time::timeout(deadline, read).await.map_err(|_| {
        let reason = format!("the body did not arrive within {} s", deadline.as_secs());
        ApiError::new(StatusCode::REQUEST_TIMEOUT, reason)
    })??;
    Ok(Received { bytes, share })
}

/// Reads to the end; the share grows with what has come.
async fn read(
    body: &mut Body,
    announced: Option<usize>,
    budget: &Budget,
    share: &mut Share,
) -> Result<Bytes, ApiError> {
    let mut only: Option<Bytes> = None;
    let mut all = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| ApiError::invalid("the body ended before it was complete"))?;
        let Ok(data) = frame.into_data() else { continue };
        let total = only.as_ref().map_or(0, Bytes::len) + all.len() + data.len();
        if total > MAX_BODY_BYTES {
            return Err(too_large());
        }
        if !share.grow(budget, total) {
            return Err(spent());
        }
        // Most bodies arrive in one piece, which is not copied.
        if only.is_none() && all.is_empty() {
            only = Some(data);
            continue;
        }
        if let Some(first) = only.take() {
            all.reserve(announced.unwrap_or_default().min(RESERVED_BYTES_MAX));
            all.extend_from_slice(&first);
        }
        all.extend_from_slice(&data);
    }
    Ok(only.unwrap_or_else(|| all.freeze()))
}

/// 503: the budget has no room.
pub(crate) fn spent() -> ApiError {
    ApiError::overloaded("too many bytes are in flight, try again")
}

fn too_large() -> ApiError {
    ApiError::too_large(format!("the body is over {} MiB, split the batch", MAX_BODY_BYTES >> 20))
}

/// Answers a request whose body may still be on its way.
///
/// The rest is read within bounds once the answer is being written: closing the connection at once would reset
/// it, and the sender would never see the answer. Reading earlier would invite a sender that waits for `100
/// Continue` to send what nobody wants.
pub(crate) fn refuse(error: ApiError, headers: &HeaderMap, rest: Body) -> Response {
    let late = error.status() == StatusCode::REQUEST_TIMEOUT;
    let drain_time = if late { LATE_DRAIN_TIME_MAX } else { DRAIN_TIME_MAX };
    let mut response = error.into_response();
    // Whether who expects `100 Continue` sends its body or its next request cannot be told.
    if late || headers.contains_key(header::EXPECT) {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    if rest.is_end_stream() {
        return response;
    }
    response.map(|answer| Body::new(Refusal { answer, rest: Some(rest), drain_time }))
}

/// The body of an answer that has the rest of its request read.
struct Refusal {
    answer: Body,
    rest: Option<Body>,
    drain_time: Duration,
}

impl HttpBody for Refusal {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if let Some(rest) = self.rest.take() {
            tokio::spawn(tokio::time::timeout(self.drain_time, drain(rest)));
        }
        Pin::new(&mut self.answer).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.answer.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.answer.size_hint()
    }
}

async fn drain(mut body: Body) {
    let mut bytes = 0;
    while let Some(Ok(frame)) = body.frame().await {
        bytes += frame.data_ref().map_or(0, Bytes::len);
        if bytes > DRAIN_BYTES_MAX {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coding_of(values: &[&str]) -> Option<Coding> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(header::CONTENT_ENCODING, value.parse().expect("a header"));
        }
        coding(&headers).ok()
    }

    #[test]
    fn gzip_identity_or_nothing() {
        assert_eq!(coding_of(&[]), Some(Coding::Plain));
        assert_eq!(coding_of(&["identity"]), Some(Coding::Plain));
        assert_eq!(coding_of(&["GZIP"]), Some(Coding::Gzip));
        assert_eq!(coding_of(&["x-gzip"]), Some(Coding::Gzip));
        assert_eq!(coding_of(&["identity, gzip"]), Some(Coding::Gzip));
        for wrong in [&["br"][..], &["gzip, gzip"], &["gzip", "gzip"], &["deflate"]] {
            assert_eq!(coding_of(wrong), None, "{wrong:?}");
        }
    }
}
