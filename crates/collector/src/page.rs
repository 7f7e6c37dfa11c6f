//! The page at `/`: that the service runs, how to send to it, and what came last.

use axum::http::header;
use axum::response::{Html, IntoResponse};

pub(crate) async fn index() -> Html<&'static str> {
    Html(include_str!("page/index.html"))
}

pub(crate) async fn style() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/css; charset=utf-8")], include_str!("page/page.css"))
}

pub(crate) async fn script() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/javascript; charset=utf-8")], include_str!("page/page.js"))
}
