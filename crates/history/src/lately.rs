//! Which runs of a label are the lately runs, and which came in the 14 days before them?

use crate::limits::{LATELY_RUNS_MIN, USUAL_NS};
use crate::point::{Place, Point};
use crate::window::Window;

/// Where the runs of a label that say how it is now begin, and those before them that say what is usual.
///
/// The lately runs are those of the last 24 hours, or the last three where those are fewer. Before them come the
/// runs of the 14 days before the first of them; those of these that finished are the usual runs. Both stretches
/// hold the moment they begin at: the last 24 hours that of 24 hours ago, the 14 days that of 14 days before the
/// start of the first lately run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lately {
    /// The first lately run.
    first: Place,
    usual_since_unix_ns: i64,
}

/// On which side a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// More than 14 days before the lately runs.
    Earlier,
    /// In the 14 days before them.
    Before,
    /// Among them.
    Lately,
}

impl Lately {
    /// Of the runs of a label until now, in any order; `None` of none.
    pub(crate) fn of(points: &[Point], window: &Window) -> Option<Self> {
        let since_unix_ns = window.lately_since_unix_ns();
        let last_day = points.iter().filter(|point| point.started_unix_ns >= since_unix_ns);
        let first = if last_day.clone().count() >= LATELY_RUNS_MIN {
            last_day.map(Point::place).min()
        } else {
            first_of_the_last(points)
        }?;
        Some(Self { first, usual_since_unix_ns: first.0.saturating_sub(USUAL_NS) })
    }

    pub(crate) fn side_of(&self, point: &Point) -> Side {
        if point.place() >= self.first {
            Side::Lately
        } else if point.started_unix_ns >= self.usual_since_unix_ns {
            Side::Before
        } else {
            Side::Earlier
        }
    }
}

/// The first of the last three runs, or of all where there are fewer.
fn first_of_the_last(points: &[Point]) -> Option<Place> {
    let mut last: [Option<Place>; LATELY_RUNS_MIN] = [None; LATELY_RUNS_MIN];
    for point in points {
        let place = Some(point.place());
        if place > last[0] {
            last[0] = place;
            last.sort_unstable();
        }
    }
    last.into_iter().flatten().next()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::DAY_NS;
    use crate::point::Numbered;
    use crate::run::Run;
    use crate::sample::{id, run};

    const NOW: i64 = 100 * DAY_NS;

    fn sides(runs: impl IntoIterator<Item = Run<'static>>) -> (usize, usize, usize) {
        let window = Window::new(NOW, 14, 0).expect("a window");
        let points = Numbered::of(runs).points;
        let count = |side| {
            let of = |point: &&Point| Lately::of(&points, &window).is_some_and(|l| l.side_of(point) == side);
            points.iter().filter(of).count()
        };
        (count(Side::Earlier), count(Side::Before), count(Side::Lately))
    }

    /// Runs that started so long ago are split into so many too old, so many before, so many lately.
    fn check(ago_ns: &[i64], expected: (usize, usize, usize)) {
        assert_eq!(sides(ago_ns.iter().map(|ago| run(NOW - ago))), expected, "{ago_ns:?}");
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
        let runs = (0..5).map(|n| Run { query_id: id(n), ..run(NOW - 2 * DAY_NS) });
        assert_eq!(sides(runs), (0, 2, 3));
    }
}
