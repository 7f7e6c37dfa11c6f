//! The hub: the one task that owns the live state.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt, stream};
use queryscope_protocol::QueryId;
use queryscope_store::{Change, ChunkInfo, Commits, Heard, Query, Status, StoreError};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::board::{Board, Opening};
use super::journal::Place;
use super::load;
use super::message::Sent;
use super::progress::Progress;
use super::seat::{Seat, Seats};
use super::topic::{Topics, Update};
use super::{Command, Live};
use crate::app::App;

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
        all: Seats::default(),
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
    all: Seats<Sent>,
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
            Step::Heard(Some(Heard::Changes(changes))) => {
                let mut lost = false;
                let mut taken = vec![changes];
                while taken.len() < TAKEN_MAX
                    && let Some(heard) = self.commits.as_mut().and_then(Commits::try_next)
                {
                    match heard {
                        Heard::Changes(changes) => taken.push(changes),
                        Heard::Lost => lost = true,
                    }
                }
                for changes in &taken {
                    self.topics.tell(&self.app, changes);
                }
                if lost {
                    self.lost().await;
                } else {
                    self.apply(taken.iter().flat_map(|changes| changes.iter())).await;
                }
            }
            Step::Heard(Some(Heard::Lost)) => self.lost().await,
            Step::Heard(None) => self.commits = None,
            Step::Asked(None) => {}
            Step::Asked(Some(command)) => {
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
            Command::One { query_id, seat, seated } => {
                self.follow();
                self.topics.add(query_id, seat);
                // Who asked may have gone; it is swept out.
                let _ = seated.send(());
            }
            Command::All { resume, seat, opening } => self.let_in(resume, seat, opening).await,
        }
    }

    async fn let_in(&mut self, resume: Option<Place>, seat: Seat<Sent>, opening: oneshot::Sender<Opening>) {
        if self.board.is_none() {
            self.follow();
            self.load().await;
        }
        // What was said before goes to those who were there before.
        self.flush();
        if let Some(board) = &mut self.board
            && opening.send(board.open(resume)).is_ok()
        {
            self.all.add(seat);
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

    /// Commits were lost: everything is read again and every reader told anew.
    async fn lost(&mut self) {
        tracing::info!("the live streams fell behind and begin anew from the store");
        self.app.metrics.live_lost.inc();
        self.topics.tell_all(&self.app, &Update::Lost);
        if self.board.take().is_some() {
            self.load().await;
            match &mut self.board {
                Some(board) => self.all.send(&self.app, &Sent::Snapshot(board.shown())),
                // Streams end, and their readers come back.
                None => self.all = Seats::default(),
            }
        }
    }

    /// Reads the state from the store while commits go on; leaves no board when that fails.
    async fn load(&mut self) {
        for _ in 0..LOADS_MAX {
            match self.try_load().await {
                Ok(Some(waiting)) => {
                    self.apply(waiting.iter()).await;
                    return;
                }
                Ok(None) => {}
                Err(error) => {
                    self.app.watch(&error);
                    let error = &error as &dyn std::error::Error;
                    tracing::warn!(error, "the running queries cannot be read");
                    return;
                }
            }
        }
        tracing::warn!("the running queries change faster than they can be read");
        self.board = None;
    }

    /// Reads the state once; gives back what changed meanwhile, or `None` when some of that was lost.
    async fn try_load(&mut self) -> Result<Option<Vec<Change>>, StoreError> {
        let mut waiting = Vec::new();
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
        let epoch = Uuid::new_v4().as_u128() as u32;
        self.board = Some(Board::new(epoch, queries, Instant::now()));
        Ok((!lost).then_some(waiting))
    }

    /// Moves the board on. Reads of the store that fail leave queries out until they change again.
    async fn apply(&mut self, changes: impl Iterator<Item = &Change>) {
        let Some(board) = &self.board else { return };
        let changes: Vec<&Change> = changes.collect();
        let read = read_moved(&self.app, board, &changes).await;
        let (mut queries, mut back) = read.unwrap_or_else(|error| self.unread(&error));
        let Some(board) = &self.board else { return };
        let mut runs: Vec<ChunkInfo> = Vec::new();
        let follows = |change: &Change| {
            change.status == Status::Running
                && (change.new.is_some()
                    || queries.contains_key(&change.query_id)
                    || board.is_running(change.query_id))
        };
        runs.extend(changes.iter().filter(|change| follows(change)).filter_map(|change| change.chunk));
        let reports = load::read(&*self.app.store, &runs).await.unwrap_or_else(|error| self.unread(&error));
        let mut reports: HashMap<i64, _> = runs.iter().map(|chunk| chunk.id).zip(reports).collect();
        let readers = self.all.len();
        let now = Instant::now();
        let Some(board) = &mut self.board else { return };
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
    }

    fn unread<T: Default>(&self, error: &StoreError) -> T {
        self.app.watch(error);
        tracing::warn!(error = error as &dyn std::error::Error, "what changed cannot be read");
        T::default()
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
