//! Conditional answers: a reader that has the current answer is told so instead of being sent it again.

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use super::pieces::Pieces;
use crate::error::ApiError;

/// Bytes of the answer's hash in its tag.
const TAG_BYTES: usize = 12;

/// Gives JSON answers an `ETag`, and answers 304 where the reader names the one it has.
///
/// The tag is weak: it is that of the text, however it is coded on the way. Answers change with every commit, so a
/// cache must ask each time (`no-cache`). A long answer brings its own tag: it is not gathered here. Answers that
/// say themselves how they may be kept are left alone.
pub(crate) async fn validate(mut request: Request, next: Next) -> Response {
    // The answer to HEAD is that to GET, tag and all; the router takes the body away at the end.
    if request.method() == Method::HEAD {
        *request.method_mut() = Method::GET;
    }
    let is_get = request.method() == Method::GET;
    let known = request.headers().get(header::IF_NONE_MATCH).cloned();
    let response = next.run(request).await;
    if is_get && response.status() == StatusCode::OK && is_plain_json(response.headers()) {
        return tagged(response, known.as_ref()).await;
    }
    response
}

async fn tagged(response: Response, known: Option<&HeaderValue>) -> Response {
    let (mut head, mut body) = response.into_parts();
    let own = head.headers.get(header::ETAG).and_then(|tag| tag.to_str().ok()).map(ToOwned::to_owned);
    let tag = if let Some(tag) = own {
        tag
    } else {
        let Ok(text) = Pieces::read(body).await else {
            return ApiError::unavailable("reading was interrupted, try again").into_response();
        };
        let tag = tag(text.iter());
        body = text.into_body();
        tag
    };
    if let Ok(value) = HeaderValue::from_str(&tag) {
        head.headers.insert(header::ETAG, value);
    }
    head.headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    head.headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if known.is_some_and(|known| names(known, &tag)) {
        head.status = StatusCode::NOT_MODIFIED;
        head.headers.remove(header::CONTENT_TYPE);
        head.headers.remove(header::CONTENT_LENGTH);
        return Response::from_parts(head, Body::empty());
    }
    Response::from_parts(head, body)
}

fn is_plain_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE);
    kind.is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"))
        && !headers.contains_key(header::CACHE_CONTROL)
}

/// The tag of an answer, from its text or from what that is written from.
pub(crate) fn tag(text: impl IntoIterator<Item = impl AsRef<[u8]>>) -> String {
    let mut hash = Sha256::new();
    for piece in text {
        hash.update(piece);
    }
    let hash = hash.finalize();
    format!("W/\"{}\"", URL_SAFE_NO_PAD.encode(&hash[..TAG_BYTES]))
}

/// Whether an `If-None-Match` names a tag; weak and strong tags of the same text are the same here.
fn names(known: &HeaderValue, tag: &str) -> bool {
    let opaque = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    known
        .to_str()
        .is_ok_and(|known| known.split(',').any(|one| one.trim() == "*" || opaque(one) == opaque(tag)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_may_name_several_tags() {
        let tag = tag(["text"]);
        let names = |known: &str| names(&HeaderValue::from_str(known).expect("a header"), &tag);
        assert!(names(&tag) && names(tag.trim_start_matches("W/")) && names("*"));
        assert!(names(&format!("\"other\", {tag}")));
        assert!(!names("\"other\"") && !names(""));
    }
}
