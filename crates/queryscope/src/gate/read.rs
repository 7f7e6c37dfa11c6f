//! The runs of a test suite, from files or from a service.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use futures_util::{StreamExt, TryStreamExt, stream};
use queryscope_protocol::{Event, EventKind, QueryId};

use crate::cli::DataArg;
use crate::events_file::EventsFile;
use crate::lines::Lines;
use crate::profiles_file::ProfilesFile;
use crate::read::args::ServiceArgs;
use crate::read::service::Service;
use crate::read::{events, pages};

use super::report::Count;

/// More runs of a service than this are not read: filters say which are meant.
const RUNS_MAX: usize = 20_000;
/// Runs that are read from a service at a time.
const AT_A_TIME: usize = 8;
/// What an address may filter by, as `/api/queries` does.
const FILTERS: [&str; 9] = [
    "project",
    "service",
    "environment",
    "host",
    "label",
    "engine_version",
    "program_version",
    "since",
    "until",
];
/// Ends of the names of files that are read from folders.
const FILE_ENDS: [&str; 3] = [".jsonl", ".jsonl.gz", ".ndjson"];

/// The runs of a suite.
#[derive(Debug, Default)]
pub(super) struct Suite {
    /// The event that ended each run, one for each run, in the order they were read.
    pub(super) runs: Vec<String>,
    seen: HashSet<QueryId>,
    started: HashSet<QueryId>,
}

impl Suite {
    pub(super) fn count(&self) -> Count {
        let unfinished = self.started.difference(&self.seen).count();
        Count { queries: self.runs.len(), unfinished }
    }

    fn take(&mut self, line: &str) {
        // A line that cannot be read says nothing of a query; whoever imports the file is told.
        let Ok(event) = Event::read_stored(line) else { return };
        match event.kind {
            EventKind::Finished(id, _) if self.seen.insert(id) => self.runs.push(line.to_owned()),
            EventKind::Started(id, _) => {
                self.started.insert(id);
            }
            _ => {}
        }
    }
}

/// Reads the runs of one suite from all places.
///
/// # Errors
/// When a place cannot be read.
pub(super) async fn suite(places: &[String], token: Option<&str>) -> Result<Suite> {
    let mut suite = Suite::default();
    for place in places {
        if place.starts_with("http://") || place.starts_with("https://") {
            from_service(place, token, &mut suite).await?;
        } else {
            for file in files(Path::new(place))? {
                from_file(&file, &mut suite).with_context(|| file.display().to_string())?;
            }
        }
    }
    Ok(suite)
}

/// The file itself, or those of a folder by name.
fn files(path: &Path) -> Result<Vec<PathBuf>> {
    let kind = std::fs::metadata(path).with_context(|| format!("{} cannot be read", path.display()))?;
    if !kind.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    for entry in std::fs::read_dir(path).with_context(|| format!("{} cannot be listed", path.display()))? {
        let file = entry.with_context(|| format!("{} cannot be listed", path.display()))?.path();
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if FILE_ENDS.iter().any(|end| name.ends_with(end)) && file.is_file() {
            files.push(file);
        }
    }
    if files.is_empty() {
        bail!("{} holds no file that ends in {}", path.display(), FILE_ENDS.join(", "));
    }
    files.sort();
    Ok(files)
}

fn from_file(path: &Path, suite: &mut Suite) -> Result<()> {
    let mut lines = Lines::open(path)?;
    // A worker without a test writes an empty file.
    if lines.is_empty() {
        return Ok(());
    }
    let mut take = |text: Vec<u8>| {
        for line in String::from_utf8_lossy(&text).lines() {
            suite.take(line);
        }
    };
    if ProfilesFile::is_begun_by(lines.peek_first()?) {
        let mut file = ProfilesFile::new(lines);
        while let Some(profile) = file.next_profile()? {
            take(profile.batch.text);
        }
    } else {
        let mut file = EventsFile::new(lines);
        while let Some(batch) = file.next_batch()? {
            take(batch.text);
        }
    }
    Ok(())
}

async fn from_service(place: &str, token: Option<&str>, suite: &mut Suite) -> Result<()> {
    let (url, query) = place.split_once('?').unwrap_or((place, ""));
    let args = ServiceArgs {
        url: Some(url.to_owned()),
        token: token.map(str::to_owned),
        data: DataArg { data: PathBuf::new() },
    };
    let service = Service::find(&args)?;
    let mut params = vec![("limit", "1000".to_owned()), ("order", "oldest".to_owned())];
    let mut given: HashMap<String, String> = HashMap::new();
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        let Some(known) = FILTERS.iter().find(|known| **known == name) else {
            bail!("an address takes the filters {}; there is no {name:?}", FILTERS.join(", "));
        };
        if given.insert(name.into_owned(), value.clone().into_owned()).is_some() {
            bail!("{known} is given twice in {url}");
        }
        params.push((*known, value.into_owned()));
    }
    let listed = pages(&service, "/api/queries", params, "", RUNS_MAX).await?;
    if listed.is_cut {
        bail!(
            "{url} has more than {RUNS_MAX} such queries: use more filters, like ?service=…&program_version=…"
        );
    }
    let mut ended = Vec::new();
    for run in &listed.entries {
        let Some(id) = run["query_id"].as_str() else { bail!("{url} lists a query without an id") };
        match run["status"].as_str() {
            Some("finished" | "failed") => ended.push(id.to_owned()),
            _ => suite.started.extend(id.parse::<QueryId>().ok()),
        }
    }
    let service = &service;
    let reading = ended.into_iter().map(|id| async move {
        let told = events::read(service, &id).await.with_context(|| format!("query {id}"))?;
        anyhow::Ok(told.into_last_event())
    });
    let lines: Vec<Option<String>> = stream::iter(reading).buffered(AT_A_TIME).try_collect().await?;
    lines.iter().flatten().for_each(|line| suite.take(line));
    Ok(())
}
