//! The hub: the one task that owns the live state.
//!
//! Problem: thousands of readers follow the same runs, and ingest must not wait for any of them.
//!
//! Mechanism: the hub follows the change feed of the store, keeps the state of the running runs (`board.rs`), builds
//! each message once, and puts it into the bounded queue of each subscriber. A subscriber without room is cut off.
//! While nobody reads, the hub follows nothing. ADR 7 has the reasons.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt, stream};
use queryscope_issues::Issue;
use queryscope_protocol::QueryId;
use queryscope_store::{Change, ChunkInfo, Commits, Heard, Query, Status, StoreError, StoredChange};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::board::{Board, Opening};
use super::journal::Place;
use super::load;
use super::message::Sent;
use super::progress::Progress;
use super::subscriber::{Subscriber, Subscribers};
use super::topic::{Topics, Update};
use super::{Command, Live};
use crate::app::App;
use crate::evaluation;

/// How often every reader gets a comment.
const COMMENT_EVERY: Duration = Duration::from_secs(15);
/// How long the state is kept after the last reader has left, for one that comes back.
const LINGER: Duration = Duration::from_secs(30);
/// How long streams may take to end when the service stops; then their connections are closed.
const END_WAIT: Duration = Duration::from_millis(500);
/// Commits that are taken together.
const TAKEN_MAX: usize = 64;
/// Changes that may wait while the state is read from the store; beyond it, it is read again.
const WAITING_MAX: usize = 64 << 10;
/// Queries that are read at the same time.
const READS_AT_ONCE: usize = 4;
/// Ends that may be known before their commit is heard.
const EARLY_MAX: usize = 4096;
/// How often reading the state is begun anew because commits were lost meanwhile.
const LOADS_MAX: usize = 5;

/// Serves readers of the live streams until `stop` is cancelled.
pub(crate) async fn run(app: Arc<App>, stop: CancellationToken) {
    let Some(mut inbox) = app.live.take_inbox() else { return };
    let mut hub = Hub {
        app: Arc::clone(&app),
        commits: None,
        board: None,
        all: Subscribers::default(),
        topics: Topics::default(),
        early: HashSet::new(),
        alone_since: None,
    };
    let mut comment = tokio::time::interval_at(Instant::now() + COMMENT_EVERY, COMMENT_EVERY);
    loop {
        let step = tokio::select! {
            () = stop.cancelled() => break,
            () = at(hub.due()) => Step::Flush,
            heard = heard(&mut hub.commits) => Step::Heard(heard),
            command = inbox.recv() => Step::Asked(command),
            () = app.live.left.notified() => Step::Left,
            _ = comment.tick() => Step::Comment,
        };
        tokio::select! {
            () = stop.cancelled() => break,
            () = hub.take(step, &mut inbox) => {}
        }
    }
    inbox.close();
    hub.end(&app.live).await;
}

enum Step {
    Flush,
    Heard(Option<Heard>),
    Asked(Option<Command>),
    Left,
    Comment,
}

struct Hub {
    app: Arc<App>,
    /// Followed while there are readers.
    commits: Option<Commits>,
    /// Kept while there are readers of all queries, and for a while after.
    board: Option<Board>,
    all: Subscribers<Sent>,
    topics: Topics,
    /// Ends that were told before their commit was heard, because a read had found them already.
    early: HashSet<(QueryId, Status)>,
    /// Since when the board has had no reader.
    alone_since: Option<Instant>,
}

impl Hub {
    fn due(&self) -> Option<Instant> {
        let alone = self.alone_since.map(|since| since + LINGER);
        let flush = self.board.as_ref().and_then(Board::due);
        alone.into_iter().chain(flush).min()
    }

    async fn take(&mut self, step: Step, inbox: &mut mpsc::Receiver<Command>) {
        match step {
            Step::Flush => self.flush(),
            Step::Heard(Some(heard)) => self.hear(heard).await,
            Step::Heard(None) => self.commits = None,
            Step::Asked(None) => {}
            Step::Asked(Some(command)) => {
                // A snapshot holds what was acknowledged before it was asked for.
                if let Some(heard) = self.commits.as_mut().and_then(Commits::try_next) {
                    self.hear(heard).await;
                }
                self.asked(command).await;
                while let Ok(command) = inbox.try_recv() {
                    self.asked(command).await;
                }
            }
            Step::Left => {
                self.all.sweep();
                self.topics.sweep();
            }
            Step::Comment => {
                self.all.send(&self.app, &Sent::Comment);
                self.topics.tell_all(&self.app, &Update::Comment);
            }
        }
        self.rest();
    }

