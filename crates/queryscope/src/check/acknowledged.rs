//! What was acknowledged against what is stored.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use queryscope_protocol::{Batch, QueryId};
use queryscope_recordings::Recordings;
use queryscope_store::Store;

use super::{Findings, recording};
use crate::events_file::EventsFile;

/// Judges an events file of what was acknowledged; gives back how many events it holds.
///
/// Events of no query are not kept and so not looked for.
pub(crate) async fn check(
    path: &Path,
    store: &Arc<dyn Store>,
    recordings: &Recordings,
    findings: &mut Findings,
) -> Result<u64> {
    let mut expected: HashMap<QueryId, Vec<String>> = HashMap::new();
    let mut count = 0;
    let mut file = EventsFile::open(path)?;
    while let Some(batch) = file.next_batch().with_context(|| path.display().to_string())? {
        for event in Batch::open(&batch.text).with_context(|| path.display().to_string())?.events {
            let event = event.with_context(|| path.display().to_string())?;
            if let Some(id) = event.kind.query_id() {
                expected.entry(id).or_default().push(event.line.to_owned());
                count += 1;
            }
        }
    }
    for (id, lines) in expected {
        let Some(parts) = store.recording(id).await? else {
            findings.problem(&format!("query {id}: acknowledged and not stored"));
            continue;
        };
        match recording::lines(store, recordings, parts).await {
            Ok(stored) => {
                let stored: HashSet<String> = stored.into_iter().collect();
                for line in lines.iter().filter(|line| !stored.contains(*line)) {
                    let shown: String = line.chars().take(120).collect();
                    findings.problem(&format!("query {id}: acknowledged and not stored: {shown}…"));
                }
            }
            Err(error) => findings.problem(&format!("query {id}: its recording can not be read: {error:#}")),
        }
    }
    Ok(count)
}
