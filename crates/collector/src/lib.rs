//! The collector of queryscope as a library.
//!
//! [`Collector`] joins a [`Store`](queryscope_store::Store), the recordings and a clock into the service:
//! senders post batches to `/v1/events`, readers ask `/api/...`, and jobs in the background end silent
//! runs, seal recordings and delete what is too old. It names no concrete store.

mod access;
mod act;
mod app;
mod away;
mod background;
mod clock;
mod collector;
mod delivery;
mod deploys;
mod detached;
mod ended;
mod error;
mod evaluation;
mod held;
mod ingest;
mod jobs;
mod live;
mod manage;
mod metrics;
mod notes;
mod page;
mod rarely;
mod read;
mod readers;
mod router;
mod routes;
mod security;
mod senders;
mod serve;
mod settings;
mod shortage;
mod threads;
mod tokens;
mod trace;
mod views;

pub use access::{
    Asker, GroupRole, IDLE, Network, OpenIdOptions, PASSWORD_BYTES_MAX, PASSWORD_CHARS_MIN, check_password,
    check_user_name, hash_password, role_of_groups,
};
pub use axum::http::HeaderName;
pub use clock::{Clock, SystemClock};
pub use collector::{Collector, Ingested};
pub use ended::{EndedBatch, EndedCounts, EndedRuns};
pub use error::ApiError;
pub use evaluation::{Again, NotAgain};
pub use metrics::CommitMetrics;
pub use router::openapi;
pub use routes::Routes;
pub use serve::{ServeError, serve};
pub use settings::{Access, Reading, Settings};
pub use tokens::{hash_token, new_token};
