//! The page at `/`: that the service runs, how to send to it, and what came last.

use axum::http::header;
use axum::response::IntoResponse;

/// An upgrade must not mix the page of one version with the script of another.
const FRESH: &str = "no-cache";

pub(crate) async fn index() -> impl IntoResponse {
    asset("text/html; charset=utf-8", include_str!("page/index.html"))
}

pub(crate) async fn style() -> impl IntoResponse {
    asset("text/css; charset=utf-8", include_str!("page/page.css"))
}

pub(crate) async fn script() -> impl IntoResponse {
    asset("text/javascript; charset=utf-8", include_str!("page/page.js"))
}

fn asset(content_type: &'static str, text: &'static str) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, content_type), (header::CACHE_CONTROL, FRESH)], text)
}
