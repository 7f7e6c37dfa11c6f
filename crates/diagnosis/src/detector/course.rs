//! What lasts in one environment of a query.
//!
//! A query may run in several environments, and what changes in one says nothing of the others.

use queryscope_protocol::QueryId;

use super::Detector;
use crate::change::Change;
use crate::failing::Failing;
use crate::growth::Growth;
use crate::layer::Layer;
use crate::limits::ENVIRONMENTS_MAX;

/// The open changes of the runs of one environment.
#[derive(Debug, Clone, Default)]
pub(crate) struct Course {
    /// Changes of time, the later ones behind those that they superseded.
    pub(crate) layers: Vec<Layer>,
    pub(crate) failing: Option<Failing>,
    pub(crate) growth: Option<Growth>,
    /// The first run after the last change that is over: no change begins before it any more.
    pub(crate) settled: Option<(i64, QueryId)>,
}

impl Course {
    /// Whether no change lasts.
    fn is_quiet(&self) -> bool {
        self.layers.is_empty() && self.failing.is_none() && self.growth.is_none()
    }

    /// Its open changes: at most one of each kind, the one of time first.
    pub(super) fn open(&self) -> impl Iterator<Item = &Change> {
        let time = self.layers.last().map(|layer| &layer.change);
        time.into_iter()
            .chain(self.failing.as_ref().map(|failing| &failing.change))
            .chain(self.growth.as_ref().map(|growth| &growth.change))
    }
}

impl Detector {
    /// Takes up what lasts in an environment; whether there is room for it.
    pub(super) fn enter(&mut self, environment: u32) -> bool {
        if let Some(course) = self.courses.remove(&environment) {
            self.here = course;
            return true;
        }
        if self.courses.len() >= ENVIRONMENTS_MAX {
            // Where no run is left in the window, nothing is to be told of before.
            let entries = &self.series.entries;
            self.courses.retain(|other, course| {
                !course.is_quiet() || entries.iter().any(|entry| entry.point.environment == *other)
            });
        }
        self.here = Course::default();
        self.courses.len() < ENVIRONMENTS_MAX
    }

    pub(super) fn leave(&mut self, environment: u32) {
        let course = std::mem::take(&mut self.here);
        if !course.is_quiet() || course.settled.is_some() {
            self.courses.insert(environment, course);
        }
    }
}
