//! Versions that senders name, which are deploys where they come after another one.
//!
//! The problem: each batch names a version, nearly always a known one, and a batch must not wait for a deploy to be
//! written. The mechanism: what was noted lately is held in memory; a version that is not is noted once its batch is
//! committed, and written by a job. What a crash takes before it is written comes again with the next batch.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use queryscope_protocol::named_version;
use queryscope_store::{DeploySubject, Report, SeenVersion, StoreError, StreamBatch};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::rarely::Rarely;

/// How long a version that was noted is not noted again.
const NOTED_FOR_NS: i64 = 3_600_000_000_000;
/// Versions that are held; beyond it, all are noted again.
const HELD_MAX: usize = 10_000;
/// Versions that wait to be written; further ones are noted with a later batch.
const WAITING_MAX: usize = 10_000;
/// Versions of engines in one batch; further ones are noted with a later batch.
const ENGINES_MAX: usize = 64;
/// Pause after a failure of the store; the next is twice as long.
const FAILURE_PAUSE: Duration = Duration::from_secs(1);
const FAILURE_PAUSE_MAX: Duration = Duration::from_secs(30);

/// An engine, where a brand names it, and its version.
type Engine<'a> = (Option<&'a str>, &'a str);

/// Versions that senders named.
#[derive(Debug, Default)]
pub(crate) struct SeenVersions {
    /// By hash: the earliest start that was noted, and when.
    held: Mutex<HashMap<u64, (i64, i64)>>,
    waiting: Mutex<Vec<SeenVersion>>,
    noted: Notify,
    failures: Rarely,
}

impl SeenVersions {
    /// Versions of a batch that were not noted lately, or of which it has an earlier run.
    pub(crate) fn unseen(&self, batch: &StreamBatch, now_unix_ns: i64) -> Vec<SeenVersion> {
        let mut starts: HashMap<Engine<'_>, i64> = HashMap::new();
        let mut first_unix_ns = now_unix_ns;
        for (start, engine_version) in batch.parts.iter().filter_map(|part| start_of(&part.report)) {
            first_unix_ns = first_unix_ns.min(start);
            let Some(version) = engine_version else { continue };
            if starts.len() < ENGINES_MAX || starts.contains_key(&version) {
                let known = starts.entry(version).or_insert(now_unix_ns);
                *known = (*known).min(start);
            }
        }
        let engines = starts.into_iter().map(|((engine, version), start)| {
            let name = engine.or_else(|| engine_in(version)).map(ToOwned::to_owned);
            (DeploySubject::Engine, name, named_version(engine, version), start)
        });
        let program = batch.process.program_version.clone();
        let program = program.map(|version| (DeploySubject::Program, None, version, first_unix_ns));
        let held = self.held.lock();
        let mut unseen = Vec::new();
        for (subject, engine, version, first_unix_ns) in engines.chain(program) {
            let (service, environment) = (&batch.process.service, &batch.process.environment);
            let hash = hash((&batch.project, service.as_deref(), environment.as_deref(), subject, &*version));
            let is_known = held
                .get(&hash)
                .is_some_and(|(first, at)| *first <= first_unix_ns && now_unix_ns - at < NOTED_FOR_NS);
            if !is_known && !version.contains('\0') {
                unseen.push(SeenVersion {
                    project: batch.project.clone(),
                    service: service.clone(),
                    environment: environment.clone(),
                    subject,
                    engine,
                    version,
                    first_unix_ns,
                    seen_unix_ns: now_unix_ns,
                });
            }
        }
        unseen
    }

    /// Notes versions whose batch is committed.
    pub(crate) fn note(&self, seen: Vec<SeenVersion>) {
        if seen.is_empty() {
            return;
        }
        {
            let mut waiting = self.waiting.lock();
            if waiting.len() + seen.len() > WAITING_MAX {
                return;
            }
            let mut held = self.held.lock();
            if held.len() + seen.len() > HELD_MAX {
                held.clear();
            }
            for one in &seen {
                let SeenVersion { project, service, environment, subject, version, .. } = one;
                let hash =
                    hash((project, service.as_deref(), environment.as_deref(), *subject, version.as_str()));
                let known = held.entry(hash).or_insert((one.first_unix_ns, one.seen_unix_ns));
                *known = (known.0.min(one.first_unix_ns), known.1.max(one.seen_unix_ns));
            }
            waiting.extend(seen);
        }
        self.noted.notify_one();
    }
}

/// The start of the first run a report tells of, and its engine; `None` where it has no profile.
fn start_of(report: &Report) -> Option<(i64, Option<Engine<'_>>)> {
    let facts = report.finished.as_ref().or(report.started.as_ref())?;
    let start = facts.started_unix_ns.unwrap_or(report.guessed_start_unix_ns);
    let version = facts.engine_version.as_deref();
    Some((start, version.map(|version| (report.engine.as_deref(), version))))
}

