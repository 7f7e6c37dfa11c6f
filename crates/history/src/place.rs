//! What ran at a place, and how long? A place is a service, environment or host, or what an owner owns.

use serde::Serialize;

use crate::failure::{Failure, Failures};
use crate::quantity::Quantity;
use crate::run::RunStatus;
use crate::total::WallTotal;

/// A sum of bytes is said to be no larger than this.
const BYTES_MAX: u64 = i64::MAX as u64;

/// The runs at a place.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PlaceTotal {
    runs: u64,
    running: u64,
    failures: Failures,
    wall: WallTotal,
    /// Of the runs that sent it. Of any number of runs the sum is less than 2^128.
    cpu_ns: u128,
    cpu_runs: u64,
    /// As of the CPU time.
    bytes_read: u128,
    bytes_read_runs: u64,
}

impl PlaceTotal {
    /// Adds a run; `wall_ms` is NaN where it is not known. The CPU time is in nanoseconds.
    pub fn add(&mut self, status: RunStatus, wall_ms: f64, cpu: Quantity, bytes_read: Quantity) {
        self.runs += 1;
        self.running += u64::from(status == RunStatus::Running);
        self.failures.add(Failure::of(status));
        // What failed took its time, too.
        if wall_ms.is_finite() && wall_ms >= 0.0 {
            self.wall.extend([wall_ms]);
        }
        if let Some(cpu_ns) = cpu.get() {
            self.cpu_ns += u128::from(cpu_ns);
            self.cpu_runs += 1;
        }
        if let Some(bytes) = bytes_read.get() {
            self.bytes_read += u128::from(bytes);
            self.bytes_read_runs += 1;
        }
    }

    /// Adds the runs of another place.
    pub fn merge(&mut self, other: Self) {
        self.runs += other.runs;
        self.running += other.running;
        self.failures.merge(other.failures);
        self.wall.merge(other.wall);
        self.cpu_ns += other.cpu_ns;
        self.cpu_runs += other.cpu_runs;
        self.bytes_read += other.bytes_read;
        self.bytes_read_runs += other.bytes_read_runs;
    }

    /// As an answer tells it.
    pub fn named(self, value: Option<String>) -> Place {
        let Self { runs, running, failures, wall, cpu_ns, cpu_runs, bytes_read, bytes_read_runs } = self;
        let bytes = u64::try_from(bytes_read).unwrap_or(u64::MAX).min(BYTES_MAX);
        Place {
            value,
            runs,
            running,
            failed: failures.failed,
            cancelled: failures.cancelled,
            unfinished: failures.unfinished,
            total_wall_ms: wall.wall_ms(),
            total_cpu_ms: (cpu_runs > 0).then_some(cpu_ns as f64 / 1e6),
            cpu_runs,
            total_bytes_read: (bytes_read_runs > 0).then_some(bytes),
            bytes_read_runs,
        }
    }
}

/// The runs of one service, environment, host or owner.
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
    /// Those of the failed ones that a person or the program stopped.
    pub cancelled: u64,
    /// Those of them of which nothing was heard for too long.
    pub unfinished: u64,
    /// Wall time of those that finished or failed, together, in milliseconds.
    pub total_wall_ms: f64,
    /// CPU time over all threads of those that sent it, together, in milliseconds; null where none did. Of each run it
    /// is rounded by at most 0.05 %.
    pub total_cpu_ms: Option<f64>,
    /// Those of them that sent their CPU time, which they do when they finish or fail.
    pub cpu_runs: u64,
    /// Bytes read by those that sent them, together, at most 2^63 - 1; null where none did. Of each run they are
    /// rounded by at most 0.05 %.
    pub total_bytes_read: Option<u64>,
    /// Those of them that sent the bytes they read, which they do when they finish or fail.
    pub bytes_read_runs: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_counted_by_state_and_their_time_is_added() {
        let mut total = PlaceTotal::default();
        total.add(RunStatus::Finished, 2.5, Quantity::new(1_000), Quantity::new(7));
        total.add(RunStatus::Cancelled, 0.5, Quantity::new(500), Quantity::NONE);
        total.add(RunStatus::Running, f64::NAN, Quantity::NONE, Quantity::NONE);
        let mut other = PlaceTotal::default();
        other.add(RunStatus::Unfinished, f64::NAN, Quantity::NONE, Quantity::NONE);
        other.add(RunStatus::Finished, -1.0, Quantity::new(0), Quantity::new(5));
        total.merge(other);
        let value = Some("etl".to_owned());
        let expected = Place {
            value: value.clone(),
            runs: 5,
            running: 1,
            failed: 1,
            cancelled: 1,
            unfinished: 1,
            total_wall_ms: 3.0,
            total_cpu_ms: Some(0.001_5),
            cpu_runs: 3,
            total_bytes_read: Some(12),
            bytes_read_runs: 2,
        };
        assert_eq!(total.named(value), expected);
    }

    #[test]
    fn what_no_run_sent_is_not_known() {
        let mut total = PlaceTotal::default();
        total.add(RunStatus::Finished, 2.5, Quantity::NONE, Quantity::NONE);
        let place = total.named(None);
        assert_eq!((place.total_cpu_ms, place.cpu_runs), (None, 0));
        assert_eq!((place.total_bytes_read, place.bytes_read_runs), (None, 0));
    }

    #[test]
    fn figures_of_any_runs_can_be_added() {
        let mut total = PlaceTotal::default();
        total.add(RunStatus::Finished, 2.5, Quantity::new(u64::MAX), Quantity::new(u64::MAX));
        total.merge(total);
        let place = total.named(None);
        assert_eq!(place.total_cpu_ms, Some(2_f64.powi(65) / 1e6));
        assert_eq!(place.total_bytes_read, Some(BYTES_MAX));
    }
}
