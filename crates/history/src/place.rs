//! What ran at a place, a service, environment or host, and how long?

use serde::Serialize;

use crate::run::RunStatus;
use crate::total::WallTotal;

/// The runs at a place.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PlaceTotal {
    runs: u64,
    running: u64,
    failed: u64,
    unfinished: u64,
    wall: WallTotal,
}

impl PlaceTotal {
    /// Adds a run; `wall_ms` is NaN where it is not known.
    pub fn add(&mut self, status: RunStatus, wall_ms: f64) {
        self.runs += 1;
        match status {
            RunStatus::Running => self.running += 1,
            RunStatus::Failed => self.failed += 1,
            RunStatus::Unfinished => self.unfinished += 1,
            RunStatus::Finished => {}
        }
        // What failed took its time, too.
        if wall_ms.is_finite() && wall_ms >= 0.0 {
            self.wall.extend([wall_ms]);
        }
    }

    /// Adds the runs of another place.
    pub fn merge(&mut self, other: Self) {
        self.runs += other.runs;
        self.running += other.running;
        self.failed += other.failed;
        self.unfinished += other.unfinished;
        self.wall.merge(other.wall);
    }

    /// As an answer tells it.
    pub fn named(self, value: Option<String>) -> Place {
        let Self { runs, running, failed, unfinished, wall } = self;
        Place { value, runs, running, failed, unfinished, total_wall_ms: wall.wall_ms() }
    }
}

/// The runs of one service, environment or host.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Place {
    /// Its name; null is that of runs without one.
    pub value: Option<String>,
    /// Runs, of every state.
    pub runs: u64,
    /// Those of them that run.
    pub running: u64,
    /// Those of them that failed.
    pub failed: u64,
    /// Those of them of which nothing was heard for too long.
    pub unfinished: u64,
    /// Wall time of those that finished or failed, together, in milliseconds.
    pub total_wall_ms: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_counted_by_state_and_their_time_is_added() {
        let mut total = PlaceTotal::default();
        total.add(RunStatus::Finished, 2.5);
        total.add(RunStatus::Failed, 0.5);
        total.add(RunStatus::Running, f64::NAN);
        let mut other = PlaceTotal::default();
        other.add(RunStatus::Unfinished, f64::NAN);
        other.add(RunStatus::Finished, -1.0);
        total.merge(other);
        let value = Some("etl".to_owned());
        let expected =
            Place { value: value.clone(), runs: 5, running: 1, failed: 1, unfinished: 1, total_wall_ms: 3.0 };
        assert_eq!(total.named(value), expected);
    }
}
