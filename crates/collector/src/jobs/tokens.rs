//! Takes over tokens that were added or revoked by another process, notes when tokens were used, and ends sessions that
//! nobody uses.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use queryscope_store::StoreError;
use tokio_util::sync::CancellationToken;

use super::pause;
use crate::access::IDLE;
use crate::app::App;

/// How long a new or revoked token may take to have effect.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Rounds after which it is written what was used, and sessions that are idle end.
const NOTE_EVERY: u32 = 60;

pub(crate) async fn run(app: Arc<App>, stop: CancellationToken) {
    let (mut round, mut used) = (0_u32, HashSet::new());
    while pause(LOOK_EVERY, &stop).await {
        match app.store.tokens().await {
            Ok(records) => app.tokens.replace(records, app.clock.unix_ms()),
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "tokens could not be read")
            }
        }
        used.extend(app.tokens.take_used());
        if round.is_multiple_of(NOTE_EVERY)
            && let Err(error) = note(&app, &mut used).await
        {
            tracing::warn!(error = &error as &dyn std::error::Error, "uses of tokens could not be written");
        }
        round = round.wrapping_add(1);
    }
}

async fn note(app: &App, used: &mut HashSet<String>) -> Result<(), StoreError> {
    let unix_ms = app.clock.unix_ms();
    if !used.is_empty() {
        app.store.access().use_tokens(used.drain().collect(), unix_ms).await?;
    }
    if app.settings.reading.login {
        app.store.access().end_idle_sessions(unix_ms - IDLE.as_millis() as i64).await?;
    }
    Ok(())
}