    /// Takes up what was heard, and what else is there to be heard. Readers of single runs are told in that order.
    async fn hear(&mut self, heard: Heard) {
        let (mut taken, mut found, mut issues, mut lost) = (Vec::new(), Vec::new(), Vec::new(), false);
        let mut next = Some(heard);
        while let Some(heard) = next {
            match heard {
                Heard::Changes(changes) => {
                    self.topics.tell(&self.app, &changes);
                    taken.push(changes);
                }
                Heard::Found(changes) => found.push(changes),
                Heard::Issues(moved) => issues.push(moved),
                Heard::Lost => {
                    self.topics.tell_all(&self.app, &Update::Lost);
                    lost = true;
                }
            }
            let is_full = taken.len() + found.len() + issues.len() >= TAKEN_MAX;
            next = if is_full { None } else { self.commits.as_mut().and_then(Commits::try_next) };
        }
        if lost {
            self.lost().await;
        } else {
            let applied = self.apply(taken.iter().flat_map(|changes| changes.iter())).await;
            if let Err(error) = applied {
                self.unreadable(&error, "what changed cannot be read");
                self.lost().await;
            }
        }
        for found in &found {
            self.found(found);
        }
        for issues in &issues {
            self.moved(issues);
        }
    }

    /// Lets go of what nobody needs.
    fn rest(&mut self) {
        if !self.all.is_empty() {
            self.alone_since = None;
        } else if self.board.is_some() {
            let since = *self.alone_since.get_or_insert_with(Instant::now);
            if since.elapsed() >= LINGER {
                self.board = None;
                self.early.clear();
                self.alone_since = None;
            }
        }
        if self.board.is_none() && self.topics.is_empty() {
            self.commits = None;
        }
    }

    async fn asked(&mut self, command: Command) {
        match command {
            Command::One { query_id, subscriber, subscribed } => {
                self.follow();
                self.topics.add(query_id, subscriber);
                // The subscriber may have gone; it is swept out.
                let _ = subscribed.send(());
            }
            Command::All { resume, subscriber, opening } => self.let_in(resume, subscriber, opening).await,
        }
    }

    /// Tells readers of changes of queries.
    fn found(&mut self, found: &[StoredChange]) {
        let Some(board) = &mut self.board else { return };
        for stored in found {
            match evaluation::change(stored) {
                Ok(change) => board.found(&change, self.all.len()),
                Err(error) => {
                    let error = &error as &dyn std::error::Error;
                    tracing::warn!(error, id = stored.id, "a change cannot be read");
                }
            }
        }
    }

    /// Tells readers of issues.
    fn moved(&mut self, issues: &[Issue]) {
        let Some(board) = &mut self.board else { return };
        for issue in issues {
            board.moved(&self.app.own(issue.clone()), self.all.len());
        }
    }

    async fn let_in(
        &mut self,
        resume: Option<Place>,
        subscriber: Subscriber<Sent>,
        opening: oneshot::Sender<Opening>,
    ) {
        if self.board.is_none() {
            self.follow();
            self.load().await;
        }
        // What was said before goes to those who were there before.
        self.flush();
        if let Some(board) = &mut self.board
            && opening.send(board.open(resume)).is_ok()
        {
            self.all.add(subscriber);
            self.alone_since = None;
        }
    }

    fn follow(&mut self) {
        self.commits.get_or_insert_with(|| self.app.store.commits());
    }

    fn flush(&mut self) {
        if let Some(board) = &mut self.board {
            if let Some(flush) = board.flush(Instant::now()) {
                self.all.send(&self.app, &Sent::Messages(flush));
            }
            self.app.metrics.live_omitted.inc_by(board.take_omitted());
        }
    }

    /// Commits were lost, or could not be read: everything is read again, and every reader of all runs gets a snapshot.
    /// Where that fails, their streams end.
    async fn lost(&mut self) {
        tracing::info!("the live streams fell behind and begin anew from the store");
        self.app.metrics.live_lost.inc();
        if self.board.take().is_some() {
            self.load().await;
            match &mut self.board {
                Some(board) => self.all.send(&self.app, &Sent::Snapshot(board.shown())),
                // Streams end, and their readers come back.
                None => self.all = Subscribers::default(),
            }
        }
    }

    /// Reads the state from the store while commits go on; leaves no board when that fails.
    async fn load(&mut self) {
        for _ in 0..LOADS_MAX {
            let loaded = match self.try_load().await {
                Ok(Some(waiting)) => self.apply(waiting.iter()).await,
                Ok(None) => continue,
                Err(error) => Err(error),
            };
            if let Err(error) = loaded {
                self.unreadable(&error, "the running queries cannot be read");
                self.board = None;
            }
            return;
        }
        tracing::warn!("the running runs change faster than they can be read");
        self.board = None;
    }

