//! States of runs as the columns keep them: those of [`Status`], and one of failed runs that were cancelled.

use queryscope_protocol::vocabulary::cancelled::is_cancelled;
use queryscope_store::Status;

/// A failed run that a person or the program stopped. To filters it is a failed one.
pub(crate) const CANCELLED: u8 = Status::ALL.len() as u8;

/// States that there are.
pub(crate) const STATES: usize = Status::ALL.len() + 1;

/// The state of a run whose engine gave this error text, if it failed.
pub fn state_of(status: Status, error: Option<&str>) -> u8 {
    match status {
        Status::Failed if error.is_some_and(is_cancelled) => CANCELLED,
        status => status.number(),
    }
}

/// The number of the status that the API gives a run of this state.
pub(crate) fn status_number(state: u8) -> u8 {
    if state == CANCELLED { Status::Failed.number() } else { state }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cancelled_run_is_told_by_its_error_and_failed_to_filters() {
        let states = [None, Some("KeyboardInterrupt"), Some("division by zero")]
            .map(|error| state_of(Status::Failed, error));
        assert_eq!(states, [Status::Failed.number(), CANCELLED, Status::Failed.number()]);
        assert_eq!(state_of(Status::Unfinished, Some("cancelled")), Status::Unfinished.number());
        assert!((0..STATES as u8).all(|state| Status::of_number(status_number(state)).is_some()));
    }
}
