//! Makes every query of a DataFusion session report itself to a queryscope collector.
//!
//! ```no_run
//! use datafusion::prelude::*;
//! use queryscope_datafusion::HttpExporter;
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let ctx = SessionContext::new();
//! let telemetry = queryscope_datafusion::telemetry()
//!     .service("orders-etl")
//!     .exporter(HttpExporter::new("http://127.0.0.1:7766")) // the token is in TELEMETRY_TOKEN
//!     .start()?;
//! queryscope_datafusion::install(&ctx, &telemetry);
//!
//! ctx.sql("SELECT 1").await?.show().await?;
//! telemetry.shutdown();
//! # Ok(())
//! # }
//! ```
//!
//! SQL, data frames, COPY, INSERT, CREATE TABLE AS, prepared statements and EXPLAIN ANALYZE are followed; a plain
//! EXPLAIN is not. A query that fails while it is planned or runs, is cancelled or panics is reported as failed.
//! What fails before it is planned never becomes a query: in parsing, in resolving names and types, in the optimiser.
//!
//! Plans, optimisers and results stay as they are: each node of a plan has a wrapper that DataFusion takes for
//! the node itself. Nothing here keeps a plan or what its operators hold.

mod clock;
mod counted;
mod counters;
mod described;
mod expressions;
mod follow;
mod install;
mod link;
mod logical;
mod node;
mod physical;
mod planner;
mod properties;
mod run;
mod scope;
mod source;
mod sql;
mod stream;
mod sums;
mod trace;

pub use install::{install, telemetry, uninstall, with_telemetry};
pub use queryscope_client::{
    self as client, HttpExporter, Redacted, Redaction, Stats, Telemetry, TelemetryBuilder,
};
pub use scope::{Labelled, label};
