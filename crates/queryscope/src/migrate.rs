//! `queryscope migrate`: moves a data folder into a database that collectors share.
//!
//! What the folder keeps is committed to the database as if its senders sent it again, a query at a time: the database
//! takes what it has not seen. So it can be interrupted and run again, and senders may use the new collectors
//! meanwhile. What is there already is compared, byte for byte (ADR 12).

mod deploys;
mod issues;
mod outbox;
mod people;
mod resend;
mod target;
mod tokens;
mod users;

use anyhow::{Context, Result, anyhow, bail};
use queryscope_protocol::{QueryId, Seq};
use queryscope_recordings::Location;
use queryscope_store::{Kept, Known, SeqRange, StreamBatch, StreamProcess, StreamSeen};

use self::resend::{DAMAGED, Resend};
use self::target::{Target, patiently};
use crate::cli::MigrateArgs;
use crate::data::DataFolder;
use crate::progress::Progress;
use crate::signals::Signals;
use crate::store::{self, Opened};

/// Queries that are looked up at once.
const PAGE: usize = 64;
/// Queries that are counted at once.
const COUNTED_AT_ONCE: usize = 1 << 16;
/// Streams that are read at once.
const STREAMS_PAGE: usize = 1000;
/// Events of no query in one batch.
const LOOSE_MAX: u64 = 1 << 16;

/// What was moved.
#[derive(Debug, Default)]
struct Moved {
    queries: u64,
    streams: u64,
    tokens: usize,
    users: usize,
    issues: usize,
    deploys: usize,
    notes: usize,
    views: usize,
    /// Queries that were there already.
    there: u64,
}

pub(crate) async fn run(args: MigrateArgs) -> Result<()> {
    let data = DataFolder::existing(&args.from)?;
    let Some(_lock) = data.lock()? else {
        bail!("{} is in use by a service: stop it first", data.path().display());
    };
    let mut signals = Signals::listen()?;
    if let Some(place) = &args.recordings {
        apart(&data, place)?;
    }
    let source = store::open_to_read_through(&data)?;
    let target = Target::open(&args.to, args.recordings.as_ref(), &source).await?;
    let mut migration = Migration { source, target, moved: Moved::default() };
    let ended = tokio::select! {
        ended = migration.run(&data) => ended,
        () = signals.first() => Err(anyhow!("interrupted")),
    };
    let Migration { source, target, moved } = migration;
    let closed = target.close().await;
    source.store.close().await?;
    if let Err(error) = ended {
        return Err(error.context("the move is not complete: run it again to go on"));
    }
    let (events, unsealed) = closed?;
    let Moved { queries, streams, tokens, users, issues, deploys, notes, views, there } = moved;
    println!(
        "{queries} queries, {events} events, {streams} streams, {tokens} tokens, {issues} issues moved; \
         {there} queries were there"
    );
    if deploys > 0 {
        println!("{deploys} deploys and versions moved");
    }
    if notes + views > 0 {
        println!("{notes} notes on queries and {views} shared views moved");
    }
    if users > 0 {
        println!("{users} users moved; they log in anew");
    }
    if unsealed > 0 {
        println!("{unsealed} recordings are still to be written from the database, by the collectors");
    }
    Ok(())
}

/// Recordings of the folder stay as they are: the database's are others.
fn apart(data: &DataFolder, place: &Location) -> Result<()> {
    let whole = |place: &Location| match place {
        Location::Folder(folder) => {
            Location::Folder(folder.canonicalize().unwrap_or_else(|_| folder.clone()))
        }
        bucket @ Location::Bucket { .. } => bucket.clone(),
    };
    if whole(&data.location()?) == whole(place) {
        bail!(
            "the recordings of {} lie in {place}: name another place with --recordings",
            data.path().display()
        );
    }
    Ok(())
}

struct Migration {
    source: Opened,
    target: Target,
    moved: Moved,
}

impl Migration {
    async fn run(&mut self, data: &DataFolder) -> Result<()> {
        self.is_sound().await.with_context(|| data.path().display().to_string())?;
        self.moved.tokens = tokens::migrate(data, &self.source.store, &self.target.store).await?;
        self.moved.users = users::migrate(self.source.store.access(), self.target.store.access()).await?;
        self.moved.issues = issues::migrate(&*self.source.audit, &*self.target.audit).await?;
        outbox::migrate(self.source.store.outbox(), self.target.store.outbox()).await?;
        self.moved.deploys =
            deploys::migrate(self.source.store.deploys(), self.target.store.deploys()).await?;
        self.moved.notes =
            people::migrate_notes(self.source.store.notes(), self.target.store.notes()).await?;
        self.moved.views =
            people::migrate_views(self.source.store.views(), self.target.store.views()).await?;
        let mut progress = Progress::new("queries", Some(self.count().await?));
        let mut after = None;
        loop {
            let page = self.source.audit.query_ids(after, PAGE).await?;
            let Some((last, _)) = page.last() else { break };
            after = Some(*last);
            let ids: Vec<QueryId> = page.into_iter().map(|(_, id)| id).collect();
            for (id, there) in ids.iter().zip(self.stored(&ids).await?) {
                self.query(*id, there).await.with_context(|| format!("query {id}"))?;
                progress.add(1);
            }
        }
        // Batches of one wave are committed in any order where the database fails some of them: what marks the rest
        // of a stream as seen must not come before events of its queries.
        self.target.flush().await?;
        self.streams().await?;
        self.target.flush().await?;
        progress.finish();
        Ok(())
    }

