//! Every file of the recordings' folder against the store.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::slice::from_ref;

use queryscope_protocol::QueryId;
use queryscope_recordings::check_pack;
use queryscope_store::{Kept, Pack, StoreAudit, StoreError, named_by, pack_named_by, recording_path};

use super::queries::{PAGE, kept};
use super::{Findings, Subject};

/// Between the name of a recording and a number: a file that is being written.
const UNFINISHED: char = '#';

/// What was found among the files.
#[derive(Debug, Default)]
pub(crate) struct FilesFound {
    /// Files that no query points to. A service that was killed may leave some: they are no damage, and the service
    /// takes them in its time.
    pub(crate) left: Vec<PathBuf>,
    /// Packs that queries point to and that are not as they were written.
    pub(crate) damaged: Vec<Pack>,
}

/// Looks at every file below a root.
pub(crate) async fn check(root: &Path, store: &dyn StoreAudit, findings: &mut Findings) -> FilesFound {
    let mut found = FilesFound::default();
    let mut known = KnownPacks { store, days: HashMap::new() };
    let mut folders = vec![root.to_owned()];
    let mut page = Vec::new();
    while let Some(folder) = folders.pop() {
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            // A folder goes with its last recording.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => {
                findings
                    .problem(&Subject::File(relative(root, &folder)), &format!("it cannot be read: {error}"));
                continue;
            }
        };
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            if let Some(pack) = pack_named_by(&relative(root, &path)) {
                check_one_pack(root, path, pack, &mut known, findings, &mut found).await;
                continue;
            }
            page.push(path);
            if page.len() == PAGE {
                found.left.extend(left_of(root, std::mem::take(&mut page), store, findings).await);
            }
        }
    }
    found.left.extend(left_of(root, page, store, findings).await);
    found
}

/// The packs that queries point to, day by day.
struct KnownPacks<'s> {
    store: &'s dyn StoreAudit,
    /// As they were when the day was asked for last.
    days: HashMap<i64, HashSet<Pack>>,
}

impl KnownPacks<'_> {
    /// Whether queries pointed to a pack when its day was asked for last.
    async fn contains(&mut self, pack: Pack) -> Result<bool, StoreError> {
        if !self.days.contains_key(&pack.day) {
            self.ask(pack.day).await?;
        }
        Ok(self.days.get(&pack.day).is_some_and(|packs| packs.contains(&pack)))
    }

    async fn ask(&mut self, day: i64) -> Result<(), StoreError> {
        let packs = self.store.packs(day).await?;
        self.days.insert(day, packs.into_iter().collect());
        Ok(())
    }
}

/// Finds out whether queries point to a pack, and whether it is as it was written.
async fn check_one_pack(
    root: &Path,
    path: PathBuf,
    pack: Pack,
    known: &mut KnownPacks<'_>,
    findings: &mut Findings,
    found: &mut FilesFound,
) {
    let subject = Subject::File(relative(root, &path));
    match is_left(&path, pack, known).await {
        Ok(false) => {}
        Ok(true) => {
            findings.note(&subject, "no query points to it");
            found.left.push(path);
            return;
        }
        Err(error) => {
            let error = anyhow::Error::from(error);
            findings.problem(&subject, &format!("whether queries point to it cannot be read: {error:#}"));
            return;
        }
    }
    let checked = match std::fs::read(&path) {
        Ok(bytes) => check_pack(&bytes).map(|_| ()),
        // Where queries still point to it, each of them says so.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return,
        Err(error) => Err(error.to_string()),
    };
    if let Err(error) = checked {
        findings.problem(&subject, &format!("it is damaged: {error}"));
        found.damaged.push(pack);
    }
}

/// Whether no query points to a pack that is there.
async fn is_left(path: &Path, pack: Pack, known: &mut KnownPacks<'_>) -> Result<bool, StoreError> {
    if known.contains(pack).await? {
        return Ok(false);
    }
    // One that is written or deleted meanwhile is known, or gone, by now.
    known.ask(pack.day).await?;
    Ok(path.exists() && !known.contains(pack).await?)
}

/// Which of some files are left.
async fn left_of(
    root: &Path,
    files: Vec<PathBuf>,
    store: &dyn StoreAudit,
    findings: &mut Findings,
) -> Vec<PathBuf> {
    let names: Vec<String> = files.iter().map(|path| relative(root, path)).collect();
    let mut left = Vec::new();
    for ((path, name), text) in files.into_iter().zip(&names).zip(what_is_left(&names, store).await) {
        let Some(text) = text else { continue };
        // What is written or deleted while it is looked at is gone by now.
        if path.exists() && what_is_left(from_ref(name), store).await[0].is_some() {
            findings.note(&Subject::File(name.clone()), text);
            left.push(path);
        }
    }
    left
}

fn relative(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).to_string_lossy().into_owned()
}

/// Why files are not those the store has or is about to have.
async fn what_is_left(paths: &[String], store: &dyn StoreAudit) -> Vec<Option<&'static str>> {
    let named: Vec<_> = paths.iter().map(|path| query_of(path)).collect();
    let ids: Vec<QueryId> = named.iter().filter_map(|named| Some(named.ok()?.0)).collect();
    let mut kept = kept(store, &ids).await.into_iter();
    let one = |(path, named): (&String, Result<(QueryId, Option<u64>), &'static str>)| {
        let version = match named {
            Ok((_, version)) => version,
            Err(text) => return Some(text),
        };
        match kept.next()? {
            Ok(None) => Some("the store has no such query"),
            Ok(Some(Kept { parts, .. })) => {
                let query = parts.query;
                let known = parts.sealed.is_some_and(|place| place.path == *path)
                    || version.is_none() && recording_path(query.query_id, query.started_unix_ns) == *path;
                (!known).then_some("its query points to another file")
            }
            // Told where the query is judged.
            Err(_) => None,
        }
    };
    paths.iter().zip(named).map(one).collect()
}

/// The query whose recording a file is by its name, and which version of it.
fn query_of(path: &str) -> Result<(QueryId, Option<u64>), &'static str> {
    let name = path.rsplit('/').next().unwrap_or(path);
    if name.contains(UNFINISHED) {
        return Err("it was not written to its end");
    }
    named_by(name).ok_or("it is no recording")
}
