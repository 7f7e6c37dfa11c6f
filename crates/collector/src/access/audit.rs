//! `GET /api/audit`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use queryscope_protocol::limits::PAGE_DEFAULT;
use queryscope_store::{AccessAction, AccessEntry};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::App;
use crate::error::{ApiError, ErrorBody};
use crate::read::{Asked, limit, unix_ns};

/// Which entries are asked for.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub(crate) struct AuditParams {
    /// Entries on the page.
    #[param(minimum = 1, maximum = 1000, default = 100, example = 20)]
    #[serde(deserialize_with = "limit")]
    limit: Option<u64>,
    /// Goes on where a page ended: its `next`.
    #[param(example = 4711)]
    #[serde(deserialize_with = "unix_ns")]
    before: Option<i64>,
}

/// The log of access.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Audit {
    /// Entries, the newest first.
    entries: Vec<AuditEntry>,
    /// The `before` of the next page; null where this is the last.
    next: Option<i64>,
}

/// One thing that was done.
#[derive(Debug, Serialize, ToSchema)]
struct AuditEntry {
    /// When, in Unix nanoseconds.
    unix_ns: i64,
    /// What was done.
    action: AccessAction,
    /// The name of the user or token that did it; null where nobody says.
    actor: Option<String>,
    /// What it was done to: the name of a user, a token or a view, the id of an issue, or the label of a query.
    subject: Option<String>,
    /// The address it was done from; null for a command on the machine.
    address: Option<String>,
}

impl From<AccessEntry> for AuditEntry {
    fn from(entry: AccessEntry) -> Self {
        let AccessEntry { unix_ms, action, actor, subject, address } = entry;
        Self { unix_ns: unix_ms.saturating_mul(1_000_000), action, actor, subject, address }
    }
}

/// Lists who logged in, failed to, and changed who may do what or what others see. For administrators of all projects.
///
/// The newest 100,000 entries are kept; the retention of runs does not touch them. On a service that is open, this
/// needs a token with the scope `admin`.
#[utoipa::path(
    get,
    path = "/api/audit",
    tag = "read",
    params(AuditParams),
    responses(
        (status = 200, description = "The entries", body = Audit),
        (status = 400, description = "A parameter is invalid", body = ErrorBody),
        (status = 403, description = "You are no administrator, or the Host is not served", body = ErrorBody),
        (status = 503, description = "Reading failed", body = ErrorBody),
    )
)]
pub(crate) async fn audit(
    State(app): State<Arc<App>>,
    Asked(asked): Asked<AuditParams>,
) -> Result<Json<Audit>, ApiError> {
    let limit = asked.limit.map_or(PAGE_DEFAULT, |limit| limit as usize);
    let mut found = app.store.access().access_log(asked.before, limit + 1).await?;
    let is_last = found.len() <= limit;
    found.truncate(limit);
    let next = found.last().map(|(number, _)| *number).filter(|_| !is_last);
    Ok(Json(Audit { entries: found.into_iter().map(|(_, entry)| entry.into()).collect(), next }))
}
