//! One reader of `/api/live/{id}`: what is stored first, then what is committed.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use bytes::Bytes;
use queryscope_protocol::QueryId;
use queryscope_recordings::RecordingError;
use queryscope_store::{Query, RecordingParts, Status};
use tokio::sync::{mpsc, oneshot};

use super::Command;
use super::board::summary;
use super::history::{History, Step};
use super::message::{COMMENT, write};
use super::subscriber::{Cut, Presence, Subscriber};
use super::topic::Update;
use super::topic::text::Mark;
use crate::app::App;
use crate::error::ApiError;
use crate::read::unreadable;

/// Gives a reader its messages, each event once and none left out.
///
/// It first subscribes at the hub and then reads what is stored, so every event is in one of both; which chunks
/// are in both it knows by their ids. Where it cannot tell, it looks again what is stored: if the number of
/// events up to the highest it has sent is that of the events it has sent, it goes on behind them, else it begins
/// anew.
pub(super) struct Reader {
    app: Arc<App>,
    id: QueryId,
    cut: Cut,
    mark: Mark,
    waiting: Option<mpsc::Receiver<Update>>,
    stage: Stage,
    ready: VecDeque<Bytes>,
    /// Chunks that were stored when the history was read, until one comes that was not.
    known: HashSet<i64>,
    /// The highest seq of the history.
    floor: u64,
    _presence: Presence,
}

enum Stage {
    /// Look what is stored.
    Look,
    History(Box<History>, Option<Box<Query>>),
    Live,
    Over,
}

impl Reader {
    /// # Errors
    /// 503 when there are as many live readers as may be.
    pub(super) fn new(app: &Arc<App>, id: QueryId, mark: Mark, cut: Cut) -> Result<Self, ApiError> {
        Ok(Self {
            app: Arc::clone(app),
            id,
            cut,
            mark,
            waiting: None,
            stage: Stage::Look,
            ready: VecDeque::new(),
            known: HashSet::new(),
            floor: 0,
            _presence: Presence::new(app)?,
        })
    }

    /// The next message; `None` at the end of the stream.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, ApiError> {
        loop {
            if self.app.live.stopped.is_cancelled() {
                return Ok(None);
            }
            if let Some(message) = self.ready.pop_front() {
                return Ok(Some(message));
            }
            match &mut self.stage {
                Stage::Look => self.look().await?,
                Stage::History(..) => self.read_on().await?,
                Stage::Live => self.hear().await?,
                Stage::Over => return Ok(None),
            }
        }
    }

    /// The first message, waited for no longer than what is stored takes to read; a comment when it must come from
    /// later commits, `None` when there is nothing more to say.
    pub(super) async fn first(&mut self) -> Result<Option<Bytes>, ApiError> {
        loop {
            match &self.stage {
                Stage::Live if self.ready.is_empty() => return Ok(Some(COMMENT)),
                Stage::Look if self.ready.is_empty() => self.look().await?,
                Stage::History(..) if self.ready.is_empty() => self.read_on().await?,
                _ => return Ok(self.ready.pop_front()),
            }
        }
    }

    async fn look(&mut self) -> Result<(), ApiError> {
        let Some(mut parts) = self.parts().await? else { return Ok(()) };
        if parts.query.status == Status::Running && self.waiting.is_none() {
            let (subscriber, waiting) = Subscriber::new(self.cut.clone());
            let (subscribed, answer) = oneshot::channel();
            self.app.live.ask(Command::One { query_id: self.id, subscriber, subscribed }, answer).await?;
            self.waiting = Some(waiting);
            match self.parts().await? {
                Some(later) => parts = later,
                None => return Ok(()),
            }
        }
        let ended = (parts.query.status != Status::Running).then(|| Box::new(parts.query.clone()));
        self.known = parts.chunks.iter().map(|chunk| chunk.id).collect();
        match self.app.recordings.read(&self.app.store, parts).await {
            Ok(content) => {
                let history = History::new(self.id, content, self.mark);
                self.stage = Stage::History(Box::new(history), ended);
            }
            Err(error) => self.unreadable(error)?,
        }
        Ok(())
    }

    /// Where the events are; ends the stream when there is no such query any more.
    async fn parts(&mut self) -> Result<Option<RecordingParts>, ApiError> {
        let parts = self.app.store.recording(self.id).await?;
        if parts.is_none() {
            self.stage = Stage::Over;
        }
        Ok(parts)
    }

    async fn read_on(&mut self) -> Result<(), ApiError> {
        let Stage::History(history, ended) = &mut self.stage else { return Ok(()) };
        match history.next().await {
            Ok(Step::Events(piece)) => {
                self.mark = self.mark.after(&piece);
                self.ready.push_back(piece.message(self.mark));
            }
            Ok(Step::Mismatch) => {
                self.mark = Mark::begin(self.id);
                self.stage = Stage::Look;
            }
            Ok(Step::End) => {
                self.floor = self.mark.highest;
                match ended.take() {
                    Some(query) => self.finish(*query),
                    None => self.stage = Stage::Live,
                }
            }
            Err(error) => self.unreadable(error)?,
        }
        Ok(())
    }

    async fn hear(&mut self) -> Result<(), ApiError> {
        let update = match &mut self.waiting {
            Some(waiting) => waiting.recv().await,
            None => None,
        };
        let (chunk, ended) = match update {
            None => {
                self.stage = Stage::Over;
                return Ok(());
            }
            Some(Update::Comment) => {
                self.ready.push_back(COMMENT);
                return Ok(());
            }
            Some(Update::Lost) => {
                self.stage = Stage::Look;
                return Ok(());
            }
            Some(Update::Changed { chunk, ended }) => (chunk, ended),
        };
        if let Some(chunk) = chunk.filter(|chunk| !self.known.contains(&chunk.info.id)) {
            // Commits come in their order: all that was known has been heard.
            self.known = HashSet::new();
            // What is not behind the history may be among it.
            let behind = chunk.info.first.get() > self.floor;
            let pieces = if behind { chunk.pieces(&*self.app.store).await? } else { None };
            let Some(pieces) = pieces else {
                self.stage = Stage::Look;
                return Ok(());
            };
            for piece in pieces.iter() {
                self.mark = self.mark.after(piece);
                self.ready.push_back(piece.message(self.mark));
            }
        }
        if ended
            && let Some(query) = self.app.store.query(self.id).await?
            && query.status != Status::Running
        {
            self.finish(query);
        }
        Ok(())
    }

    /// Tells the end, unless the reader knew it when it came.
    fn finish(&mut self, query: Query) {
        self.stage = Stage::Over;
        if !self.mark.ended {
            self.mark.ended = true;
            let mut text = String::new();
            write(&mut text, self.mark, "finished", &summary(query));
            self.ready.push_back(text.into());
        }
    }

    fn unreadable(&mut self, error: RecordingError) -> Result<(), ApiError> {
        self.stage = Stage::Over;
        match error {
            RecordingError::Gone => Ok(()),
            other => Err(unreadable(&self.app, self.id, other)),
        }
    }
}
