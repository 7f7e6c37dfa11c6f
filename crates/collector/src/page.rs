//! The dashboard: one document for every page, and the files it loads.

use std::io::Read as _;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get};
use flate2::read::GzDecoder;
use queryscope_dashboard::{Asset, asset, index};

use crate::error::ApiError;

/// The paths whose page is the document; it reads from its address what to show. A label that no path can hold, such as
/// `..`, is a parameter of `/labels`.
pub(crate) const PAGES: [&str; 10] = [
    "/",
    "/now",
    "/queries",
    "/queries/{id}",
    "/labels",
    "/labels/{*label}",
    "/issues",
    "/issues/{id}",
    "/open",
    "/settings",
];

/// Where the files lie that the document loads, and the icon for answers that are no document.
pub(crate) const FILES: [&str; 3] = ["/assets/{file}", "/favicon.svg", "/favicon.ico"];

/// An upgrade must not mix the document of one version with the files of another.
const FRESH: &str = "no-cache";

/// A name that is made from the content never stands for other content.
const FOR_EVER: &str = "public, max-age=31536000, immutable";

pub(crate) fn document<S: Clone + Send + Sync + 'static>() -> MethodRouter<S> {
    get(|headers: HeaderMap| async move { answer_document(&headers) })
}

pub(crate) fn answer_document(headers: &HeaderMap) -> Response {
    answer(index(), headers)
}

/// Whether a browser asks for a page to show, and not a program or a page for an answer.
pub(crate) fn is_for_a_person(request: &Request) -> bool {
    let path = request.uri().path();
    let is_for_programs = ["/api", "/v1", "/assets", "/mcp"]
        .iter()
        .any(|part| path.strip_prefix(part).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')));
    let accepted = request.headers().get(header::ACCEPT).and_then(|value| value.to_str().ok());
    request.method() == Method::GET
        && !is_for_programs
        && accepted.is_some_and(|types| types.contains("text/html"))
}

pub(crate) fn file<S: Clone + Send + Sync + 'static>() -> MethodRouter<S> {
    get(|uri: Uri, headers: HeaderMap| async move {
        match asset(uri.path()) {
            Some(asset) => answer(asset, &headers),
            None => ApiError::not_found("there is no such file in this version").into_response(),
        }
    })
}

fn answer(asset: &'static Asset, headers: &HeaderMap) -> Response {
    let is_gzip = takes_gzip(headers);
    let body = if is_gzip { Bytes::from_static(asset.gzip) } else { unpacked(asset) };
    let mut response = Response::new(Body::from(body));
    let out = response.headers_mut();
    out.insert(header::CONTENT_TYPE, HeaderValue::from_static(asset.content_type));
    let kept = if asset.is_immutable { FOR_EVER } else { FRESH };
    out.insert(header::CACHE_CONTROL, HeaderValue::from_static(kept));
    out.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if is_gzip {
        out.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    response
}

/// Every browser does. A quality of 0 is a no.
fn takes_gzip(headers: &HeaderMap) -> bool {
    let taken = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    taken.flat_map(|value| value.split(',')).any(|coding| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
        let is_refused = weight.trim().strip_prefix("q=").is_some_and(|q| q.parse() == Ok(0.0));
        name.trim().eq_ignore_ascii_case("gzip") && !is_refused
    })
}

fn unpacked(asset: &Asset) -> Bytes {
    let mut bytes = Vec::new();
    GzDecoder::new(asset.gzip).read_to_end(&mut bytes).expect("what the build compressed");
    Bytes::from(bytes)
}

#[cfg(test)]
mod tests;
