//! Figures for the operator, in Prometheus text.

use std::fmt;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;
use queryscope_issues::{Kind, State};
use queryscope_store::{IssueCount, StoreStats};

use crate::delivery::DeliveryMetrics;
use crate::ended::EndedCounts;
use crate::error::ApiError;
use crate::evaluation::Gauges;
use crate::ingest::EVENTS;

/// Content type of the figures.
pub(crate) const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Answer {
    path: String,
    status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Route {
    path: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct Reason {
    pub(crate) reason: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Operation {
    operation: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Issues {
    kind: &'static str,
    state: &'static str,
}

/// What is of the moment in which figures are asked for.
#[derive(Debug, Default)]
pub(crate) struct Moment {
    /// `None` while the store cannot be asked; its figures are those of before.
    pub(crate) stats: Option<StoreStats>,
    /// The same of issues; kinds and states of which there are none are left out.
    pub(crate) issues: Option<Vec<IssueCount>>,
    pub(crate) body_bytes: usize,
    pub(crate) requests: usize,
    pub(crate) readers: usize,
    pub(crate) store_away: Duration,
    pub(crate) recordings_away: Duration,
    pub(crate) evaluation_lag: Duration,
}

/// What connections are counted into.
#[derive(Debug, Clone)]
pub(crate) struct ConnectionMetrics {
    pub(crate) open: Gauge,
    closed: Family<Reason, Counter>,
    /// Idle ones that were closed for others.
    pub(crate) full: Counter,
    /// Those whose reader took nothing of its answer.
    pub(crate) stalled: Counter,
}

impl Default for ConnectionMetrics {
    fn default() -> Self {
        let closed = Family::<Reason, Counter>::default();
        let full = closed.get_or_create_owned(&Reason { reason: "full" });
        let stalled = closed.get_or_create_owned(&Reason { reason: "stalled" });
        Self { open: Gauge::default(), closed, full, stalled }
    }
}

/// Times until the head of an answer, by route.
#[derive(Debug)]
struct Durations {
    routes: Family<Route, Histogram, fn() -> Histogram>,
    /// That of the route that is asked for most: it is not looked for each time.
    events: Histogram,
}

impl Default for Durations {
    fn default() -> Self {
        let new: fn() -> Histogram = || Histogram::new(exponential_buckets(0.000_5, 2.0, 16));
        let routes = Family::new_with_constructor(new);
        let events = routes.get_or_create_owned(&Route { path: EVENTS.into() });
        Self { routes, events }
    }
}

impl Durations {
    fn observe(&self, path: &str, took: Duration) {
        if path == EVENTS {
            self.events.observe(took.as_secs_f64());
        } else {
            self.routes.get_or_create(&Route { path: path.to_owned() }).observe(took.as_secs_f64());
        }
    }
}

/// What a store's commits are measured into; given to the store when it is opened.
#[derive(Debug, Clone)]
pub struct CommitMetrics {
    seconds: Histogram,
    requests: Histogram,
    checkpoints: Histogram,
}

impl CommitMetrics {
    /// Notes a commit of so many requests that took so long.
    pub fn observe(&self, requests: usize, took: Duration) {
        self.seconds.observe(took.as_secs_f64());
        self.requests.observe(requests as f64);
    }

    /// Notes that commits waited so long while the log was moved into the database.
    pub fn observe_checkpoint(&self, took: Duration) {
        self.checkpoints.observe(took.as_secs_f64());
    }
}

impl Default for CommitMetrics {
    fn default() -> Self {
        Self {
            seconds: Histogram::new(exponential_buckets(0.000_25, 2.0, 16)),
            requests: Histogram::new(exponential_buckets(1.0, 2.0, 9)),
            checkpoints: Histogram::new(exponential_buckets(0.001, 2.0, 14)),
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Metrics {
    registry: Registry,
    answers: Family<Answer, Counter>,
    durations: Durations,
    pub(crate) connections: ConnectionMetrics,
    readers: Gauge,
    readers_refused: Family<Reason, Counter>,
    accepted: Counter,
    duplicate: Counter,
    /// Events that senders say they dropped.
    pub(crate) dropped_by_senders: Counter,
    /// Events that came again with other bytes.
    pub(crate) conflicting: Counter,
    /// Batches with duplicates that were not compared whole.
    pub(crate) not_compared: Counter,
    refused: Family<Reason, Counter>,
    queued: Gauge,
    body_bytes: Gauge,
    requests: Gauge,
    running: Gauge,
    store_bytes: Gauge,
    log_bytes: Gauge,
    pub(crate) live_subscribers: Gauge,
    /// Readers of the live streams that did not keep up.
    pub(crate) live_cut_off: Counter,
    /// Queries that ended too fast, one after the other, for the live stream to tell of each.
    pub(crate) live_omitted: Counter,
    /// How often the live streams began anew from the store because they fell behind it.
    pub(crate) live_lost: Counter,
    pub(crate) sealed: Counter,
    unsealed: Gauge,
    recordings_failed: Family<Operation, Counter>,
    recordings_away_s: Gauge,
    store_away_s: Gauge,
    pub(crate) deleted: Counter,
    evaluation_lag_s: Gauge<f64, AtomicU64>,
    /// Issues that are not resolved.
    issues: Family<Issues, Gauge>,
}

impl Metrics {
    pub(crate) fn new(
        commits: CommitMetrics,
        evaluation: &Gauges,
        delivery: &DeliveryMetrics,
        ended: &EndedCounts,
    ) -> Self {
        let mut metrics = Self { registry: Registry::with_prefix("queryscope"), ..Self::default() };
        let registry = &mut metrics.registry;
        registry.register("http_requests", "Requests answered", metrics.answers.clone());
        registry.register(
            "http_request_duration_seconds",
            "Time from a request's head until the head of its answer",
            metrics.durations.routes.clone(),
        );
        metrics.register_connections();
        metrics.register_evaluation(evaluation);
        delivery.register(&mut metrics.registry);
        ended.register(&mut metrics.registry);
        let registry = &mut metrics.registry;
        registry.register("events_accepted", "Events stored", metrics.accepted.clone());
        registry.register(
            "events_duplicate",
            "Events that had been stored before",
            metrics.duplicate.clone(),
        );
        registry.register(
            "events_dropped_by_senders",
            "Events that senders say they dropped",
            metrics.dropped_by_senders.clone(),
        );
        registry.register(
            "conflicting_events",
            "Events that came again with other bytes: the first ones stay",
            metrics.conflicting.clone(),
        );
        registry.register(
            "batches_not_compared",
            "Batches with duplicates whose bytes were not all compared with the stored ones",
            metrics.not_compared.clone(),
        );
        registry.register("batches_refused", "Batches refused, by reason", metrics.refused.clone());
        registry.register("commit_seconds", "Time of a group commit", commits.seconds);
        registry.register("commit_requests", "Requests in a group commit", commits.requests);
        registry.register(
            "checkpoint_seconds",
            "Time in which the embedded store moved its log into the database and committed nothing",
            commits.checkpoints,
        );
        registry.register("store_queue", "Work that waits to be written", metrics.queued.clone());
        registry.register(
            "body_bytes_in_flight",
            "Budget taken by request bodies",
            metrics.body_bytes.clone(),
        );
        registry.register(
            "requests_in_flight",
            "Batches that are decoded and committed at the moment",
            metrics.requests.clone(),
        );
        registry.register(
            "live_subscribers",
            "Readers of the live streams",
            metrics.live_subscribers.clone(),
        );
        registry.register(
            "live_cut_off",
            "Readers of the live streams cut off because they did not keep up",
            metrics.live_cut_off.clone(),
        );
        registry.register(
            "live_omitted",
            "Queries the live stream did not tell of because they were too many",
            metrics.live_omitted.clone(),
        );
        registry.register(
            "live_lost",
            "Times the live streams fell behind the store and began anew",
            metrics.live_lost.clone(),
        );
        registry.register("queries_running", "Queries that run", metrics.running.clone());
        registry.register(
            "store_bytes",
            "Bytes of the store without recordings",
            metrics.store_bytes.clone(),
        );
        registry.register("store_log_bytes", "Of these, bytes of the log", metrics.log_bytes.clone());
        registry.register("recordings_sealed", "Recordings written", metrics.sealed.clone());
        registry.register(
            "recordings_unsealed",
            "Queries that ended and have no recording yet, counted up to 10000",
            metrics.unsealed.clone(),
        );
        registry.register(
            "recordings_failed",
            "Failures to read, seal or reach recordings",
            metrics.recordings_failed.clone(),
        );
        registry.register(
            "recordings_away_seconds",
            "For how long recordings cannot be reached; 0 while they can",
            metrics.recordings_away_s.clone(),
        );
        registry.register(
            "store_away_seconds",
            "For how long the store cannot be reached; 0 while it can",
            metrics.store_away_s.clone(),
        );
        registry.register(
            "issues",
            "Issues that are not resolved, by kind and state",
            metrics.issues.clone(),
        );
        registry.register("queries_deleted", "Queries retention deleted", metrics.deleted.clone());
        metrics
    }

    fn register_connections(&mut self) {
        let registry = &mut self.registry;
        registry.register("connections", "Connections that are open", self.connections.open.clone());
        registry.register(
            "connections_closed",
            "Connections closed: idle ones for want of room, and those whose reader took nothing",
            self.connections.closed.clone(),
        );
        registry.register("readers", "Requests of readers that are answered", self.readers.clone());
        for reason in ["live", "all"] {
            let _ = self.readers_refused.get_or_create(&Reason { reason });
        }
        registry.register(
            "readers_refused",
            "Requests of readers answered 503 because there are as many live streams, or readers in all, as may be",
            self.readers_refused.clone(),
        );
    }

    fn register_evaluation(&mut self, evaluation: &Gauges) {
        let registry = &mut self.registry;
        registry.register(
            "evaluation_pending",
            "Ended runs that waited for their evaluation when they were last looked for",
            evaluation.pending.clone(),
        );
        registry.register(
            "evaluation_lag_seconds",
            "For how long the ended run that waits longest has waited, at most; \
             0 on a collector that does not evaluate",
            self.evaluation_lag_s.clone(),
        );
        registry.register("evaluation_runs", "Ended runs that were evaluated", evaluation.evaluated.clone());
        for reason in ["flood", "unreadable", "failed"] {
            let _ = evaluation.skipped.get_or_create(&Reason { reason });
        }
        registry.register(
            "evaluation_runs_skipped",
            "Ended runs that were not evaluated: too many ended, their events cannot be read, or the evaluation failed",
            evaluation.skipped.clone(),
        );
        registry.register(
            "evaluation_cpu_seconds",
            "CPU time of the evaluation of ended runs, what it reads and writes included",
            evaluation.cpu_seconds.clone(),
        );
    }

    /// Counts a reader that found as many of its kind as may be.
    pub(crate) fn reader_refused(&self, reason: &'static str) {
        self.readers_refused.get_or_create(&Reason { reason }).inc();
    }

    /// Counts an answer to a request that came at `began`.
    pub(crate) fn answered(&self, path: &str, status: StatusCode, began: Instant) {
        self.durations.observe(path, began.elapsed());
        self.answers.get_or_create(&Answer { path: path.to_owned(), status: status.as_u16() }).inc();
    }

    pub(crate) fn stored(&self, accepted: u64, duplicates: u64) {
        self.accepted.inc_by(accepted);
        self.duplicate.inc_by(duplicates);
    }

    pub(crate) fn refused(&self, error: &ApiError) {
        let reason = match error.status().as_u16() {
            _ if error.is_overload() => "overload",
            400 => "not_events",
            401 => "token",
            403 => "foreign_stream",
            408 => "deadline",
            413 => "too_large",
            415 => "encoding",
            503 => "unavailable",
            _ => "other",
        };
        self.refused.get_or_create(&Reason { reason }).inc();
    }

    /// Counts a failure with recordings.
    pub(crate) fn recordings_failed(&self, operation: &'static str) {
        self.recordings_failed.get_or_create(&Operation { operation }).inc();
    }

    /// All figures.
    pub(crate) fn text(&self, moment: &Moment) -> Result<String, fmt::Error> {
        let set = |gauge: &Gauge, value: u64| gauge.set(i64::try_from(value).unwrap_or(i64::MAX));
        if let Some(stats) = moment.stats {
            set(&self.queued, stats.queued);
            set(&self.running, stats.running);
            set(&self.unsealed, stats.unsealed);
            set(&self.store_bytes, stats.bytes);
            set(&self.log_bytes, stats.log_bytes);
        }
        if let Some(issues) = &moment.issues {
            for (kind, state) in Kind::ALL.into_iter().flat_map(|kind| State::ALL.map(|state| (kind, state)))
            {
                if state != State::Resolved {
                    let of = |each: &&IssueCount| (each.kind, each.state) == (kind, state);
                    let count = issues.iter().find(of).map_or(0, |each| each.count);
                    let labels = Issues { kind: kind.name(), state: state.name() };
                    set(&self.issues.get_or_create_owned(&labels), count);
                }
            }
        }
        set(&self.body_bytes, moment.body_bytes as u64);
        set(&self.requests, moment.requests as u64);
        set(&self.readers, moment.readers as u64);
        set(&self.store_away_s, moment.store_away.as_secs());
        set(&self.recordings_away_s, moment.recordings_away.as_secs());
        self.evaluation_lag_s.set(moment.evaluation_lag.as_secs_f64());
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        Ok(text)
    }
}

#[cfg(test)]
mod tests;
