//! The columns of one store: filled from its rows, and moved on by its commits meanwhile.
//!
//! A start reads segment by segment: the copy where there is one, else the rows. What a commit says is newer than what
//! was read, and stays. A store moves the columns on before it answers the commit, so a snapshot that is taken
//! after an answer has its rows.

use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use queryscope_store::StoreError;
use tokio::sync::watch;

use crate::apply::{Columns, RowState};
use crate::copy::SegmentCopy;
use crate::segment::ROWS;
use crate::select::Snapshot;

/// Rows of a segment.
const SEGMENT: i64 = ROWS as i64;
/// Rows taken over at once: commits wait for these.
const ROWS_AT_ONCE: usize = 4_096;

/// What the columns are filled from.
pub trait Source {
    /// Why it cannot be read.
    type Error;

    /// The copy of the segment that begins with a row, if there is one that can be used.
    fn copy(&self, first_row: i64) -> impl Future<Output = Result<Option<SegmentCopy>, Self::Error>> + Send;

    /// What the rows from one to before another say, in their order. A query that is damaged is none.
    fn rows(&self, begin: i64, end: i64) -> impl Future<Output = Result<Vec<RowState>, Self::Error>> + Send;
}

/// The segments that are still to be filled; several may fill them at once.
#[derive(Debug)]
pub struct Segments {
    next: AtomicI64,
    last_row: i64,
    stopped: AtomicBool,
}

impl Segments {
    /// Those of the rows from the first to the last. What is stored from then on is taken over from its commit.
    pub fn of(first_row: i64, last_row: i64) -> Self {
        let next = AtomicI64::new(first_row / SEGMENT * SEGMENT);
        Self { next, last_row, stopped: AtomicBool::new(false) }
    }

    /// Has filling end within some thousand rows.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Whether filling was ended early.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// The first row of the next one.
    fn take(&self) -> Option<i64> {
        let first_row = self.next.fetch_add(SEGMENT, Ordering::Relaxed);
        (first_row <= self.last_row && !self.is_stopped()).then_some(first_row)
    }
}

/// Parts of a segment, none of them of more rows than are taken over at once: where each begins, and before which row
/// it ends.
pub fn parts(first_row: i64) -> impl Iterator<Item = (i64, i64)> {
    let end = first_row + SEGMENT;
    (first_row..end).step_by(ROWS_AT_ONCE).map(move |begin| (begin, end.min(begin + ROWS_AT_ONCE as i64)))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    LeftOut,
    Filling,
    Filled,
    Failed,
}

/// The columns of a store.
#[derive(Debug)]
pub struct Index {
    columns: RwLock<Columns>,
    state: watch::Sender<State>,
}

impl Index {
    /// Columns that are about to be filled, or stay empty: of a store that is asked nothing they are needed for.
    pub fn new(answers: bool) -> Self {
        let state = if answers { State::Filling } else { State::LeftOut };
        Self { columns: RwLock::default(), state: watch::Sender::new(state) }
    }

    /// Whether they stay empty.
    pub fn is_left_out(&self) -> bool {
        *self.state.borrow() == State::LeftOut
    }

    /// Takes over rows that commits have changed.
    pub fn apply(&self, rows: Vec<RowState>) {
        if !rows.is_empty() && !self.is_left_out() {
            self.write().apply(rows);
        }
    }

    /// Fills segments as long as some are left.
    ///
    /// # Errors
    /// Those of the source.
    pub async fn fill<S: Source>(&self, source: &S, segments: &Segments) -> Result<(), S::Error> {
        while let Some(first_row) = segments.take() {
            if let Some(copy) = source.copy(first_row).await? {
                if self.write().load_copy(&copy) {
                    continue;
                }
                tracing::error!(row = first_row, "a copy of runs is damaged: their rows are read");
            }
            for (begin, end) in parts(first_row) {
                let rows = source.rows(begin, end).await?;
                if segments.is_stopped() {
                    return Ok(());
                }
                self.write().load(rows);
            }
            self.write().finish_segment(first_row);
        }
        Ok(())
    }

    /// Notes that all segments are filled.
    pub fn finish(&self) {
        self.write().finish_loading();
        self.state.send_replace(State::Filled);
    }

    /// Notes that they cannot be filled.
    pub fn fail(&self) {
        self.state.send_replace(State::Failed);
    }

    /// Empties the columns, which are to be filled anew.
    pub fn empty(&self) {
        if !self.is_left_out() {
            let mut columns = self.write();
            self.state.send_replace(State::Filling);
            *columns = Columns::default();
        }
    }

    /// The columns as they are now; waits while they are being filled.
    ///
    /// # Errors
    /// When they are not.
    pub async fn snapshot(&self) -> Result<Snapshot, StoreError> {
        let mut state = self.state.subscribe();
        loop {
            let end = state.wait_for(|state| *state != State::Filling).await.map(|state| *state);
            match end {
                Ok(State::LeftOut) => {
                    let reason = "the store was opened without answers over many queries";
                    return Err(StoreError::unavailable(reason));
                }
                Ok(State::Filled) => {
                    if let Some(snapshot) = self.snapshot_now() {
                        return Ok(snapshot);
                    }
                }
                _ => return Err(StoreError::unavailable("the runs could not be loaded")),
            }
        }
    }

    /// The columns as they are now, unless they are not filled.
    pub fn snapshot_now(&self) -> Option<Snapshot> {
        // They are emptied under this lock.
        let columns = self.read();
        (*self.state.borrow() == State::Filled).then(|| columns.snapshot())
    }

    /// The first rows of segments that are to be copied, as [`Columns::uncopied`] says.
    pub fn uncopied(&self) -> Vec<i64> {
        self.write().uncopied()
    }

    /// Notes that the segment of a row is being copied; `false` when it has changed since it was found uncopied.
    pub fn note_copied(&self, row: i64) -> bool {
        self.write().note_copied(row)
    }

    /// A copy of the segment of a row; `None` when it has changed since it was found uncopied.
    pub fn copy(&self, row: i64) -> Option<SegmentCopy> {
        let snapshot = {
            let mut columns = self.write();
            columns.note_copied(row).then(|| columns.snapshot())
        };
        snapshot?.copy(row)
    }

    fn read(&self) -> RwLockReadGuard<'_, Columns> {
        self.columns.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Columns> {
        self.columns.write().unwrap_or_else(PoisonError::into_inner)
    }
}
