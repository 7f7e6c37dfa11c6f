//! The lines of a recording.

use std::sync::Arc;

use anyhow::{Context, Result};
use futures_util::TryStreamExt;
use queryscope_recordings::Recordings;
use queryscope_store::{RecordingParts, Store, unpack};

/// Reads a recording whole and gives its lines.
pub(crate) async fn lines(
    store: &Arc<dyn Store>,
    recordings: &Recordings,
    parts: RecordingParts,
) -> Result<Vec<String>> {
    let content = recordings.read(store, parts).await?;
    let members: Vec<_> = content.bytes.try_collect().await?;
    let text = String::from_utf8(unpack(&members.concat())?).context("it is not UTF-8")?;
    Ok(text.split_terminator('\n').map(Into::into).collect())
}
