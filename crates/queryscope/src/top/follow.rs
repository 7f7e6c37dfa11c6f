//! Following a service, also after an outage.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};
use serde::Deserialize;
use tokio::sync::{Notify, mpsc, watch};
use tokio::time::Instant;

use crate::read::answers::{Progress, Run};
use crate::read::args::{ServiceArgs, SourceArgs};
use crate::read::events::Stream;
use crate::read::issues::{self, Known};
use crate::read::service::{NotFound, Service, segment};
use crate::read::text::line;

/// Pauses before a stream is opened again: exponential backoff.
const PAUSES: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(8));
/// Time between two questions how long a run may still take.
const ASK_EVERY: Duration = Duration::from_millis(250);
/// An answer is asked for again after so long: as on the dashboard.
const ASK_AGAIN: Duration = Duration::from_secs(4);
/// Of a run that is not on the screen, an answer is asked for again after so long.
const ASK_OTHERS_AGAIN: Duration = Duration::from_mins(1);
/// The issues are asked for again after so long, also without news: what they cost moves with each run.
const ISSUES_AGAIN: Duration = Duration::from_secs(30);
/// Time between two questions for the issues, whatever is news.
const ISSUES_EVERY: Duration = Duration::from_secs(2);

/// What became known.
#[derive(Debug)]
pub(crate) enum Update {
    /// The stream of running queries is open.
    Open {
        url: String,
    },
    /// It is not, and will be tried again.
    Lost {
        reason: String,
    },
    Snapshot(Snapshot),
    Query(Box<Run>),
    Pulse(Pulse),
    /// All issues that want somebody.
    Issues(Vec<Known>),
    Judged {
        run: String,
        progress: Box<Progress>,
    },
    /// Events of the run whose plan is open.
    Events {
        run: String,
        data: String,
    },
    /// The run whose plan is open does not run.
    Ended(Box<Run>),
    /// The plan is followed again.
    PlanFound {
        run: String,
    },
    /// The plan cannot be followed.
    PlanLost {
        run: String,
        reason: String,
    },
}

/// Runs whose remaining time is asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// Those on the screen.
    pub(crate) visible: Vec<String>,
    /// All others: whether they are late is counted.
    pub(crate) others: Vec<String>,
}

/// All running queries.
#[derive(Debug, Deserialize)]
pub(crate) struct Snapshot {
    pub(crate) running: Vec<Run>,
    pub(crate) pulses: Vec<Pulse>,
}

/// How far a running run is, at its last sample.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Pulse {
    pub(crate) query_id: String,
    pub(crate) elapsed_ms: f64,
    /// Busy threads, the last sample last.
    pub(crate) threads: Vec<f64>,
    /// Rows its scans read so far.
    #[serde(default)]
    pub(crate) rows_read: Option<i64>,
    pub(crate) busiest: Option<Busiest>,
    #[serde(default)]
    pub(crate) user_code: Option<serde::de::IgnoredAny>,
    pub(crate) done: u64,
    pub(crate) nodes: u64,
}

/// The node that worked most.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Busiest {
    pub(crate) id: u64,
    pub(crate) kind: String,
}

/// Asks a service, and tells what became known.
pub(crate) struct Follower {
    args: ServiceArgs,
    source: SourceArgs,
    params: Vec<(&'static str, String)>,
    send: mpsc::Sender<Update>,
    /// The live stream told of issues or changes.
    is_news: Notify,
}

impl Follower {
    pub(crate) fn new(args: ServiceArgs, source: SourceArgs, send: mpsc::Sender<Update>) -> Self {
        Self { args, params: source.params(), source, send, is_news: Notify::new() }
    }

    /// Follows the running queries for ever.
    pub(crate) async fn live(self: Arc<Self>) {
        let mut pause = PAUSES.0;
        let mut last_id = String::new();
        loop {
            let Err(error) = self.live_once(&mut last_id, &mut pause).await;
            if self.tell(Update::Lost { reason: line(&format!("{error:#}")).into_owned() }).await.is_err() {
                return;
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSES.1);
        }
    }

    /// Follows until the stream ends. The service may have come back at another address.
    async fn live_once(
        &self,
        last_id: &mut String,
        pause: &mut Duration,
    ) -> Result<std::convert::Infallible> {
        let service = Service::find(&self.args)?;
        let after = Some(last_id.as_str()).filter(|id| !id.is_empty());
        let mut stream = Stream::open(&service, "/api/live", &self.params, after).await?;
        self.tell(Update::Open { url: service.url().to_owned() }).await?;
        while let Some(message) = stream.next().await? {
            if matches!(message.event.as_str(), "snapshot" | "issue" | "change") {
                self.is_news.notify_one();
            }
            let update = match message.event.as_str() {
                "snapshot" => Some(Update::Snapshot(serde_json::from_str(&message.data)?)),
                "query" => Some(Update::Query(serde_json::from_str(&message.data)?)),
                "pulse" => Some(Update::Pulse(serde_json::from_str(&message.data)?)),
                _ => None,
            };
            if let Some(update) = update {
                self.tell(update).await?;
            }
            *last_id = message.id;
            *pause = PAUSES.0;
        }
        bail!("the service ended the stream")
    }

