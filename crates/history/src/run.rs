//! One run of a query, as far as history looks at it.

use queryscope_protocol::QueryId;

/// State of a run; the names are those of a query's states, but that of a cancelled one, whose state is `failed`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RunStatus {
    /// It has not ended.
    Running,
    /// It ended without an error.
    Finished,
    /// It ended with an error.
    Failed,
    /// It ended with an error that says that a person or the program stopped it.
    Cancelled,
    /// Nothing has been heard of it for too long.
    Unfinished,
}

/// One run of a query; its texts are borrowed from whoever keeps them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Run<'a> {
    /// The run; tells runs of the same start apart.
    pub query_id: QueryId,
    /// When it started, in Unix nanoseconds.
    pub started_unix_ns: i64,
    /// Its state.
    pub status: RunStatus,
    /// Wall time in milliseconds, where it is known.
    pub wall_ms: Option<f64>,
    /// What the process is that ran it.
    pub service: Option<&'a str>,
    /// Hash of its plan.
    pub fingerprint: Option<&'a str>,
    /// Names of the insights that warned.
    pub rules: &'a [&'a str],
}

impl Run<'_> {
    /// The run's part in every median, quartile, test and total, in milliseconds: its wall time if it
    /// finished. A run that failed, is unfinished or still runs has none; neither has a wall time that is
    /// not a finite number of at least 0, which no valid event holds.
    pub fn time_ms(&self) -> Option<f64> {
        self.wall_ms.filter(|ms| self.status == RunStatus::Finished && ms.is_finite() && *ms >= 0.0)
    }

    /// Place of the run among others: by start, then by id, so that the order in which runs are given never
    /// shows.
    pub(crate) fn place(&self) -> (i64, QueryId) {
        (self.started_unix_ns, self.query_id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::run;

    #[test]
    fn only_a_finished_run_has_a_time() {
        let time = |status, wall_ms| Run { status, wall_ms, ..run(0) }.time_ms();
        assert_eq!(time(RunStatus::Finished, Some(2.5)), Some(2.5));
        assert_eq!(time(RunStatus::Finished, Some(0.0)), Some(0.0));
        assert_eq!(time(RunStatus::Finished, None), None);
        for other in [RunStatus::Running, RunStatus::Failed, RunStatus::Cancelled, RunStatus::Unfinished] {
            assert_eq!(time(other, Some(2.5)), None, "{other:?}");
        }
    }

    #[test]
    fn what_is_not_a_time_has_no_part() {
        for wall_ms in [f64::NAN, f64::INFINITY, -1.0] {
            assert_eq!(Run { wall_ms: Some(wall_ms), ..run(0) }.time_ms(), None, "{wall_ms}");
        }
    }
}
