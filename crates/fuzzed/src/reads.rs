//! The query strings of the read API.

use axum::body::Body;
use axum::http::uri::PathAndQuery;
use axum::http::{Request, header};
use percent_encoding::{NON_ALPHANUMERIC, percent_encode};
use queryscope_store::Facts;
use queryscope_store::testsuite::{batch, facts, query_id};

use crate::service::Service;

/// What is asked; `{id}` is a query that finished.
const PATHS: [&str; 10] = [
    "/api/queries",
    "/api/groups",
    "/api/overview",
    "/api/versions",
    "/api/facets",
    "/api/compare",
    "/api/queries/{id}",
    "/api/queries/{id}/insights",
    "/api/queries/{id}/progress",
    "/api/queries/{id}/recording",
];

thread_local! {
    static SERVICE: Service = filled();
}

/// Asks with a query string; the first byte says what.
///
/// # Panics
/// When the answer is neither right nor an error that says what is allowed.
pub fn reads(bytes: &[u8]) {
    let Some((which, query)) = bytes.split_first() else { return };
    let path = PATHS[usize::from(*which) % PATHS.len()].replace("{id}", &query_id(1).to_string());
    let raw = [path.as_bytes(), b"?", query].concat();
    let asked = PathAndQuery::try_from(raw).unwrap_or_else(|_| {
        // What no address may hold comes in the form in which it may.
        let query = percent_encode(query, NON_ALPHANUMERIC);
        format!("{path}?q={query}").parse().expect("an address")
    });
    let request = Request::get(asked.as_str()).header(header::HOST, "localhost");
    let request = request.body(Body::empty()).expect("a request");
    let answer = SERVICE.with(|service| service.ask(request));
    match answer.status.as_u16() {
        200 => {}
        400 | 404 => answer.check_error(),
        _ => panic!("{asked}: {answer:?}"),
    }
}

/// A service with a few queries in each state.
fn filled() -> Service {
    let service = Service::start();
    let told = |label: &str| Facts {
        fingerprint: Some("238b6af6d50a".into()),
        started_unix_ns: Some(1_795_206_000_000_000_000),
        ..facts(label)
    };
    let failed = Facts { failed: Some("out of memory".into()), ..told("orders/daily") };
    let sent = batch(1)
        .process(Some("orders-etl"), Some("prod"), "worker-1")
        .started(1, 2, told("orders/daily"))
        .finished(1, 3, told("orders/daily"))
        .finished(2, 4, failed)
        .finished(3, 5, told("täglich"))
        .progress(4, [6])
        .build();
    service.wait(async { service.store.commit(sent).await }).expect("stored");
    service
}
