//! Ends mutes of issues whose time is over.
//!
//! Every collector looks: ending a mute that another has ended changes nothing.

use std::sync::Arc;
use std::time::Duration;

use queryscope_store::{IssueStep, StoreError};
use tokio_util::sync::CancellationToken;

use super::pause;
use crate::app::App;
use crate::rarely::Rarely;

const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Mutes that end in one look.
const ENDED_MAX: usize = 100;

pub(crate) async fn run(app: Arc<App>, stop: CancellationToken) {
    let failures = Rarely::default();
    while pause(LOOK_EVERY, &stop).await {
        if let Err(error) = end(&app).await {
            app.watch(&error);
            if let Some(times) = failures.due() {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(error, times, "mutes of issues could not be ended; they are tried again");
            }
        }
    }
}

async fn end(app: &App) -> Result<(), StoreError> {
    let unix_ns = app.clock.unix_ns();
    for id in app.store.mutes_due(unix_ns, ENDED_MAX).await? {
        app.store.move_issue(&id, IssueStep::EndMute, unix_ns).await?;
    }
    Ok(())
}
