//! What lets the last steps of a detector be taken again: its state some runs ago, and the order of the runs since.
//!
//! A detector depends on its state and its window alone. From the state some runs ago and the features of all runs
//! since the window of then, anyone can make the state of now again (`replay.rs`).

use std::collections::BTreeMap;

use queryscope_protocol::QueryId;

use super::{Course, Detector};
use crate::change::Transition;
use crate::layer::Layer;
use crate::limits::{OVER_MAX, REPLAYED_RUNS, WINDOW_RUNS};

/// The last runs, and changes that are over.
#[derive(Debug, Clone, Default)]
pub(crate) struct Recent {
    /// The state before the first of the runs below; `None` until the first run.
    pub(crate) base: Option<Box<Base>>,
    /// Of each run since, in the order they were taken, how many of the window stood behind it then.
    pub(crate) order: Vec<u16>,
    /// Changes that are over or superseded, the last ones.
    pub(crate) over: Vec<Over>,
    /// Whether there may have been others.
    pub(crate) over_cut: bool,
    /// The newest run that may have been taken by another version.
    pub(crate) others_until: Option<(i64, QueryId)>,
    /// Whether it began anew where runs had been taken before: nothing can be taken again.
    pub(crate) unknown: bool,
}

/// What is saved of a detector, without its window.
#[derive(Debug, Clone, Default)]
pub(crate) struct Base {
    pub(crate) courses: BTreeMap<u32, Course>,
    pub(crate) episodes: Vec<QueryId>,
    pub(crate) over: Vec<Over>,
    pub(crate) over_cut: bool,
    /// Runs of its window.
    pub(crate) runs: usize,
}

/// A change that is over or superseded.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Over {
    pub(crate) id: String,
    /// When it was over, or else when it was confirmed.
    pub(crate) unix_ns: i64,
}

impl Detector {
    /// A detector of a query of which runs were taken before, of which nothing is known any more.
    pub fn anew() -> Self {
        let recent = Recent { over_cut: true, unknown: true, ..Recent::default() };
        Self { recent, ..Self::default() }
    }

    /// Ended runs, the last by start, whose features are to be kept: the window, and the window that
    /// [`Saved`](crate::Saved) is replayed from.
    pub fn keeps(&self) -> usize {
        WINDOW_RUNS + self.recent.order.len()
    }

    /// Before a run is taken: after so many, the state of now is the one to replay from.
    pub(super) fn begin_anew(&mut self) {
        if self.recent.base.is_none() || self.recent.order.len() >= REPLAYED_RUNS {
            self.recent.base = Some(Box::new(self.state()));
            self.recent.order.clear();
        }
    }

    pub(crate) fn state(&self) -> Base {
        let episodes = self.series.entries.iter().filter(|entry| entry.episode);
        Base {
            courses: self.courses.clone(),
            episodes: episodes.map(|entry| entry.point.query_id).collect(),
            over: self.recent.over.clone(),
            over_cut: self.recent.over_cut,
            runs: self.series.entries.len(),
        }
    }
}

impl Recent {
    /// Notes which changes are over.
    pub(super) fn note(&mut self, told: &[Transition]) {
        for transition in told {
            let change = transition.change();
            match transition {
                Transition::Updated(_) => {}
                Transition::Opened(_) => self.over.retain(|over| over.id != change.id),
                Transition::Closed(_) => {
                    let at = change.recovered_unix_ns.or(change.confirmed_unix_ns);
                    let unix_ns = at.unwrap_or(change.since_unix_ns);
                    self.over.retain(|over| over.id != change.id);
                    self.over.push(Over { id: change.id.clone(), unix_ns });
                }
            }
        }
        let surplus = self.over.len().saturating_sub(OVER_MAX);
        self.over_cut |= surplus > 0;
        self.over.drain(..surplus);
    }

    /// About the bytes it takes, without the runs before changes, which it shares as a rule.
    pub(super) fn bytes(&self) -> usize {
        let base = self.base.as_deref().map_or(0, |base| {
            size_of::<Base>()
                + base.courses.len() * size_of::<Course>()
                + base.courses.values().map(|course| course.layers.len()).sum::<usize>() * size_of::<Layer>()
                + base.episodes.len() * size_of::<QueryId>()
        });
        let over = 2 * self.over.len() * (size_of::<Over>() + 48);
        base + over + self.order.len() * size_of::<u16>()
    }
}
