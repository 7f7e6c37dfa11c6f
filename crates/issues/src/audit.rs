//! Whether what is stored of an issue is one history.

use crate::issue::{Issue, State};
use crate::transition::Transition;

/// What is wrong with an issue by its transitions, in the order they were made.
pub fn problems(issue: &Issue, transitions: &[Transition]) -> Vec<String> {
    let mut problems = Vec::new();
    let mut state = None;
    for (transition, number) in transitions.iter().zip(1..) {
        if transition.number != number {
            problems.push(format!("its transition {number} is not there"));
            return problems;
        }
        if transition.from != state {
            problems.push(format!(
                "its transition {number} begins with another state than the one before ended with"
            ));
        }
        state = Some(transition.to);
    }
    if transitions.len() as u64 != issue.transitions {
        problems.push(format!("it made {} transitions, {} are there", issue.transitions, transitions.len()));
    } else if state != Some(issue.state) {
        problems.push(format!("it is {}, its last transition says otherwise", issue.state.name()));
    }
    if issue.state == State::Muted && issue.mute.is_none() {
        problems.push("it is muted until nothing".into());
    }
    problems
}