/// The engine that a version names itself, as `polars 2.1.0` does: a first word as brands are.
fn engine_in(version: &str) -> Option<&str> {
    let (engine, _) = version.split_once(' ')?;
    let is_brand = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (engine.starts_with(|first: char| first.is_ascii_lowercase()) && engine.bytes().all(is_brand))
        .then_some(engine)
}

fn hash(key: (&String, Option<&str>, Option<&str>, DeploySubject, &str)) -> u64 {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish()
}

/// Writes what was noted.
///
/// # Errors
/// When the store fails; what was noted waits.
pub(crate) async fn flush(app: &App) -> Result<(), StoreError> {
    let waiting = std::mem::take(&mut *app.versions.waiting.lock());
    if waiting.is_empty() {
        return Ok(());
    }
    let written = app.store.deploys().note_versions(waiting.clone()).await;
    if let Err(error) = &written {
        app.watch(error);
        app.versions.waiting.lock().extend(waiting);
    }
    written
}

/// Writes versions as they are noted, until `stop` is cancelled.
pub(crate) async fn run(app: Arc<App>, stop: CancellationToken) {
    let mut failure_pause = FAILURE_PAUSE;
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = app.versions.noted.notified() => {}
        }
        while let Err(error) = flush(&app).await {
            if let Some(times) = app.versions.failures.due() {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(error, times, "versions that senders named could not be stored; they wait");
            }
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(failure_pause) => {}
            }
            failure_pause = (failure_pause * 2).min(FAILURE_PAUSE_MAX);
        }
        failure_pause = FAILURE_PAUSE;
    }
}

#[cfg(test)]
mod tests {
    use queryscope_store::testsuite::{batch, facts};

    use super::*;

    const NOW: i64 = 1_795_000_000_000_000_000;

    fn versions(seen: &[SeenVersion]) -> Vec<(DeploySubject, &str)> {
        let mut versions: Vec<_> = seen.iter().map(|one| (one.subject, one.version.as_str())).collect();
        versions.sort_unstable();
        versions
    }

    #[test]
    fn engines_of_one_version_are_told_apart() {
        let mut sent = batch(1).finished(1, 2, facts("x")).finished(2, 3, facts("y")).build();
        sent.process.program_version = None;
        for (part, engine) in sent.parts.iter_mut().zip(["polars", "datafusion"]) {
            part.report.engine = Some(engine.into());
            part.report.finished.as_mut().expect("finished").engine_version = Some("2.1.0".into());
        }
        let seen = SeenVersions::default().unseen(&sent, NOW);
        let both = [(DeploySubject::Engine, "datafusion 2.1.0"), (DeploySubject::Engine, "polars 2.1.0")];
        assert_eq!(versions(&seen), both);
        let engines = seen.into_iter().map(|seen| queryscope_store::Deploy::from(seen).engine);
        assert!(engines.into_iter().all(|engine| engine.is_some()));
    }

    #[test]
    fn a_version_may_name_its_engine() {
        for (version, engine) in [
            ("polars 2.1.0", Some("polars")),
            ("spark 3.5.0 (hadoop 3)", Some("spark")),
            ("2.1.0", None),
            ("2.1.0 beta", None),
            ("Version 2", None),
        ] {
            assert_eq!(engine_in(version), engine, "{version}");
        }
    }

    #[test]
    fn a_version_is_noted_once_an_hour_or_where_an_earlier_run_comes() {
        let seen = SeenVersions::default();
        let mut sent = batch(1).finished(1, 2, facts("x")).build();
        sent.process.program_version = Some("1.0".into());
        let report = &mut sent.parts[0].report;
        let finished = report.finished.as_mut().expect("finished");
        (finished.started_unix_ns, finished.engine_version) = (Some(NOW - 500), Some("polars 2.1.0".into()));
        let first = seen.unseen(&sent, NOW);
        let both = [(DeploySubject::Program, "1.0"), (DeploySubject::Engine, "polars 2.1.0")];
        assert_eq!(versions(&first), both);
        assert!(first.iter().all(|one| one.first_unix_ns == NOW - 500));
        assert_eq!(versions(&seen.unseen(&sent, NOW)), both, "its batch was not stored");
        seen.note(first);
        assert_eq!(seen.unseen(&sent, NOW + NOTED_FOR_NS - 1), []);
        assert_eq!(versions(&seen.unseen(&sent, NOW + NOTED_FOR_NS)), both);
        sent.parts[0].report.finished.as_mut().expect("finished").started_unix_ns = Some(NOW - 501);
        assert_eq!(versions(&seen.unseen(&sent, NOW)), both, "an earlier run");
        sent.process.environment = Some("elsewhere".into());
        assert_eq!(versions(&seen.unseen(&sent, NOW)), both);
        sent.process.program_version = Some("a\0b".into());
        assert_eq!(seen.unseen(&sent, NOW).len(), 1, "what no store may hold");
    }
}
