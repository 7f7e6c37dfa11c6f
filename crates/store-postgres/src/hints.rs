//! Hints between collectors that there is something new. They may be lost: everybody looks now and then anyway.

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::Notify;
use tokio_util::task::AbortOnDropHandle;
use uuid::Uuid;

use crate::connect::Server;
use crate::error::DbError;
use crate::follow::Follower;

/// Pause between two hints a collector gives: at most 50 a second. Those it takes are looks at the log, of which one
/// serves all that came before it.
const PAUSE: Duration = Duration::from_millis(20);
/// Pause before connecting again.
const FAILURE_PAUSE: Duration = Duration::from_secs(2);

/// Gives and takes hints, on a connection of its own.
#[derive(Debug)]
pub(crate) struct Hints {
    committed: Arc<Notify>,
    _task: AbortOnDropHandle<()>,
}

impl Hints {
    pub(crate) fn start(server: Server, node: Uuid, follower: &Arc<Follower>) -> Self {
        let committed = Arc::new(Notify::new());
        let task = tokio::spawn(run(server, node, Arc::clone(&committed), Arc::downgrade(follower)));
        Self { committed, _task: AbortOnDropHandle::new(task) }
    }

    /// Something was committed here.
    pub(crate) fn committed(&self) {
        self.committed.notify_one();
    }
}

async fn run(server: Server, node: Uuid, committed: Arc<Notify>, follower: Weak<Follower>) {
    loop {
        if let Err(error) = exchange(&server, node, &committed, &follower).await {
            tracing::debug!(error = &error as &dyn std::error::Error, "hints cannot be exchanged");
        }
        tokio::time::sleep(FAILURE_PAUSE).await;
    }
}

async fn exchange(
    server: &Server,
    node: Uuid,
    committed: &Notify,
    follower: &Weak<Follower>,
) -> Result<(), DbError> {
    let heard = follower.clone();
    let heard = move || {
        if let Some(follower) = heard.upgrade() {
            follower.hint();
        }
    };
    let (client, driver) = server.listen(node.to_string(), heard).await?;
    let mut driver = AbortOnDropHandle::new(driver);
    client.batch_execute("LISTEN queryscope_commit").await?;
    let notify = client.prepare("SELECT pg_notify('queryscope_commit', $1)").await?;
    loop {
        tokio::select! {
            _ = &mut driver => return Ok(()),
            () = committed.notified() => drop(client.execute(&notify, &[&node.to_string()]).await?),
        }
        tokio::time::sleep(PAUSE).await;
    }
}
