//! Every limit of the specification, by name.

use std::time::Duration;

/// Largest body of `POST /v1/events` as it is sent, in bytes; over it the answer is 413.
pub const MAX_BODY_BYTES: usize = 8 << 20;
/// Largest batch once decompressed, in bytes; over it the answer is 413.
pub const MAX_BATCH_BYTES: usize = 64 << 20;

/// Longest duration of an event or profile (`wall_ms`, `cpu_ms`, `elapsed_ms`), in milliseconds: ten years of 365
/// days. Over it the answer is 400.
pub const DURATION_MS_MAX: f64 = 10.0 * 365.0 * 86_400_000.0;

/// Most events that a sender may say it dropped; a larger number is ignored.
pub const DROPPED_MAX: u64 = 999_999_999_999_999;

/// Queries on a page of `/api/queries` when `limit` is not given.
pub const PAGE_DEFAULT: usize = 100;
/// Largest `limit` of `/api/queries`.
pub const PAGE_MAX: usize = 1000;

/// Days an overview covers when `days` is not given.
pub const OVERVIEW_DAYS_DEFAULT: u32 = 14;
/// Largest `days` of an overview.
pub const OVERVIEW_DAYS_MAX: u32 = 90;
/// How long before the lately runs the usual runs reach back.
pub const USUAL_WINDOW: Duration = Duration::from_hours(14 * 24);
/// The runs of this last stretch are the lately runs.
pub const LATELY_WINDOW: Duration = Duration::from_hours(24);
/// So many last runs are the lately runs when the window holds fewer.
pub const LATELY_RUNS_MIN: usize = 3;
/// A warning first seen within this last stretch is new.
pub const NEW_RULE_WINDOW: Duration = Duration::from_hours(7 * 24);
/// A verdict needs the median to have moved by this factor or more.
pub const VERDICT_RATIO: f64 = 1.5;
/// A verdict needs the chance that luck moved the median to be under this.
pub const VERDICT_PROBABILITY: f64 = 0.01;
/// Wall times in a group's `recent_wall_ms`.
pub const GROUP_RECENT_RUNS: usize = 30;

/// Bytes of events that may wait in a sender (`max_queue_bytes`).
pub const SENDER_QUEUE_BYTES: usize = 16 << 20;
/// How long a sender waits for the server on each request (`timeout`).
pub const SENDER_TIMEOUT: Duration = Duration::from_secs(10);
/// Longest pause of a sender before it sends again.
pub const SENDER_RETRY_PAUSE_MAX: Duration = Duration::from_secs(30);
/// A sender drops an event it could not deliver for this long.
pub const SENDER_EVENT_AGE_MAX: Duration = Duration::from_mins(10);
/// How long a sender may take to send its queue at uninstall and exit.
pub const SENDER_FLUSH: Duration = Duration::from_secs(2);
/// How often a sender posts while a query runs.
pub const SENDER_BATCH_INTERVAL: Duration = Duration::from_millis(500);
/// A query reports its plan once it has run for this long.
pub const REPORT_AFTER: Duration = Duration::from_secs(1);
/// A running query whose counters stand still sends an empty sample this often.
pub const EMPTY_SAMPLE_INTERVAL: Duration = Duration::from_secs(5);
