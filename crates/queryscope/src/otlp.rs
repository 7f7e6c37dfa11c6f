//! `serve --otlp`: ended runs as spans, and figures of them as metrics, over OTLP/HTTP.
//!
//! Each collector sends the runs that its own commits ended, once. Nothing here holds up a commit: the queue is
//! bounded, and runs that do not fit are counted. A run is sent at most once; what waits when the process is killed
//! is lost.

mod attributes;
mod metrics;
mod sender;
mod spans;

use std::time::Duration;

use anyhow::Result;
use clap::Args;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::trace::v1::ResourceSpans;
use queryscope_collector::{Clock, EndedBatch, EndedCounts, EndedRuns, SystemClock};
use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout};
use tokio_util::sync::CancellationToken;

use self::metrics::Metrics;
use self::sender::{Outcome, Sender};

/// Runs of one request.
const RUNS_MAX: usize = 512;
/// Bytes of their spans, about.
const BYTES_MAX: usize = 2 << 20;
/// How long a run waits for others of its request.
const WAIT: Duration = Duration::from_secs(1);
/// How long the rest may take when the service stops.
const STOP_WITHIN: Duration = Duration::from_secs(3);

#[derive(Debug, Args)]
pub(crate) struct OtlpArgs {
    /// Send each ended run as a span, and counts and times of runs as metrics, to this OpenTelemetry receiver
    /// (OTLP/HTTP), like http://127.0.0.1:4318
    #[arg(long, value_name = "URL", env = "QUERYSCOPE_OTLP", value_parser = sender::base)]
    pub(crate) otlp: Option<String>,
    /// Headers to send to it, like authorization=Bearer x; several are separated by commas
    #[arg(
        long,
        value_name = "NAME=VALUE",
        env = "QUERYSCOPE_OTLP_HEADERS",
        hide_env_values = true,
        requires = "otlp",
        value_delimiter = ',',
        value_parser = sender::header
    )]
    pub(crate) otlp_headers: Vec<(String, String)>,
    /// Send a span for each node of a plan, too
    #[arg(
        long,
        env = "QUERYSCOPE_OTLP_NODES",
        value_parser = clap::builder::FalseyValueParser::new()
    )]
    pub(crate) otlp_nodes: bool,
    /// Time between two requests with metrics: seconds, or like 90s or 5m
    #[arg(
        long,
        value_name = "TIME",
        env = "QUERYSCOPE_OTLP_METRICS_EVERY",
        default_value = "60",
        value_parser = crate::cli::time
    )]
    pub(crate) otlp_metrics_every: Duration,
}

/// Sends what a collector commits, until it is stopped and what waits is sent.
pub(crate) struct Otlp {
    runs: EndedRuns,
    sender: Sender,
    metrics: Metrics,
    nodes: bool,
    every: Duration,
    waiting: Waiting,
    /// Runs of the request that is on its way.
    on_the_way: u64,
}

/// Spans that wait for their request.
#[derive(Default)]
struct Waiting {
    spans: Vec<ResourceSpans>,
    runs: usize,
    bytes: usize,
}

impl Otlp {
    /// # Errors
    /// When no client can be made.
    pub(crate) fn new(args: &OtlpArgs, url: &str, runs: EndedRuns) -> Result<Self> {
        Ok(Self {
            runs,
            sender: Sender::new(url, &args.otlp_headers)?,
            metrics: Metrics::new(SystemClock::new().unix_ns()),
            nodes: args.otlp_nodes,
            every: args.otlp_metrics_every,
            waiting: Waiting::default(),
            on_the_way: 0,
        })
    }