    /// Asks how long runs may still take: those on the screen first, and of these, those that were asked about longest
    /// ago.
    pub(crate) async fn ask(self: Arc<Self>, wanted: watch::Receiver<Wanted>) {
        let mut asked: HashMap<String, Instant> = HashMap::new();
        let mut service = None;
        loop {
            tokio::time::sleep(ASK_EVERY).await;
            let Wanted { visible, others } = wanted.borrow().clone();
            let known: HashSet<&String> = visible.iter().chain(&others).collect();
            asked.retain(|id, _| known.contains(id));
            let due = |ids: &[String], again: Duration| {
                let is_due = |id: &&String| asked.get(*id).is_none_or(|at| at.elapsed() >= again);
                ids.iter().filter(is_due).min_by_key(|id| asked.get(*id).copied()).cloned()
            };
            let next = due(&visible, ASK_AGAIN).or_else(|| due(&others, ASK_OTHERS_AGAIN));
            let Some(run) = next else { continue };
            asked.insert(run.clone(), Instant::now());
            if service.is_none() {
                service = Service::find(&self.args).ok();
            }
            let Some(at) = &service else { continue };
            match at.get(&format!("/api/queries/{}/progress", segment(&run)), &[]).await {
                Ok(progress) => {
                    if self.tell(Update::Judged { run, progress: Box::new(progress) }).await.is_err() {
                        return;
                    }
                }
                Err(error) if error.is::<NotFound>() => {}
                // It may come back at another address.
                Err(_) => service = None,
            }
        }
    }

    /// Asks for the issues whenever the live stream tells of one.
    pub(crate) async fn issues(self: Arc<Self>) {
        loop {
            // A service that is away is told of by the stream.
            if let Ok(known) = self.issues_once().await
                && self.tell(Update::Issues(known)).await.is_err()
            {
                return;
            }
            tokio::time::sleep(ISSUES_EVERY).await;
            // Fails where nothing is news.
            let _ = tokio::time::timeout(ISSUES_AGAIN, self.is_news.notified()).await;
        }
    }

    async fn issues_once(&self) -> Result<Vec<Known>> {
        let service = Service::find(&self.args)?;
        let mut params = self.params.clone();
        params.push(("state", issues::OPEN.join(",")));
        let mut known = issues::ask(&service, params).await?.known;
        // As the live stream filters them: an issue has a host where that host alone changed.
        let is = |asked: &Option<String>, found: Option<&str>| {
            asked.as_deref().is_none_or(|asked| asked == found.unwrap_or_default())
        };
        known.retain(|Known { issue, .. }| {
            is(&self.source.environment, issue.environment.as_deref())
                && is(&self.source.host, issue.host.as_deref())
        });
        Ok(known)
    }

    /// Follows the plan of one run until the run has ended.
    pub(crate) async fn plan(self: Arc<Self>, run: String) {
        let mut last_id = String::new();
        let mut pause = PAUSES.0;
        while let Err(error) = self.plan_once(&run, &mut last_id, &mut pause).await {
            let reason = line(&format!("{error:#}")).into_owned();
            let is_gone = error.is::<NotFound>();
            if self.tell(Update::PlanLost { run: run.clone(), reason }).await.is_err() || is_gone {
                return;
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSES.1);
        }
    }

    async fn plan_once(&self, run: &str, last_id: &mut String, pause: &mut Duration) -> Result<()> {
        let service = Service::find(&self.args)?;
        let after = Some(last_id.as_str()).filter(|id| !id.is_empty());
        let mut stream = Stream::open(&service, &format!("/api/live/{}", segment(run)), &[], after).await?;
        self.tell(Update::PlanFound { run: run.to_owned() }).await?;
        *pause = PAUSES.0;
        while let Some(message) = stream.next().await? {
            match message.event.as_str() {
                "events" => self.tell(Update::Events { run: run.to_owned(), data: message.data }).await?,
                "finished" => {
                    return self.tell(Update::Ended(serde_json::from_str(&message.data)?)).await;
                }
                _ => {}
            }
            *last_id = message.id;
        }
        bail!("the service ended the stream")
    }

    /// An error says that nobody listens any more.
    async fn tell(&self, update: Update) -> Result<()> {
        Ok(self.send.send(update).await?)
    }
}
