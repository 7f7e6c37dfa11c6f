//! Which runs failed, which of these were cancelled, and which were lost?

use crate::run::RunStatus;

/// How a run ended that did not finish.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Failure {
    /// It finished, or runs.
    #[default]
    None,
    /// It ended with an error.
    Failed,
    /// A person or the program stopped it.
    Cancelled,
    /// Nothing was heard of it for too long: it is no failure.
    Unfinished,
}

impl Failure {
    /// That of a run of this state.
    pub fn of(status: RunStatus) -> Self {
        match status {
            RunStatus::Failed => Self::Failed,
            RunStatus::Cancelled => Self::Cancelled,
            RunStatus::Unfinished => Self::Unfinished,
            RunStatus::Running | RunStatus::Finished => Self::None,
        }
    }

    /// Whether its status is `failed` in the API: also where it was cancelled.
    pub(crate) fn is_failed(self) -> bool {
        matches!(self, Self::Failed | Self::Cancelled)
    }
}

/// Runs that did not finish. Cancelled ones are among the failed: a cancelled run has the status `failed` in the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Failures {
    pub(crate) failed: u64,
    pub(crate) cancelled: u64,
    pub(crate) unfinished: u64,
}

impl Failures {
    pub(crate) fn add(&mut self, failure: Failure) {
        self.failed += u64::from(failure.is_failed());
        self.cancelled += u64::from(failure == Failure::Cancelled);
        self.unfinished += u64::from(failure == Failure::Unfinished);
    }

    pub(crate) fn merge(&mut self, other: Self) {
        self.failed += other.failed;
        self.cancelled += other.cancelled;
        self.unfinished += other.unfinished;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cancelled_run_is_one_of_the_failed() {
        let mut failures = Failures::default();
        let states = [
            RunStatus::Running,
            RunStatus::Finished,
            RunStatus::Failed,
            RunStatus::Cancelled,
            RunStatus::Unfinished,
        ];
        states.map(Failure::of).into_iter().for_each(|failure| failures.add(failure));
        failures.merge(failures);
        assert_eq!(failures, Failures { failed: 4, cancelled: 2, unfinished: 2 });
    }
}
