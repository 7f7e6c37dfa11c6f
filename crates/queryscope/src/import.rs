//! `queryscope import`.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail};
use queryscope_collector::{ApiError, Collector, Settings, SystemClock};
use queryscope_store::Name;

use crate::cli::ImportArgs;
use crate::data::{DataFolder, Lock};
use crate::events_file::EventsFile;
use crate::post::{Answer, Poster, Refused};
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
    let mut file = EventsFile::open(path)?;
    if file.is_empty() {
        bail!("it is empty");
    }
    let mut store = async |text: Vec<u8>| -> Result<()> {
        let answer = target.store(text).await?;
        progress.add(answer.accepted + answer.duplicates);
        total.accepted += answer.accepted;
        total.duplicates += answer.duplicates;
        Ok(())
    };
    while let Some(batch) = file.next_batch()? {
        let Err(error) = store(batch.text.clone()).await else { continue };
        let Some((at, line)) = refused_line(&error).and_then(|at| Some((at, *batch.lines.get(at)?))) else {
            return Err(error);
        };
        // A batch is refused whole: what comes before the line is a batch of its own.
        store(batch.before(at).text).await?;
        bail!("line {line}: {}", reason(&error));
    }
    if file.is_cut() {
        eprintln!("{}: the last line is cut off and was left out", path.display());
    }
    Ok(())
}

/// Where batches go: into the folder, or to the service that has it.
enum Target {
    Folder { collector: Collector, project: Name, _lock: Lock },
    Service { poster: Poster, token: TemporaryToken },
}

impl Target {
    async fn open(data: &DataFolder, project: Name) -> Result<Self> {
        if let Some(lock) = data.lock()? {
            let opened = store::open(data)?;
            let clock = Arc::new(SystemClock::new());
            let collector =
                Collector::start(opened.store, opened.recordings, clock, opened.commits, Settings::default())
                    .await?;
            Ok(Self::Folder { collector, project, _lock: lock })
        } else {
            let token = TemporaryToken::make(data, "import", project).await?;
            Ok(Self::Service { poster: Poster::new(&data.address()?, token.text()), token })
        }
    }

    async fn store(&self, batch: Vec<u8>) -> Result<Answer> {
        match self {
            Self::Folder { collector, project, .. } => {
                let stored = collector.ingest(&project.to_string(), batch).await?;
                Ok(Answer { accepted: stored.accepted, duplicates: stored.duplicates })
            }
            Self::Service { poster, .. } => poster.post_async(batch).await,
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
