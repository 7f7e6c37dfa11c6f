//! Takes over tokens that were added or revoked by another process.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::pause;
use crate::app::App;

/// How long a new or revoked token may take to have effect.
const LOOK_EVERY: Duration = Duration::from_secs(1);

pub(crate) async fn run(app: Arc<App>, stop: CancellationToken) {
    while pause(LOOK_EVERY, &stop).await {
        match app.store.tokens().await {
            Ok(records) => app.tokens.replace(records),
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "tokens could not be read")
            }
        }
    }
}