    pub(crate) async fn run(mut self, stop: CancellationToken) {
        tracing::info!(url = self.sender.url(), "sending ended runs to an OpenTelemetry receiver");
        let mut metrics = interval_at(Instant::now() + self.every, self.every);
        metrics.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut due: Option<Instant> = None;
        loop {
            let waited = async move {
                match due {
                    Some(due) => tokio::time::sleep_until(due).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = stop.cancelled() => break,
                batch = self.runs.next() => match batch {
                    Some(batch) => {
                        self.take(batch).await;
                        due = due.or_else(|| Some(Instant::now() + WAIT));
                    }
                    None => break,
                },
                () = waited => {
                    due = None;
                    self.send_spans(&stop).await;
                }
                _ = metrics.tick() => self.send_metrics(&stop).await,
            }
            if self.waiting.runs >= RUNS_MAX || self.waiting.bytes >= BYTES_MAX {
                due = None;
                self.send_spans(&stop).await;
            }
        }
        if timeout(STOP_WITHIN, self.finish()).await.is_err() {
            tracing::warn!("the OpenTelemetry receiver did not take what was left in time");
        }
        self.count_rest();
    }

    /// Sends what waits, each request once.
    async fn finish(&mut self) {
        // Told apart from the token that has been cancelled: a request is still to be made.
        let patience = CancellationToken::new();
        loop {
            while self.waiting.runs < RUNS_MAX && self.waiting.bytes < BYTES_MAX {
                let Some(batch) = self.runs.try_next() else { break };
                self.take(batch).await;
            }
            if self.waiting.runs == 0 {
                break;
            }
            self.send_spans(&patience).await;
        }
        self.send_metrics(&patience).await;
    }

    fn count_rest(&mut self) {
        let mut left = self.waiting.runs as u64 + self.on_the_way;
        while let Some(batch) = self.runs.try_next() {
            left += batch.ended.len() as u64;
        }
        if left > 0 {
            self.counts().dropped("stopped", left);
            tracing::warn!(runs = left, "ended runs were not sent to the OpenTelemetry receiver");
        }
    }

    fn counts(&self) -> &EndedCounts {
        self.runs.counts()
    }

    /// Makes spans of a batch, on a thread for work that takes long.
    async fn take(&mut self, batch: EndedBatch) {
        let (nodes, runs) = (self.nodes, batch.ended.len());
        let made = tokio::task::spawn_blocking(move || spans::of(&batch, nodes)).await.unwrap_or_default();
        let unread = runs.saturating_sub(made.runs.len());
        if unread > 0 {
            self.counts().dropped("unreadable", unread as u64);
        }
        self.waiting.runs += made.runs.len();
        self.waiting.bytes += made.bytes;
        self.waiting.spans.extend(made.spans);
        for run in made.runs {
            self.metrics.add(run);
        }
    }

    async fn send_spans(&mut self, stop: &CancellationToken) {
        let Waiting { spans, runs, .. } = std::mem::take(&mut self.waiting);
        if runs == 0 {
            return;
        }
        let request = ExportTraceServiceRequest { resource_spans: spans };
        let runs = runs as u64;
        // Where this is cut short, they are counted all the same.
        self.on_the_way += runs;
        match self.sender.send("/v1/traces", &request, stop).await {
            Outcome::Taken { rejected } => {
                // Of several spans of a run, a receiver may reject some: as many runs at most are lost.
                let rejected = rejected.min(runs);
                self.counts().sent(runs - rejected);
                self.counts().dropped("refused", rejected);
            }
            Outcome::Refused => self.counts().dropped("refused", runs),
            Outcome::Expired => self.counts().dropped("expired", runs),
            // They are counted at the end.
            Outcome::Stopped => return,
        }
        self.on_the_way -= runs;
    }

    async fn send_metrics(&mut self, stop: &CancellationToken) {
        let resource_metrics = self.metrics.request(SystemClock::new().unix_ns());
        if !resource_metrics.is_empty() {
            // What is not taken now is in the next request as well: the counts are sums since the start.
            self.sender.send("/v1/metrics", &ExportMetricsServiceRequest { resource_metrics }, stop).await;
        }
    }
}
