//! Which warnings are new?

use std::collections::{BTreeSet, HashSet};

use crate::limits::NEW_RULE_EARLIER_RUNS_MIN;
use crate::run::Run;
use crate::window::Window;

/// What is known of the runs of a label that came before those that were given.
///
/// A warning is new when no earlier run had it, however long ago. Whoever keeps a label's first sight of each
/// warning need not read its whole history: what lies before
/// [`Window::runs_since_unix_ns`](crate::Window::runs_since_unix_ns) can be given as this.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Earlier<'a> {
    /// How many there were.
    pub runs: u64,
    /// Names of the insights that warned in any of them.
    pub rules: &'a [&'a str],
}

/// The warnings first seen in the last 7 days, by name; none when fewer than [`NEW_RULE_EARLIER_RUNS_MIN`] runs
/// came before those days, for then nearly all would be new. The last 7 days hold the moment they begin at.
///
/// Runs are those of a label until now, in order. A run has a say whatever its state.
pub(crate) fn new_rules<'a>(ordered: &[Run<'a>], earlier: &Earlier<'a>, window: &Window) -> Vec<&'a str> {
    let since = window.new_rules_since_unix_ns();
    let (before, within) = ordered.split_at(ordered.partition_point(|run| run.started_unix_ns < since));
    if earlier.runs.saturating_add(before.len() as u64) < NEW_RULE_EARLIER_RUNS_MIN {
        return Vec::new();
    }
    let mut rules: BTreeSet<&str> = rules_of(within).collect();
    for rule in earlier.rules.iter().copied().chain(rules_of(before)) {
        rules.remove(rule);
    }
    rules.into_iter().collect()
}

/// The warnings of some runs, each once.
#[derive(Debug, Clone, Default)]
pub(crate) struct RuleSet<'a> {
    names: BTreeSet<&'a str>,
    /// Where the lists lie that have been added: runs of one plan share theirs, and are many.
    lists: HashSet<(usize, usize)>,
}

impl<'a> RuleSet<'a> {
    /// Adds the warnings of a run.
    pub(crate) fn add(&mut self, rules: &'a [&'a str]) {
        if !rules.is_empty() && self.lists.insert((rules.as_ptr().addr(), rules.len())) {
            self.names.extend(rules);
        }
    }

    /// The warnings by name.
    pub(crate) fn into_names(self) -> Vec<&'a str> {
        self.names.into_iter().collect()
    }
}

/// The warnings of runs, as often as they warned.
pub(crate) fn rules_of<'a>(runs: &[Run<'a>]) -> impl Iterator<Item = &'a str> {
    runs.iter().flat_map(|run| run.rules).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::DAY_NS;
    use crate::sample::run;

    const NOW: i64 = 100 * DAY_NS;
    const WEEK: i64 = 7 * DAY_NS;

    fn check(runs: &[(i64, &[&str])], earlier: Earlier<'_>, expected: &[&str]) {
        let window = Window::new(NOW, 14, 0).expect("a window");
        let ordered: Vec<Run<'_>> =
            runs.iter().map(|(ago_ns, rules)| Run { rules, ..run(NOW - ago_ns) }).collect();
        assert_eq!(new_rules(&ordered, &earlier, &window), expected);
    }

    const FIVE: Earlier<'_> = Earlier { runs: 5, rules: &["old"] };

    #[test]
    fn a_warning_is_new_for_7_days_to_the_nanosecond() {
        check(&[(WEEK, &["skew"])], FIVE, &["skew"]);
        check(&[(WEEK + 1, &["skew"])], FIVE, &[]);
        check(&[(WEEK + 1, &["skew"]), (0, &["skew"])], FIVE, &[]);
    }

    #[test]
    fn what_was_seen_before_is_not_new() {
        check(&[(1, &["old", "skew"]), (0, &["old", "spill"])], FIVE, &["skew", "spill"]);
    }

    #[test]
    fn nothing_is_new_before_5_earlier_runs() {
        let four = [(WEEK + 5, &[][..]), (WEEK + 4, &[]), (WEEK + 3, &[]), (WEEK + 2, &[]), (0, &["skew"])];
        check(&four, Earlier::default(), &[]);
        check(&four, Earlier { runs: 1, rules: &[] }, &["skew"]);
        // A fifth that is within the 7 days is not an earlier one; a nanosecond before, it is.
        let fifth = |ago_ns| [&four[..4], &[(ago_ns, &[][..]), (0, &["skew"])]].concat();
        check(&fifth(WEEK), Earlier::default(), &[]);
        check(&fifth(WEEK + 1), Earlier::default(), &["skew"]);
    }
}
