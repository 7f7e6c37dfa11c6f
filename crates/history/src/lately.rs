//! Which runs of a label are the lately runs, and which came in the 14 days before them?

use crate::limits::{LATELY_RUNS_MIN, USUAL_NS};
use crate::run::Run;
use crate::window::Window;

/// The runs of a label that say what is usual, and those that say how it is now.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Lately<'r, 'a> {
    /// The runs of the last 24 hours, or the last three where those are fewer.
    pub(crate) runs: &'r [Run<'a>],
    /// The runs of the 14 days before the first of them. Those that finished are the usual runs.
    pub(crate) before: &'r [Run<'a>],
}

impl<'r, 'a> Lately<'r, 'a> {
    /// Among the runs of a label until now, in order.
    ///
    /// Both stretches hold the moment they begin at: the last 24 hours that of 24 hours ago, the 14 days that of
    /// 14 days before the start of the first lately run.
    pub(crate) fn of(ordered: &'r [Run<'a>], window: &Window) -> Self {
        let last_day = ordered.partition_point(|run| run.started_unix_ns < window.lately_since_unix_ns());
        let first = last_day.min(ordered.len().saturating_sub(LATELY_RUNS_MIN));
        let (before, runs) = ordered.split_at(first);
        let Some(first_lately) = runs.first() else { return Self { runs, before } };
        let usual_since = first_lately.started_unix_ns.saturating_sub(USUAL_NS);
        let first_usual = before.partition_point(|run| run.started_unix_ns < usual_since);
        Self { runs, before: &before[first_usual..] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::DAY_NS;
    use crate::sample::{id, run};

    const NOW: i64 = 100 * DAY_NS;

    /// Runs that started so long ago, in order, are split into so many too old, so many before, so many lately.
    fn check(ago_ns: &[i64], expected: (usize, usize, usize)) {
        let window = Window::new(NOW, 14, 0).expect("a window");
        let ordered: Vec<Run<'_>> = ago_ns.iter().map(|ago| run(NOW - ago)).collect();
        let Lately { runs, before } = Lately::of(&ordered, &window);
        assert_eq!(
            (ordered.len() - before.len() - runs.len(), before.len(), runs.len()),
            expected,
            "{ago_ns:?}"
        );
    }

    #[test]
    fn three_runs_of_the_last_24_hours_are_enough() {
        check(&[DAY_NS + 1, DAY_NS, 1, 0], (0, 1, 3));
        check(&[DAY_NS, 3, 2, 1, 0], (0, 0, 5));
    }

    #[test]
    fn with_fewer_it_is_the_last_three() {
        check(&[4 * DAY_NS, 3 * DAY_NS, 2 * DAY_NS, 1, 0], (0, 2, 3));
        check(&[6 * DAY_NS, 5 * DAY_NS, 4 * DAY_NS, 3 * DAY_NS], (0, 1, 3));
        check(&[5 * DAY_NS, 0], (0, 0, 2));
        check(&[], (0, 0, 0));
    }

    #[test]
    fn the_14_days_are_counted_from_the_first_lately_run() {
        let first = DAY_NS / 2;
        check(&[first + 14 * DAY_NS + 1, first + 14 * DAY_NS, first, 1, 0], (1, 1, 3));
        let first = 40 * DAY_NS;
        check(&[first + 14 * DAY_NS + 1, first + 14 * DAY_NS, first, first - 1, 0], (1, 1, 3));
    }

    #[test]
    fn of_runs_with_one_start_exactly_three_are_lately() {
        let window = Window::new(NOW, 14, 0).expect("a window");
        let ordered: Vec<Run<'_>> =
            (0..5).map(|n| Run { query_id: id(n), ..run(NOW - 2 * DAY_NS) }).collect();
        let lately = Lately::of(&ordered, &window);
        assert_eq!((lately.before, lately.runs), ordered.split_at(2));
    }
}
