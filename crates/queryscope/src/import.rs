//! `queryscope import`.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail};
use queryscope_collector::{ApiError, Collector, Settings, SystemClock};
use queryscope_protocol::QueryId;
use queryscope_store::{Name, Store};

use crate::cli::ImportArgs;
use crate::data::{DataFolder, Lock};
use crate::events_file::EventsFile;
use crate::lines::Lines;
use crate::post::{Answer, Poster, Refused};
use crate::profiles_file::{ProfileBatch, ProfilesFile};
use crate::progress::Progress;
use crate::signals::Signals;
use crate::store;
use crate::token::TemporaryToken;

pub(crate) async fn run(args: ImportArgs) -> Result<()> {
    let data = DataFolder::create(&args.data.data)?;
    let mut signals = Signals::listen()?;
    let target = Target::open(&data, args.project).await?;
    let mut progress = Progress::new("events", None);
    let mut total = Answer { accepted: 0, duplicates: 0 };
    let mut result = Ok(());
    for path in &args.files {
        let imported = tokio::select! {
            imported = import(path, &target, &mut progress, &mut total) => imported,
            () = signals.first() => Err(anyhow!("interrupted")),
        };
        result = imported.with_context(|| format!("{} (what comes before it is stored)", path.display()));
        if result.is_err() {
            break;
        }
    }
    progress.finish();
    target.close().await?;
    println!("{} events stored, {} had been stored before", total.accepted, total.duplicates);
    result
}

async fn import(path: &Path, target: &Target, progress: &mut Progress, total: &mut Answer) -> Result<()> {
    let mut lines = Lines::open(path)?;
    if lines.is_empty() {
        bail!("it is empty");
    }
    let is_profiles = ProfilesFile::is_begun_by(lines.peek_first()?);
    let mut stored = |answer: Answer| {
        progress.add(answer.accepted + answer.duplicates);
        total.accepted += answer.accepted;
        total.duplicates += answer.duplicates;
    };
    let is_cut = if is_profiles {
        import_profiles(ProfilesFile::new(lines), target, &mut stored).await?
    } else {
        import_events(EventsFile::new(lines), target, &mut stored).await?
    };
    if is_cut {
        eprintln!("{}: the last line is cut off and was left out", path.display());
    }
    Ok(())
}

/// Stores the events of a file; whether its last line was cut off.
async fn import_events(
    mut file: EventsFile,
    target: &Target,
    stored: &mut impl FnMut(Answer),
) -> Result<bool> {
    while let Some(batch) = file.next_batch()? {
        let error = match target.store(batch.text.clone()).await {
            Ok(answer) => {
                stored(answer);
                continue;
            }
            Err(error) => error,
        };
        let Some((at, line)) = refused_line(&error).and_then(|at| Some((at, *batch.lines.get(at)?))) else {
            return Err(error);
        };
        // A batch is refused whole: what comes before the line is a batch of its own.
        stored(target.store(batch.before(at).text).await?);
        bail!("line {line}: {}", reason(&error));
    }
    Ok(file.is_cut())
}

/// Stores the profiles of a file; whether its last line was cut off.
async fn import_profiles(
    mut file: ProfilesFile,
    target: &Target,
    stored: &mut impl FnMut(Answer),
) -> Result<bool> {
    while let Some(ProfileBatch { query, batch }) = file.next_profile()? {
        match target.store(batch.text).await {
            Ok(answer) => stored(answer),
            Err(error) if refused_line(&error).is_none() => return Err(error),
            // Its process has sent it as events, which say more than the profile.
            Err(_) if target.has(query).await? => stored(Answer { accepted: 0, duplicates: 1 }),
            Err(error) => bail!("line {}: {}", batch.lines[1], reason(&error)),
        }
    }
    Ok(file.is_cut())
}

/// Where batches go: into the folder, or to the service that has it.
enum Target {
    Folder { collector: Collector, store: Arc<dyn Store>, project: Name, _lock: Lock },
    Service { poster: Poster, token: TemporaryToken },
}

impl Target {
    async fn open(data: &DataFolder, project: Name) -> Result<Self> {
        if let Some(lock) = data.lock()? {
            let opened = store::open(data)?;
            let (clock, store) = (Arc::new(SystemClock::new()), Arc::clone(&opened.store));
            let collector =
                Collector::start(opened.store, opened.recordings, clock, opened.commits, Settings::default())
                    .await?;
            Ok(Self::Folder { collector, store, project, _lock: lock })
        } else {
            let token = TemporaryToken::make(data, "import", project).await?;
            Ok(Self::Service { poster: Poster::new(&data.address()?, token.text()).importing(), token })
        }
    }

    async fn store(&self, batch: Vec<u8>) -> Result<Answer> {
        match self {
            Self::Folder { collector, project, .. } => {
                let stored = collector.import(&project.to_string(), batch).await?;
                Ok(Answer { accepted: stored.accepted, duplicates: stored.duplicates })
            }
            Self::Service { poster, .. } => poster.post_async(batch).await,
        }
    }

    /// Whether a query is stored.
    async fn has(&self, query: QueryId) -> Result<bool> {
        match self {
            Self::Folder { store, .. } => Ok(store.query(query).await?.is_some()),
            Self::Service { poster, .. } => poster.has_query(query).await,
        }
    }

    async fn close(self) -> Result<()> {
        match self {
            Self::Folder { collector, .. } => Ok(collector.close().await?),
            Self::Service { token, .. } => token.revoke().await,
        }
    }
}

/// The line of a batch that was refused, counted from 0.
fn refused_line(error: &anyhow::Error) -> Option<usize> {
    let line = match error.downcast_ref::<ApiError>() {
        Some(refused) => refused.line(),
        None => error.downcast_ref::<Refused>().and_then(|refused| refused.line),
    };
    line?.checked_sub(1)
}

/// What is wrong, without the line of the batch.
fn reason(error: &anyhow::Error) -> String {
    match error.downcast_ref::<ApiError>() {
        Some(refused) => refused.reason().to_owned(),
        None => error.to_string(),
    }
}
