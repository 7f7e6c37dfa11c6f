//! Bounds on answers over many runs.
//!
//! Three things are bounded:
//! - the analyses that wait for their turn, since each takes the cores for a while: one of a kind at a time, and a
//!   few that wait;
//! - the bytes of answers that have been made and are not yet read;
//! - a reader that takes nothing: where another answer needs its memory, the reader that has been stalled the
//!   longest is disconnected. So readers who do not read cannot keep others from reading.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};
use queryscope_store::StoreError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::AbortHandle;

use crate::error::ApiError;
use crate::ingest::{Budget, Share};
use crate::live::Cut;

/// Whole answers that wait: each may take a second, and their readers are better told to come back.
const WHOLE_WAITING_MAX: usize = 8;
/// A reader that has taken nothing for so long may be disconnected.
const STALLED_AFTER: Duration = Duration::from_secs(1);
/// How long the memory of disconnected readers is waited for.
const FREED_WITHIN: Duration = Duration::from_secs(1);

/// What answers over many queries may take.
#[derive(Debug)]
pub(crate) struct Answers {
    /// The overview and groups, of all labels and without a limit.
    pub(crate) whole: Lane,
    /// The overview and groups of one label, or with a limit.
    pub(crate) parts: Lane,
    /// Facets and versions.
    pub(crate) counts: Lane,
    budget: Budget,
    total: usize,
    readers: Mutex<Vec<Weak<State>>>,
}

/// Analyses of one kind: one at a time, so that their memory is one answer's, and each kind beside the others, so
/// that a long one does not keep a short one waiting.
#[derive(Debug)]
pub(crate) struct Lane {
    /// The one at work, and those that wait.
    places: Arc<Semaphore>,
    turn: Arc<Semaphore>,
}

/// The turn of an analysis, until it is dropped.
#[derive(Debug)]
pub(crate) struct Turn {
    _turn: OwnedSemaphorePermit,
    _place: OwnedSemaphorePermit,
}

impl Lane {
    fn new(waiting_max: usize) -> Self {
        let places = Arc::new(Semaphore::new(waiting_max.saturating_add(1)));
        Self { places, turn: Arc::new(Semaphore::new(1)) }
    }

    /// Does an analysis when it is its turn. Once begun it goes on to its end, also where its reader leaves: a thread
    /// that reads columns cannot be stopped, and the next one must not begin beside it. The turn is given back with
    /// what was found: it ends once that is counted.
    ///
    /// # Errors
    /// 503 when too many wait; those of the analysis.
    pub(crate) async fn analyse<T: Send + 'static>(
        &self,
        analysis: impl Future<Output = Result<T, StoreError>> + Send + 'static,
    ) -> Result<(T, Turn), ApiError> {
        let turn = self.turn().await?;
        let analysis = tokio::spawn(async move { (analysis.await, turn) });
        let (done, turn) = analysis.await.map_err(StoreError::unavailable)?;
        Ok((done?, turn))
    }

    async fn turn(&self) -> Result<Turn, ApiError> {
        let busy = || ApiError::unavailable("too many readers wait for such an answer, try again");
        let place = Arc::clone(&self.places).try_acquire_owned().map_err(|_| busy())?;
        let turn = Arc::clone(&self.turn).acquire_owned().await.map_err(|_| busy())?;
        Ok(Turn { _turn: turn, _place: place })
    }
}

/// The reader of an answer.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reader(Arc<State>);

#[derive(Debug, Default)]
struct State {
    /// When it last took something, and how to disconnect it; none until its answer is being written.
    writing: Mutex<Option<Writing>>,
    held_bytes: Mutex<usize>,
}

#[derive(Debug)]
struct Writing {
    progress: Instant,
    writer: AbortHandle,
    connection: Option<Cut>,
}

impl Reader {
    /// The answer is written by this task from now on, to this connection.
    pub(crate) fn begin(&self, writer: AbortHandle, connection: Option<Cut>) {
        *self.writing() = Some(Writing { progress: queryscope_store::now(), writer, connection });
    }

    /// The reader has taken something.
    pub(crate) fn progress(&self) {
        if let Some(writing) = &mut *self.writing() {
            writing.progress = queryscope_store::now();
        }
    }

    fn writing(&self) -> MutexGuard<'_, Option<Writing>> {
        self.0.writing.lock()
    }

    /// How long it has taken nothing, and the bytes its answer holds.
    fn stalled(&self) -> Option<(Duration, usize)> {
        let since = self.writing().as_ref()?.progress;
        Some((since.elapsed(), *self.0.held_bytes.lock()))
    }

    fn disconnect(&self) {
        if let Some(writing) = self.writing().take() {
            writing.writer.abort();
            if let Some(Cut(connection)) = writing.connection {
                connection.cancel();
            }
        }
    }
}

impl Answers {
    /// The lane for an answer that may have an entry for each label, or that is bounded.
    pub(crate) fn lane(&self, is_bounded: bool) -> &Lane {
        if is_bounded { &self.parts } else { &self.whole }
    }

    /// Answers that take so many bytes together at most, and so many analyses that wait.
    pub(crate) fn new(bytes: usize, waiting_max: usize) -> Self {
        let lane = || Lane::new(waiting_max);
        let whole = Lane::new(waiting_max.min(WHOLE_WAITING_MAX));
        let (budget, readers) = (Budget::new(bytes), Mutex::default());
        Self { whole, parts: lane(), counts: lane(), budget, total: bytes, readers }
    }

    /// Bytes of answers that are being written.
    #[cfg(test)]
    pub(crate) fn held_bytes(&self) -> usize {
        self.budget.taken()
    }

