//! What ran in each slice of 6 hours, and on each local day?
//!
//! Slices are counted from the start of the range and days from local midnight, so they overlap. The range is
//! cut where either begins; both are made of the same cells, in which times are sorted once, by counting.

use crate::failure::Failures;
use crate::overview::Day;
use crate::point::Point;
use crate::quantile::{Median, median};
use crate::window::Window;

/// Memory of so many times is kept for other runs.
const TIMES_KEPT: usize = 65_536;

/// The cells of a range, and the runs in each.
#[derive(Debug)]
pub(crate) struct Cells {
    /// The first cell of each slice, and where the next day begins in it: behind this moment.
    slices: Vec<(u32, i64)>,
    parts: Vec<Cell>,
    /// Times by cell.
    times_ms: Vec<f64>,
    some_ms: Vec<f64>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Cell {
    day: usize,
    runs: u32,
    failures: Failures,
    /// Where its times end, once they lie by cell; before, how many they are.
    times: usize,
}

impl Cells {
    pub(crate) fn of(window: &Window) -> Self {
        let mut slices = Vec::with_capacity(window.slice_count() + 1);
        let mut cells: Vec<Cell> = Vec::new();
        for slice in 0..window.slice_count() {
            let (first, last) = window.slice(slice);
            let (day, next) = (window.day_of(first), window.day_of(last));
            let day_ends = if next > day { window.day_begin(next).saturating_sub(1) } else { i64::MAX };
            slices.push((cells.len() as u32, day_ends));
            cells.extend((day..=next).map(|day| Cell { day, ..Cell::default() }));
        }
        slices.push((cells.len() as u32, i64::MAX));
        Self { slices, parts: cells, times_ms: Vec::new(), some_ms: Vec::new() }
    }

    /// Takes in the runs of a range, instead of those before.
    pub(crate) fn fill(&mut self, window: &Window, points: &[Point]) {
        for cell in &mut self.parts {
            *cell = Cell { day: cell.day, ..Cell::default() };
        }
        let since_unix_ns = window.since_unix_ns();
        let range = || points.iter().filter(|point| point.started_unix_ns >= since_unix_ns);
        for point in range() {
            let at = self.cell_of(window, point);
            let cell = &mut self.parts[at];
            cell.runs += 1;
            cell.failures.add(point.failure);
            cell.times += usize::from(!point.time_ms.is_nan());
        }
        let mut begin = 0;
        for cell in &mut self.parts {
            (cell.times, begin) = (begin, begin + cell.times);
        }
        self.times_ms.clear();
        self.times_ms.shrink_to(TIMES_KEPT);
        self.times_ms.resize(begin, 0.0);
        for point in range() {
            if let Some(time_ms) = point.time() {
                let at = self.cell_of(window, point);
                let end = &mut self.parts[at].times;
                self.times_ms[*end] = time_ms;
                *end += 1;
            }
        }
    }

    /// Median time of each slice.
    pub(crate) fn slices(&mut self) -> Vec<Median> {
        let mut begin = 0;
        let slices = self.slices.windows(2).map(|slice| {
            let end = self.parts[slice[1].0 as usize - 1].times;
            // The days are still to be told from the times as they lie.
            self.some_ms.clear();
            self.some_ms.extend_from_slice(&self.times_ms[begin..end]);
            begin = end;
            median(&mut self.some_ms).into()
        });
        slices.collect()
    }

    /// What ran on each day; afterwards the times lie in another order.
    pub(crate) fn take_days(&mut self, window: &Window) -> Vec<Day> {
        let mut days = vec![Day::default(); window.day_count()];
        let mut begin = 0;
        for cells in self.parts.chunk_by(|a, b| a.day == b.day) {
            let end = cells[cells.len() - 1].times;
            let mut failures = Failures::default();
            for cell in cells {
                failures.merge(cell.failures);
            }
            days[cells[0].day] = Day {
                runs: cells.iter().map(|cell| cell.runs).sum(),
                failed: failures.failed as u32,
                cancelled: failures.cancelled as u32,
                unfinished: failures.unfinished as u32,
                median_wall_ms: median(&mut self.times_ms[begin..end]).into(),
            };
            begin = end;
        }
        days
    }

    fn cell_of(&self, window: &Window, point: &Point) -> usize {
        let (first, day_ends) = self.slices[window.slice_of(point.started_unix_ns)];
        first as usize + usize::from(point.started_unix_ns > day_ends)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_cut_where_slices_and_days_begin() {
        const HOUR_NS: i64 = 3_600_000_000_000;
        // From 15:00 to 15:00: slices begin at 15, 21, 3 and 9; the day at midnight, in the second one.
        let cells = Cells::of(&Window::new(15 * HOUR_NS, 1, 0).expect("a window"));
        let days: Vec<usize> = cells.parts.iter().map(|cell| cell.day).collect();
        assert_eq!(days, [0, 0, 1, 1, 1]);
        let ends: Vec<_> = cells.slices.iter().map(|(first, _)| *first).collect();
        assert_eq!(ends, [0, 1, 3, 4, 5]);
        assert_eq!(cells.slices[1].1, -1);
    }
}
