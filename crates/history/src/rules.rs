//! Which warnings are new?

use std::collections::BTreeSet;

use crate::limits::NEW_RULE_EARLIER_RUNS_MIN;

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
/// `within` are the warnings in runs of those days, `before` those in the `runs_before` that came before them;
/// `earlier` says the same of runs that came before these and is asked only where that matters. A run has a say
/// whatever its state.
pub(crate) fn new_rules<'a>(
    mut within: BTreeSet<&'a str>,
    before: &BTreeSet<&'a str>,
    runs_before: u64,
    earlier: impl FnOnce() -> (u64, Vec<&'a str>),
) -> Vec<&'a str> {
    within.retain(|rule| !before.contains(rule));
    if within.is_empty() {
        return Vec::new();
    }
    let (earlier_runs, earlier_rules) = earlier();
    if earlier_runs.saturating_add(runs_before) < NEW_RULE_EARLIER_RUNS_MIN {
        return Vec::new();
    }
    for rule in earlier_rules {
        within.remove(rule);
    }
    within.into_iter().collect()
}

/// Warnings, each once, by name.
pub(crate) fn distinct_rules<'a>(rules: impl IntoIterator<Item = &'a str>) -> BTreeSet<&'a str> {
    rules.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::DAY_NS;
    use crate::overview::LabelOverview;
    use crate::run::Run;
    use crate::sample::run;
    use crate::window::Window;

    const NOW: i64 = 100 * DAY_NS;
    const WEEK: i64 = 7 * DAY_NS;

    fn check(runs: &[(i64, &[&str])], earlier: Earlier<'_>, expected: &[&str]) {
        let window = Window::new(NOW, 14, 0).expect("a window");
        let runs: Vec<Run<'_>> =
            runs.iter().map(|(ago_ns, rules)| Run { rules, ..run(NOW - ago_ns) }).collect();
        assert_eq!(LabelOverview::of(&window, &runs, &earlier).expect("runs").new_rules, expected);
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