    /// Reads the state once; gives back what changed meanwhile, or `None` when some of that was lost.
    async fn try_load(&mut self) -> Result<Option<Vec<Change>>, StoreError> {
        let mut waiting = Vec::new();
        let (mut found, mut issues) = (Vec::new(), Vec::new());
        let mut lost = false;
        let loading = load::running(Arc::clone(&self.app.store));
        tokio::pin!(loading);
        let queries = loop {
            tokio::select! {
                queries = &mut loading => break queries?,
                heard = heard(&mut self.commits) => match heard {
                    Some(Heard::Changes(changes)) => {
                        self.topics.tell(&self.app, &changes);
                        let seen = |change: &&Change| change.new.is_none() || change.status == Status::Running;
                        waiting.extend(changes.iter().filter(seen).cloned());
                        lost |= waiting.len() > WAITING_MAX;
                    }
                    Some(Heard::Found(changes)) => found.push(changes),
                    Some(Heard::Issues(moved)) => issues.push(moved),
                    Some(Heard::Lost) => {
                        self.topics.tell_all(&self.app, &Update::Lost);
                        lost = true;
                    }
                    None => self.commits = None,
                },
            }
            if lost {
                waiting.clear();
            }
        };
        let epoch = queryscope_store::random_id().as_u128() as u32;
        self.board = Some(Board::new(epoch, queries, Instant::now()));
        for found in &found {
            self.found(found);
        }
        for issues in &issues {
            self.moved(issues);
        }
        Ok((!lost).then_some(waiting))
    }

    /// Moves the board on. Nothing has moved when the store cannot be read.
    async fn apply(&mut self, changes: impl Iterator<Item = &Change>) -> Result<(), StoreError> {
        let Some(board) = &self.board else { return Ok(()) };
        let changes: Vec<&Change> = changes.collect();
        let (mut queries, mut back) = read_moved(&self.app, board, &changes).await?;
        let mut runs: Vec<ChunkInfo> = Vec::new();
        let follows = |change: &Change| {
            change.status == Status::Running
                && (change.new.is_some()
                    || queries.contains_key(&change.query_id)
                    || board.is_running(change.query_id))
        };
        runs.extend(changes.iter().filter(|change| follows(change)).filter_map(|change| change.chunk));
        let reports = load::read(&*self.app.store, &runs).await?;
        let mut reports: HashMap<i64, _> = runs.iter().map(|chunk| chunk.id).zip(reports).collect();
        let readers = self.all.len();
        let now = Instant::now();
        let Some(board) = &mut self.board else { return Ok(()) };
        for change in changes {
            let id = change.query_id;
            match (&change.new, change.status) {
                (Some(query), Status::Running) if !board.is_running(id) => {
                    board.runs((**query).clone(), Progress::default(), readers);
                }
                (Some(_), Status::Running) => {}
                (Some(query), _) => board.ended_unseen((**query).clone(), now, readers),
                (None, status) if change.moved => {
                    let told = self.early.remove(&(id, status));
                    // One read answers all changes of a query that were heard together.
                    let Some(query) = queries.remove(&id).filter(|_| !told) else { continue };
                    if query.status != status && self.early.len() < EARLY_MAX {
                        self.early.insert((id, query.status));
                    }
                    if query.status == Status::Running {
                        board.runs(query, back.remove(&id).unwrap_or_default(), readers);
                    } else {
                        board.ended(query, readers);
                    }
                }
                (None, _) => {}
            }
            if let Some(reports) = change.chunk.and_then(|chunk| reports.remove(&chunk.id)) {
                board.reported(id, &reports, readers);
            }
        }
        Ok(())
    }

    fn unreadable(&self, error: &StoreError, what: &str) {
        self.app.watch(error);
        tracing::warn!(error = error as &dyn std::error::Error, "{what}");
    }

    /// Ends all streams; connections that take no more are closed.
    async fn end(self, live: &Live) {
        live.stopped.cancel();
        let mut cuts = self.all.close();
        cuts.extend(self.topics.close());
        if !cuts.is_empty() {
            tokio::time::sleep(END_WAIT).await;
        }
        for cut in cuts {
            cut.0.cancel();
        }
    }
}

type Read = (HashMap<QueryId, Query>, HashMap<QueryId, Progress>);

/// Reads the queries that moved, and how far those were before that run and are not on the board.
async fn read_moved(app: &App, board: &Board, changes: &[&Change]) -> Result<Read, StoreError> {
    let moved = changes.iter().filter(|change| change.moved && change.new.is_none());
    let mut ids: Vec<QueryId> = moved.map(|change| change.query_id).collect();
    ids.sort_unstable();
    ids.dedup();
    if ids.is_empty() {
        return Ok(Read::default());
    }
    let news = &changes.iter().filter_map(|change| Some(change.chunk?.id)).collect();
    let read = |id| async move {
        let Some(query) = app.store.query(id).await? else { return Ok(None) };
        let back = query.status == Status::Running && !board.is_running(id);
        let progress = if back { Some(load::progress(&*app.store, id, news).await?) } else { None };
        Ok::<_, StoreError>(Some((query, progress)))
    };
    let read: Vec<_> = stream::iter(ids).map(read).buffered(READS_AT_ONCE).try_collect().await?;
    let mut all = Read::default();
    for (query, progress) in read.into_iter().flatten() {
        if let Some(progress) = progress {
            all.1.insert(query.query_id, progress);
        }
        all.0.insert(query.query_id, query);
    }
    Ok(all)
}

async fn heard(commits: &mut Option<Commits>) -> Option<Heard> {
    match commits {
        Some(commits) => commits.next().await,
        None => std::future::pending().await,
    }
}

async fn at(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due).await,
        None => std::future::pending().await,
    }
}