    /// Counts an answer of so many bytes until the share is dropped; readers that are stalled make room for it. One
    /// that is larger than all there is takes all of it.
    ///
    /// # Errors
    /// 503 when there is no room.
    pub(crate) async fn hold(&self, reader: &Reader, bytes: usize) -> Result<Share, ApiError> {
        let bytes = bytes.min(self.total);
        let share = match self.budget.take(bytes) {
            Some(share) => Some(share),
            None if self.make_room(bytes) => self.budget.take_within(bytes, FREED_WITHIN).await,
            None => None,
        };
        let full =
            || ApiError::unavailable("answers that are being read take all the memory there is for them");
        let share = share.ok_or_else(full)?;
        *reader.0.held_bytes.lock() = bytes;
        let mut readers = self.readers.lock();
        readers.retain(|reader| reader.strong_count() > 0);
        readers.push(Arc::downgrade(&reader.0));
        Ok(share)
    }

    /// Disconnects the readers that have been stalled the longest, until so many bytes will be free; none where
    /// they hold too little.
    fn make_room(&self, bytes: usize) -> bool {
        let readers = self.readers.lock();
        let readers = readers.iter().filter_map(Weak::upgrade).map(Reader);
        let stalled =
            readers.filter_map(|reader| reader.stalled().map(|(time, bytes)| (time, bytes, reader)));
        let mut stalled: Vec<_> = stalled.filter(|(time, ..)| *time >= STALLED_AFTER).collect();
        stalled.sort_unstable_by_key(|(time, ..)| std::cmp::Reverse(*time));
        let mut free = self.total.saturating_sub(self.budget.taken());
        let mut leaving = Vec::new();
        for (_, held, reader) in stalled {
            if free >= bytes {
                break;
            }
            free += held;
            leaving.push(reader);
        }
        if free < bytes {
            return false;
        }
        tracing::debug!(readers = leaving.len(), "stalled readers are disconnected");
        for reader in leaving {
            reader.disconnect();
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn one_analysis_of_a_kind_is_at_work_and_a_few_wait() {
        let answers = Arc::new(Answers::new(0, 1));
        let at_work = answers.whole.turn().await.expect("its turn");
        let other_kind = answers.parts.turn().await;
        assert!(other_kind.is_ok(), "another kind does not wait");
        let waiting = {
            let answers = Arc::clone(&answers);
            tokio::spawn(async move { answers.whole.turn().await.map(drop) })
        };
        tokio::task::yield_now().await;
        let refused = answers.whole.turn().await.expect_err("one waits already");
        assert_eq!(refused.status(), 503);
        drop(at_work);
        assert!(waiting.await.expect("no panic").is_ok());
        assert!(answers.whole.turn().await.is_ok());
    }

    #[tokio::test]
    async fn an_analysis_whose_reader_has_left_keeps_its_turn() {
        let answers = Arc::new(Answers::new(0, 8));
        let (begun, end) = (Arc::new(tokio::sync::Notify::new()), Arc::new(tokio::sync::Notify::new()));
        let analysis = {
            let (answers, begun, end) = (Arc::clone(&answers), Arc::clone(&begun), Arc::clone(&end));
            tokio::spawn(async move {
                let long = async move {
                    begun.notify_one();
                    end.notified().await;
                    Ok(())
                };
                answers.whole.analyse(long).await
            })
        };
        begun.notified().await;
        analysis.abort();
        assert!(analysis.await.is_err_and(|error| error.is_cancelled()));
        let next = answers.whole.turn();
        tokio::pin!(next);
        assert!(futures_util::poll!(&mut next).is_pending(), "it still works");
        end.notify_one();
        assert!(next.await.is_ok());
    }

    /// A reader whose answer holds so much and is written by a task that never ends.
    async fn reader(answers: &Arc<Answers>, bytes: usize) -> (Reader, Cut, tokio::task::JoinHandle<()>) {
        let (reader, cut) = (Reader::default(), Cut::default());
        let share = answers.hold(&reader, bytes).await.expect("room");
        let task = tokio::spawn(async move {
            let _share = share;
            std::future::pending::<()>().await;
        });
        reader.begin(task.abort_handle(), Some(cut.clone()));
        (reader, cut, task)
    }

    #[tokio::test]
    async fn readers_that_are_stalled_make_room_for_others() {
        let answers = Arc::new(Answers::new(10 << 10, 1));
        let (first, first_cut, _) = reader(&answers, 4 << 10).await;
        let (second, second_cut, _) = reader(&answers, 4 << 10).await;
        let refused = answers.hold(&Reader::default(), 4 << 10).await.expect_err("both take what they get");
        assert_eq!(refused.status(), 503);
        for reader in [&first, &second] {
            if let Some(writing) = &mut *reader.writing() {
                writing.progress -= STALLED_AFTER * if Arc::ptr_eq(&reader.0, &second.0) { 3 } else { 2 };
            }
        }
        let share = answers.hold(&Reader::default(), 4 << 10).await.expect("the second has left");
        assert_eq!((first_cut.0.is_cancelled(), second_cut.0.is_cancelled()), (false, true));
        assert_eq!(answers.held_bytes(), 8 << 10);
        first.progress();
        assert!(answers.hold(&Reader::default(), 4 << 10).await.is_err(), "the first goes on reading");
        drop(share);
        assert_eq!(answers.held_bytes(), 4 << 10);
    }

    #[tokio::test]
    async fn an_answer_larger_than_the_budget_takes_all_of_it() {
        let answers = Arc::new(Answers::new(10 << 10, 1));
        let share = answers.hold(&Reader::default(), 1 << 30).await.expect("there is none beside it");
        assert_eq!(answers.held_bytes(), 10 << 10);
        drop(share);
        assert_eq!(answers.held_bytes(), 0);
    }
}
