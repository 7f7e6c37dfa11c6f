//! What do runs come to that are read one after the other?

use queryscope_protocol::QueryId;

use crate::groups::Group;
use crate::limits::GROUP_RECENT_RUNS;
use crate::point::{Place, Point};
use crate::quantile::median;
use crate::total::WallTotal;
use crate::versions::Version;

/// Some runs, of one label or of one plan, as they are read: of a run only its time is kept.
///
/// They may come in any order; the last ones first is the fastest.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    runs: u64,
    failed: u64,
    bounds: Option<(Place, Place)>,
    total: WallTotal,
    times_ms: Vec<f64>,
    /// The last that finished, up to twice as many as are told.
    recent: Vec<(Place, f64)>,
    /// Those that stand before this one are not among them.
    recent_from: Option<Place>,
}

impl Tally {
    /// Adds a run.
    pub fn add(&mut self, point: &Point) {
        let place = point.place();
        self.runs += 1;
        self.failed += u64::from(point.failed);
        self.bounds =
            Some(self.bounds.map_or((place, place), |(first, last)| (first.min(place), last.max(place))));
        if let Some(time_ms) = point.time() {
            self.total.add(time_ms);
            self.times_ms.push(time_ms);
            self.add_recent(place, time_ms);
        }
    }

    /// Adds the runs of another tally.
    pub fn merge(&mut self, other: Self) {
        self.runs += other.runs;
        self.failed += other.failed;
        self.bounds = match (self.bounds, other.bounds) {
            (Some((first, last)), Some((other_first, other_last))) => {
                Some((first.min(other_first), last.max(other_last)))
            }
            (one, None) | (None, one) => one,
        };
        self.total.merge(other.total);
        self.times_ms.extend(other.times_ms);
        for (place, time_ms) in other.recent {
            self.add_recent(place, time_ms);
        }
    }

    /// Whether there were no runs.
    pub fn is_empty(&self) -> bool {
        self.runs == 0
    }

    /// Number of the last run, whatever its state.
    pub fn last(&self) -> Option<u32> {
        self.bounds.map(|(_, (_, number))| number)
    }

    /// The runs as a group, with what warned in any of them; `None` when there were none.
    pub fn into_group(mut self, rules: Vec<&str>) -> Option<Group<'_>> {
        let (_, (last_started_unix_ns, _)) = self.bounds?;
        self.forget_older();
        self.recent.sort_unstable_by_key(|(place, _)| *place);
        // In memory of its own: collected in place it would keep that of twice as many places and times.
        let mut recent_wall_ms = Vec::with_capacity(self.recent.len());
        recent_wall_ms.extend(self.recent.iter().map(|(_, time_ms)| *time_ms));
        Some(Group {
            runs: self.runs,
            failed: self.failed,
            last_started_unix_ns,
            total_wall_ms: self.total.wall_ms(),
            rules,
            recent_wall_ms,
            usual_wall_ms: median(&mut self.times_ms),
        })
    }

    /// The runs as a version, with its plan, what warned in any of them and the id of the last; `None` when none
    /// finished.
    pub fn into_version<'a>(
        mut self,
        fingerprint: &'a str,
        rules: Vec<&'a str>,
        latest_query_id: QueryId,
    ) -> Option<Version<'a>> {
        let ((first_started_unix_ns, _), (last_started_unix_ns, _)) = self.bounds?;
        Some(Version {
            fingerprint,
            runs: self.runs,
            failed: self.failed,
            first_started_unix_ns,
            last_started_unix_ns,
            usual_wall_ms: median(&mut self.times_ms)?,
            rules,
            latest_query_id,
        })
    }

    fn add_recent(&mut self, place: Place, time_ms: f64) {
        if Some(place) > self.recent_from {
            // At once: a group that has few of them is rare, and growing costs more than the memory.
            self.recent.reserve_exact(2 * GROUP_RECENT_RUNS - self.recent.len());
            self.recent.push((place, time_ms));
            if self.recent.len() == 2 * GROUP_RECENT_RUNS {
                self.forget_older();
            }
        }
    }

    fn forget_older(&mut self) {
        let older = self.recent.len().saturating_sub(GROUP_RECENT_RUNS);
        if older > 0 {
            self.recent.select_nth_unstable_by_key(older, |(place, _)| *place);
            self.recent_from = Some(self.recent[older].0);
            self.recent.drain(..older);
        }
    }
}