    /// How many queries the folder has; an answer from all of them in memory would need room for them.
    async fn count(&self) -> Result<u64> {
        let (mut count, mut after) = (0, None);
        loop {
            let page = self.source.audit.query_ids(after, COUNTED_AT_ONCE).await?;
            let Some((last, _)) = page.last() else { return Ok(count) };
            count += page.len() as u64;
            after = Some(*last);
        }
    }

    async fn is_sound(&self) -> Result<()> {
        let problems = self.source.audit.verify().await?;
        if let Some(first) = problems.first() {
            bail!("{} problems, the first: {first}: mend it with queryscope check --repair", problems.len());
        }
        Ok(())
    }

    /// What the database has of queries.
    async fn stored(&self, ids: &[QueryId]) -> Result<Vec<Option<Kept>>> {
        Ok(patiently(|| self.target.audit.kept(ids)).await?)
    }

    /// Moves a query; `there` is what the database has of it.
    async fn query(&mut self, id: QueryId, there: Option<Kept>) -> Result<()> {
        let store = &self.source.store;
        let Some(parts) = store.recording(id).await.context(DAMAGED)? else { return Ok(()) };
        let account = self.source.audit.account(id).await.context(DAMAGED)?;
        let given = account.map(|account| account.committed - account.lost);
        let lost = account.map_or(0, |account| account.lost);
        // What has finished gets no more events: as many of it are the same.
        let as_here = |there: &Kept| {
            let committed = there.account.map(|account| account.committed);
            there.parts.query == parts.query && committed == given && parts.query.known == Known::Finished
        };
        if given.is_some() && lost == 0 && there.as_ref().is_some_and(as_here) {
            self.moved.there += 1;
            return Ok(());
        }
        let mut resend = Resend::of(&self.source, parts, there.is_none(), lost > 0).await?;
        while let Some(batch) = resend.next().await? {
            self.target.send(batch).await?;
        }
        resend.end(given)?;
        if lost > 0 {
            eprintln!(
                "query {id}: {lost} of its events are lost, as a repair found: it is what the others tell"
            );
        }
        self.moved.queries += 1;
        Ok(())
    }

    /// Marks as seen what no query keeps: now that their queries are moved, all that is left of the streams.
    async fn streams(&mut self) -> Result<()> {
        let mut after = None;
        loop {
            let page = self.source.audit.streams(after, STREAMS_PAGE).await?;
            let Some(last) = page.last() else { return Ok(()) };
            after = Some(last.stream_id);
            for stream in page {
                self.moved.streams += 1;
                let id = stream.stream_id;
                self.stream(stream).await.with_context(|| format!("stream {id}"))?;
            }
        }
    }

    async fn stream(&mut self, stream: StreamSeen) -> Result<()> {
        let process =
            StreamProcess::read(&stream.process_line).context("its process event cannot be read")?;
        let mut slices: Vec<SeqRange> = Vec::new();
        for run in &stream.seen {
            let firsts = (run.first..=run.last).step_by(LOOSE_MAX as usize);
            slices.extend(firsts.map(|first| SeqRange { first, last: run.last.min(first + LOOSE_MAX - 1) }));
        }
        // A stream that sent nothing else is one, too.
        slices.extend(stream.seen.is_empty().then_some(SeqRange { first: 1, last: 0 }));
        for slice in slices {
            let loose: Result<Vec<Seq>, _> = (slice.first..=slice.last).map(Seq::new).collect();
            self.target
                .send(StreamBatch {
                    project: stream.project.clone(),
                    process: process.clone(),
                    received_unix_ms: 0,
                    parts: Vec::new(),
                    loose: loose.map_err(|error| anyhow!("{error}"))?,
                })
                .await?;
        }
        let losses = self.source.audit.losses(stream.stream_id).await?;
        if !losses.is_empty() {
            patiently(|| self.target.audit.record_losses(losses.clone())).await?;
        }
        Ok(())
    }
}
