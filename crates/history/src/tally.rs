//! What do runs come to that are read one after the other?

use std::borrow::Cow;
use std::mem::{swap, take};

use queryscope_protocol::QueryId;

use crate::failure::{Failure, Failures};
use crate::groups::Group;
use crate::limits::GROUP_RECENT_RUNS;
use crate::point::{Place, Point};
use crate::quantile::median;
use crate::total::WallTotal;
use crate::versions::Version;

/// A tally that is cleared keeps the memory of so many times: those of the few that have more would add up where many
/// are used again.
const TIMES_KEPT: usize = 4_096;

/// Some runs, of one label or of one plan, as they are read: of a run only its time is kept.
///
/// They may come in any order; the last ones first is the fastest.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    runs: u64,
    failures: Failures,
    bounds: Option<(Place, Place)>,
    total: WallTotal,
    times_ms: Vec<f64>,
    /// The last that finished, the last one first: as many as are told.
    recent: Vec<(Place, f64)>,
}

impl Tally {
    /// Adds a run.
    pub fn add(&mut self, point: &Point) {
        let place = point.place();
        self.bounds =
            Some(self.bounds.map_or((place, place), |(first, last)| (first.min(place), last.max(place))));
        if let Some(time_ms) = point.time() {
            self.add_recent(place, time_ms);
        }
        self.add_earlier(point.time(), point.failure);
    }

    /// Whether a run that started up to a moment is none of the last ones that a group tells of.
    pub fn has_later(&self, started_unix_ns: i64) -> bool {
        self.recent.len() == GROUP_RECENT_RUNS
            && self.recent.last().is_some_and(|((other, _), _)| *other > started_unix_ns)
    }

    /// Adds a run of a group that [has later ones](Self::has_later). When the first run of a version started is not
    /// known then.
    pub fn add_earlier(&mut self, time_ms: Option<f64>, failure: Failure) {
        self.runs += 1;
        self.failures.add(failure);
        if let Some(time_ms) = time_ms {
            self.total.add(time_ms);
            self.times_ms.push(time_ms);
        }
    }

    /// Moves the runs of another tally over to this one.
    pub fn append(&mut self, other: &mut Self) {
        if self.runs < other.runs {
            swap(self, other);
        }
        self.runs += other.runs;
        self.failures.merge(other.failures);
        self.bounds = match (self.bounds, other.bounds) {
            (Some((first, last)), Some((other_first, other_last))) => {
                Some((first.min(other_first), last.max(other_last)))
            }
            (one, None) | (None, one) => one,
        };
        self.total.merge(other.total);
        self.times_ms.append(&mut other.times_ms);
        for (place, time_ms) in &other.recent {
            self.add_recent(*place, *time_ms);
        }
        other.clear();
    }

    /// Forgets all runs and keeps the memory of a usual number of them, for others.
    pub fn clear(&mut self) {
        let (mut times_ms, mut recent) = (take(&mut self.times_ms), take(&mut self.recent));
        times_ms.clear();
        times_ms.shrink_to(TIMES_KEPT);
        recent.clear();
        *self = Self { times_ms, recent, ..Self::default() };
    }

    /// Whether there were no runs.
    pub fn is_empty(&self) -> bool {
        self.runs == 0
    }

    /// Number of the last run, whatever its state.
    pub fn last(&self) -> Option<u32> {
        self.bounds.map(|(_, (_, number))| number)
    }

    /// The runs as a group, whose key stays empty, with what warned in any of them; `None` when there were none.
    pub fn group<'a>(&mut self, rules: Vec<&'a str>) -> Option<Group<'a>> {
        let (_, (last_started_unix_ns, _)) = self.bounds?;
        Some(Group {
            key: Cow::default(),
            runs: self.runs,
            failed: self.failures.failed,
            cancelled: self.failures.cancelled,
            unfinished: self.failures.unfinished,
            last_started_unix_ns,
            total_wall_ms: self.total.wall_ms(),
            usual_wall_ms: median(&mut self.times_ms),
            rules: rules.into_iter().map(Cow::Borrowed).collect(),
            recent_wall_ms: self.recent.iter().rev().map(|(_, time_ms)| *time_ms).collect(),
        })
    }

    /// The runs as a version, with its plan, what warned in any of them and the id of the last; `None` when none
    /// finished.
    pub fn into_version(
        mut self,
        fingerprint: &str,
        rules: Vec<&str>,
        latest_query_id: QueryId,
    ) -> Option<Version> {
        let ((first_started_unix_ns, _), (last_started_unix_ns, _)) = self.bounds?;
        Some(Version {
            fingerprint: fingerprint.to_owned(),
            runs: self.runs,
            failed: self.failures.failed,
            cancelled: self.failures.cancelled,
            unfinished: self.failures.unfinished,
            first_started_unix_ns,
            last_started_unix_ns,
            usual_wall_ms: median(&mut self.times_ms)?,
            rules: rules.into_iter().map(Into::into).collect(),
            latest_query_id,
        })
    }

    /// Where runs come the last ones first, each is put behind the others or has no place.
    fn add_recent(&mut self, place: Place, time_ms: f64) {
        let later = self.recent.iter().rposition(|(other, _)| *other > place).map_or(0, |last| last + 1);
        if later < GROUP_RECENT_RUNS {
            self.recent.truncate(GROUP_RECENT_RUNS - 1);
            self.recent.insert(later, (place, time_ms));
        }
    }
}
