//! A thread that moves the log while the writer goes on.

use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::JoinHandle;

use rusqlite::Connection;

use super::{pages, pass};
use crate::error::OpenError;
use crate::migrate::open_mover;

/// Pages that may be left to the writer: it moves them in some milliseconds.
const PAGES_LEFT: i64 = 256;
/// Passes in which it gets that far, or does not: a reader needs a part of the log, or the disk is too slow.
const PASSES_MAX: usize = 4;

/// A handle to the thread; it ends with it.
pub(super) struct Mover {
    wanted: Option<Sender<()>>,
    moved: Receiver<rusqlite::Result<()>>,
    moving: bool,
    thread: Option<JoinHandle<()>>,
}

impl Mover {
    /// Opens a connection and starts the thread.
    pub(super) fn start(path: &Path) -> Result<Self, OpenError> {
        let db = open_mover(path).map_err(|source| OpenError::Database { path: path.to_owned(), source })?;
        let (wanted, wants) = channel();
        let (tell, moved) = channel();
        let work = move || {
            // Nobody is told once the writer has gone.
            while wants.recv().is_ok() && tell.send(move_most(&db)).is_ok() {}
        };
        let thread = std::thread::Builder::new().name("store-log".into()).spawn(work);
        let thread = Some(thread.map_err(OpenError::Thread)?);
        Ok(Self { wanted: Some(wanted), moved, moving: false, thread })
    }

    /// Begins to move the log.
    pub(super) fn begin(&mut self) {
        self.moving = self.wanted.as_ref().is_some_and(|wanted| wanted.send(()).is_ok());
    }

    /// Whether the log is being moved.
    pub(super) fn is_moving(&self) -> bool {
        self.moving
    }

    /// What came of moving the log, once after each [`begin`](Self::begin); `None` meanwhile.
    pub(super) fn moved(&mut self) -> Option<rusqlite::Result<()>> {
        let moved = match self.moved.try_recv() {
            Ok(moved) => moved,
            Err(TryRecvError::Empty) => return None,
            Err(TryRecvError::Disconnected) if !self.moving => return None,
            // Its panic has been told; whoever moves the log next finds what is wrong.
            Err(TryRecvError::Disconnected) => Ok(()),
        };
        self.moving = false;
        Some(moved)
    }

    /// Waits until the log has been moved.
    pub(super) fn wait(&mut self) -> rusqlite::Result<()> {
        self.moving = false;
        self.moved.recv().unwrap_or(Ok(()))
    }
}

impl Drop for Mover {
    fn drop(&mut self) {
        self.wanted = None;
        if let Some(thread) = self.thread.take() {
            // Its panic has been told.
            let _ = thread.join();
        }
    }
}

fn move_most(db: &Connection) -> rusqlite::Result<()> {
    for _ in 0..PASSES_MAX {
        pass(db)?;
        if pages(db)? < PAGES_LEFT {
            break;
        }
    }
    Ok(())
}
