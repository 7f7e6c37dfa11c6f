//! Follows an engine's queries at no cost to them, and sends what they do to a queryscope collector or to files.
//!
//! An engine's adapter registers each query with a [`QuerySource`]: how to render its plan and read its
//! counters. That is all that happens on the query's thread, and it takes about a microsecond. Background threads
//! do the rest: one samples, and one sends for each exporter.
//!
//! | moment | what is sent |
//! |---|---|
//! | a query has run for one second | the query and its plan |
//! | after that, about every half second | the counters of the nodes that changed; nothing changed for 5 s: an empty sample |
//! | it ends, however it does | its complete profile, with findings |
//!
//! ```
//! use std::sync::Arc;
//! use queryscope_client::{HttpExporter, Query, QuerySource, Readings, Telemetry};
//! use queryscope_client::protocol::Plan;
//!
//! struct MyQuery;
//!
//! impl QuerySource for MyQuery {
//!     fn plan(&self) -> Plan<'static> {
//!         Plan::default() // render the nodes here
//!     }
//!
//!     fn sample(&self, readings: &mut Readings) {
//!         readings.node(0).add("rows_sent", 1_000).done(true);
//!     }
//! }
//!
//! # fn main() -> Result<(), queryscope_client::StartError> {
//! let telemetry = Telemetry::builder()
//!     .service("orders-etl")
//!     .exporter(HttpExporter::new("http://127.0.0.1:7766").token("a token"))
//!     .start()?;
//! let query = telemetry.begin(Query::new().label("nightly"), Arc::new(MyQuery));
//! // … the engine runs it …
//! query.finish();
//! # Ok(())
//! # }
//! ```
//!
//! `examples/toy_engine.rs` is a whole engine; `docs/reference/client.md` in the repository has every option.

mod active;
mod console;
mod core;
mod cpu_clock;
mod exporter;
mod files;
mod follower;
mod host;
mod http;
mod install;
mod lane;
mod machine;
mod outbox;
mod pause;
mod problems;
mod profile;
mod publisher;
mod query;
mod random;
mod readings;
mod redaction;
mod registry;
mod sampler;
mod sender;
mod source;
mod stats;
mod telemetry;

pub use queryscope_protocol as protocol;

pub use active::ActiveQuery;
pub use console::ConsoleTable;
pub use exporter::{Answer, Batch, Delivery, Exporter, StartError, Stream};
pub use files::{EventsFile, ProfilesFile};
pub use host::{now, thread_cpu};
pub use http::{HttpExporter, retry_after};
pub use install::{InstallError, Installed, install, installed, uninstall};
pub use query::Query;
pub use readings::{NodeReadings, Readings};
pub use redaction::{Redacted, Redaction};
pub use source::{QuerySource, Totals};
pub use stats::{Dropped, Stats};
pub use telemetry::{Telemetry, TelemetryBuilder};
