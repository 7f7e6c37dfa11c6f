//! Every file of the recordings' folder against the store.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use queryscope_store::{Store, named_by, recording_path};

use super::{Findings, Subject};

/// Between the name of a recording and a number: a file that is being written.
const UNFINISHED: char = '#';

/// Finds files that no query points to. A service that was killed may leave some: they are no damage, and retention
/// takes them in its time. Gives back their paths, relative to the root.
pub(crate) async fn check(root: &Path, store: &Arc<dyn Store>, findings: &mut Findings) -> Vec<PathBuf> {
    let mut left = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            // A folder goes with its last recording.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => {
                findings.problem(
                    &Subject::File(relative(root, &folder)),
                    &format!("it can not be read: {error}"),
                );
                continue;
            }
        };
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = relative(root, &path);
            let Some(text) = what_is_left(&name, store).await else { continue };
            // What is written or deleted while it is looked at is gone by now.
            if path.exists() && what_is_left(&name, store).await.is_some() {
                findings.note(&Subject::File(name), text);
                left.push(path);
            }
        }
    }
    left
}

fn relative(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).to_string_lossy().into_owned()
}

/// Why a file is not one the store has or is about to have.
async fn what_is_left(path: &str, store: &Arc<dyn Store>) -> Option<&'static str> {
    let name = path.rsplit('/').next().unwrap_or(path);
    if name.contains(UNFINISHED) {
        return Some("it was not written to its end");
    }
    let Some((id, version)) = named_by(name) else { return Some("it is no recording") };
    match store.recording(id).await {
        Ok(None) => Some("the store has no such query"),
        Ok(Some(parts)) => {
            let known = parts.sealed_path.as_deref() == Some(path)
                || version.is_none() && recording_path(id, parts.query.started_unix_ns) == path;
            (!known).then_some("its query points to another file")
        }
        // Told where the query is judged.
        Err(_) => None,
    }
}
