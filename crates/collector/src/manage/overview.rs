//! How the service is set up, and what its store holds.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use queryscope_store::{ListRequest, Order};
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::error::{ApiError, ErrorBody};

/// How the service is set up, and what its store holds.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Service {
    /// Its version.
    version: &'static str,
    /// Whether users log in here.
    has_login: bool,
    /// The host of the provider of logins; null where there is none.
    provider: Option<String>,
    /// Whether a proxy names users.
    has_proxy_users: bool,
    /// Whether anybody who reaches this address may read and act on issues.
    is_open: bool,
    /// Bytes of the store without recordings.
    store_bytes: u64,
    /// Of these, bytes of the log that is written ahead.
    log_bytes: u64,
    /// Runs that run.
    running: u64,
    /// Runs that ended and have no recording yet, counted up to 10,000.
    unsealed: u64,
    /// When the oldest run started, in Unix nanoseconds; null where there is none.
    oldest_unix_ns: Option<i64>,
    /// Runs that started longer ago are deleted; null where all are kept.
    keep_days: Option<u64>,
    /// A running run that is silent for so long is unfinished, in seconds.
    silent_after_s: u64,
}

/// Says how the service is set up, and what its store holds. For readers of all projects.
#[utoipa::path(
    get,
    path = "/api/service",
    tag = "read",
    responses(
        (status = 200, description = "The service", body = Service),
        (status = 403, description = "You may read one project alone, or the Host is not served", body = ErrorBody),
        (status = 503, description = "Reading failed", body = ErrorBody),
    )
)]
pub(crate) async fn service(State(app): State<Arc<App>>) -> Result<Json<Service>, ApiError> {
    let oldest = ListRequest {
        filter: queryscope_store::QueryFilter::default(),
        order: Order::Oldest,
        sort: None,
        after: None,
        offset: 0,
        limit: 1,
    };
    let stats = app.store.stats().await?;
    let oldest = app.store.queries(oldest).await?;
    let (settings, reading) = (&app.settings, &app.settings.reading);
    Ok(Json(Service {
        version: env!("CARGO_PKG_VERSION"),
        has_login: reading.login,
        provider: reading.openid.as_ref().map(|provider| provider.host().to_owned()),
        has_proxy_users: reading.user_header.is_some(),
        is_open: !reading.is_restricted(),
        store_bytes: stats.bytes,
        log_bytes: stats.log_bytes,
        running: stats.running,
        unsealed: stats.unsealed,
        oldest_unix_ns: oldest.first().map(|listed| listed.query.started_unix_ns),
        keep_days: settings.keep.map(|keep| keep.as_secs() / 86_400),
        silent_after_s: settings.silent_after.as_secs(),
    }))
}
