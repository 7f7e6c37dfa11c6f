//! `GET /api/senders`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use queryscope_protocol::limits::PAGE_DEFAULT;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::asked::Asked;
use super::params::{ProjectFilter, limit};
use crate::app::App;
use crate::error::{ApiError, ErrorBody};
use crate::senders::{Identity, Sender};

#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub(crate) struct SendersParams {
    /// Senders that are listed.
    #[param(minimum = 1, maximum = 1000, default = 100, example = 20)]
    #[serde(deserialize_with = "limit")]
    limit: Option<u64>,
}

/// The senders that this collector heard of.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SenderList {
    /// Since when: the start of this collector, in Unix nanoseconds.
    since_unix_ns: i64,
    /// How many are known, also those that are not listed.
    known: usize,
    /// That heard last first.
    senders: Vec<SenderEntry>,
}

/// A sender: a process, or the refused batches of one `User-Agent` that did not tell their process.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Sender)]
struct SenderEntry {
    /// The project of its token.
    project: String,
    /// The stream of the process; null where none was told.
    stream_id: Option<String>,
    /// The service of the process; null also where no batch could be read so far.
    service: Option<String>,
    /// Its environment; null as the service.
    environment: Option<String>,
    /// The version of its program; null as the service.
    program_version: Option<String>,
    /// Its host; null where no batch could be read so far.
    host: Option<String>,
    /// Its last `User-Agent`, which names the sending library and its version.
    agent: Option<String>,
    /// When its first request came, in Unix nanoseconds.
    first_unix_ns: i64,
    /// When its last request came, in Unix nanoseconds.
    last_unix_ns: i64,
    /// Batches that were stored.
    batches: u64,
    /// Events that they added.
    events: u64,
    /// Events of them that had been stored before.
    duplicates: u64,
    /// Batches that were refused, also those that the sender sends again.
    refused: u64,
    /// The last refusal.
    last_refusal: Option<LastRefusal>,
    /// Events that the sender says it made for this service and dropped since its start; null where it does not say.
    dropped: Option<u64>,
    /// By how much its clock is behind that of this collector, at most, in milliseconds; negative where it is ahead, at
    /// least by that. It is the time from the newest moment of a batch (the start of a run, plus its wall time so far)
    /// to the receipt of its head, so what a batch waits and travels is in it: the smallest of the last eight batches
    /// that told of a start or an end. Null where none did.
    clock_behind_ms: Option<i64>,
}

/// A batch that was refused.
#[derive(Debug, Serialize, ToSchema)]
struct LastRefusal {
    /// When its request came, in Unix nanoseconds.
    unix_ns: i64,
    /// The status of the answer.
    status: u16,
    /// What was wrong, up to 300 characters.
    reason: String,
}

/// Lists the senders that this collector heard of since its start: what they sent, what of it was refused, and what
/// they say they dropped.
///
/// It is kept in memory, for up to 4,096 senders: when another comes, the 512 heard longest ago are forgotten. Of
/// several collectors on one database, each answers of the batches that it received itself. Batches with a wrong token
/// are of no sender.
#[utoipa::path(
    get,
    path = "/api/senders",
    tag = "read",
    params(ProjectFilter, SendersParams),
    responses(
        (status = 200, description = "The senders", body = SenderList),
        (status = 400, description = "A parameter is invalid", body = ErrorBody),
        (status = 403, description = "The Host is a name that is not served", body = ErrorBody),
    )
)]
pub(crate) async fn senders(
    State(app): State<Arc<App>>,
    Asked(project): Asked<ProjectFilter>,
    Asked(params): Asked<SendersParams>,
) -> Result<Json<SenderList>, ApiError> {
    let limit = params.limit.map_or(PAGE_DEFAULT, |limit| limit as usize);
    let listed = app.senders.list(limit, |name| project.keeps(name));
    let senders = listed.senders.into_iter();
    Ok(Json(SenderList {
        since_unix_ns: app.senders.since_unix_ns(),
        known: listed.known,
        senders: senders.map(|(project, identity, sender)| entry(project, &identity, sender)).collect(),
    }))
}

fn entry(project: String, identity: &Identity, sender: Sender) -> SenderEntry {
    let clock_behind_ms = sender.delay_ns().map(|ns| ns / 1_000_000);
    let stream_id = match identity {
        Identity::Stream(id) => Some(id.to_string()),
        Identity::Agent(_) => None,
    };
    let (service, environment, program_version, host) = sender.named.map_or_else(Default::default, |named| {
        (named.service, named.environment, named.program_version, Some(named.host))
    });
    let last_refusal = sender.refusal.map(|refusal| LastRefusal {
        unix_ns: refusal.unix_ns,
        status: refusal.status,
        reason: refusal.reason,
    });
    SenderEntry {
        project,
        stream_id,
        service,
        environment,
        program_version,
        host,
        agent: sender.agent,
        first_unix_ns: sender.first_unix_ns,
        last_unix_ns: sender.last_unix_ns,
        batches: sender.batches,
        events: sender.events,
        duplicates: sender.duplicates,
        refused: sender.refused,
        last_refusal,
        dropped: sender.dropped,
        clock_behind_ms,
    }
}
