//! Turns notices of transitions into messages, and sends them.
//!
//! The problem: each message is to arrive, over failures of receivers and crashes, and of several collectors one alone
//! is to send it. The mechanism: the store has a notice of each transition. The collector that holds a lease makes
//! messages of notices, one for issues of one cause, and stores them (`dispatch.rs`). A task for each route sends the
//! messages of the route, one after the other, and notes each attempt (`route.rs`). So a receiver that is slow or down
//! keeps no other one waiting. A message that was sent and not noted is sent again with the same key: at least once.
//! ADR 28 says more.

mod dispatch;
mod metrics;
mod route;

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use queryscope_delivery::{Config, Sender};
use queryscope_store::StoreError;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::rarely::Rarely;

pub(crate) use self::metrics::DeliveryMetrics;

/// How often notices and messages are looked for.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// How long a lease holds, and when it is renewed.
const LEASE: Duration = Duration::from_secs(20);
const RENEW_AFTER: Duration = Duration::from_secs(3);
/// What is left of a lease when an attempt begins: no attempt takes longer.
const LEFT_MIN: Duration = Duration::from_secs(13);
/// How often a collector without the lease asks for it.
const ASK_EVERY: Duration = Duration::from_secs(5);
/// How long attempts under way, and giving the lease back, may take at the end.
const END_WITHIN: Duration = Duration::from_secs(3);

/// What the tasks of this job share.
struct Shared {
    app: Arc<App>,
    config: Arc<Config>,
    sender: Sender,
    /// Until when the lease holds; `None` without it.
    leased_until: Mutex<Option<Instant>>,
    failures: Rarely,
}

impl Shared {
    /// Whether an attempt may begin.
    fn may_send(&self) -> bool {
        self.leased_until.lock().is_some_and(|until| until >= queryscope_store::now() + LEFT_MIN)
    }

    /// Notes that the store failed.
    fn failed(&self, error: &StoreError) {
        self.app.watch(error);
        if let Some(times) = self.failures.due() {
            let error = error as &dyn std::error::Error;
            tracing::warn!(error, times, "messages of issues could not be read or noted; they wait");
        }
    }
}

/// Delivers until `stop` is cancelled; then another collector may at once. A collector without routes does not: what it
/// took, it could not send.
pub(crate) async fn run(app: Arc<App>, stop: CancellationToken) {
    let Some(config) = app.settings.delivery.clone().filter(|config| !config.routes.is_empty()) else {
        return;
    };
    let sender = match Sender::new(&config) {
        Ok(sender) => sender,
        Err(error) => {
            tracing::error!(error, "no messages of issues can be sent");
            return;
        }
    };
    let (leased_until, failures) = (Mutex::new(None), Rarely::default());
    let shared = Arc::new(Shared { app, config, sender, leased_until, failures });
    let mut routes = JoinSet::new();
    for route in &shared.config.routes {
        routes.spawn(route::run(Arc::clone(&shared), route.name.clone(), stop.clone()));
    }
    let holder = queryscope_store::random_id().to_string();
    lead(&shared, &holder, &stop).await;
    // What is under way may end; what is not noted then is sent again.
    let ended = async { while routes.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(END_WITHIN, ended).await;
    routes.shutdown().await;
    if shared.leased_until.lock().is_some() {
        let give_back = shared.app.store.outbox().delivery_lease(&holder, Duration::ZERO);
        // Where that fails, the lease ends by itself.
        let _ = tokio::time::timeout(END_WITHIN, give_back).await;
    }
}

/// Keeps the lease, and makes messages of notices.
async fn lead(shared: &Shared, holder: &str, stop: &CancellationToken) {
    let mut renewed: Option<Instant> = None;
    let mut orphans = dispatch::Orphans::default();
    loop {
        let wait = match step(shared, holder, &mut renewed, &mut orphans).await {
            Ok(true) => LOOK_EVERY,
            Ok(false) => ASK_EVERY,
            Err(error) => {
                shared.failed(&error);
                renewed = None;
                ASK_EVERY
            }
        };
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(wait) => {}
        }
    }
}

/// `false` when another collector delivers.
async fn step(
    shared: &Shared,
    holder: &str,
    renewed: &mut Option<Instant>,
    orphans: &mut dispatch::Orphans,
) -> Result<bool, StoreError> {
    if renewed.is_none_or(|at| at.elapsed() >= RENEW_AFTER) {
        let asked_at = queryscope_store::now();
        let is_ours = shared.app.store.outbox().delivery_lease(holder, LEASE).await?;
        *renewed = is_ours.then_some(asked_at);
        *shared.leased_until.lock() = is_ours.then(|| asked_at + LEASE);
        if !is_ours {
            return Ok(false);
        }
    }
    if !dispatch::dispatch(shared, holder).await? {
        *renewed = None;
        *shared.leased_until.lock() = None;
        return Ok(false);
    }
    orphans.give_up(shared).await?;
    Ok(true)
}
