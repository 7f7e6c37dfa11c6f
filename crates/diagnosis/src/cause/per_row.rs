//! Whether all nodes work longer for a row: then it is the processor, and no node.
//!
//! On a busy machine they are not slower alike: short ones end before the processor is taken away from them. So there
//! are two answers: what all nodes share, and what most of the work has where nearly all of it is slower.
//!
//! More rows make each row dearer as well, where what is sorted, joined or grouped no longer fits a cache, and so do
//! longer ones. So nodes that have more data must share more than that, and nearly all of them say nothing.

use super::account::MOVED;
use super::median_plan::Medians;
use crate::plan::Matching;

/// All nodes are slower alike where what they share is this part of what they are slower by.
const ALIKE_PART: f64 = 0.5;
/// What all nodes are slower by is what this part of the work is not slower than.
const LEAST_PART: f64 = 0.2;
/// A node that takes so many times as long for a row is slower.
pub(super) const SLOWER: f64 = 1.15;
/// Nearly all nodes are slower where they did this part of the work.
const NEARLY_ALL: f64 = 0.85;
/// Where a node has more than this part of what all work longer, it is that node.
const MOST_ADDED: f64 = 0.8;
/// Nodes with less than this part of the work say nothing of whether all are slower.
const NODE_PART: f64 = 0.03;

/// By how much nodes work longer a row.
#[derive(Debug)]
pub(super) struct PerRow {
    /// The factor and the work before of each node that matters, the smallest factor first.
    nodes: Vec<(f64, f64)>,
    work: f64,
    /// How many times the data these nodes have: rows, or bytes of scans where these grew more.
    data_grown: f64,
}

impl PerRow {
    pub(super) fn of(then: &Medians, now: &Medians, matching: &Matching) -> Self {
        let all = then.busy();
        let (mut work_of_rows, mut bytes) = (0.0, (0.0, 0.0));
        let mut nodes: Vec<(f64, f64)> = Vec::new();
        for (here, node) in now.nodes.iter().enumerate() {
            let Some(there) = matching.of_new[here] else { continue };
            let before = &then.nodes[there];
            if let Some((then, now)) = before.bytes_read.zip(node.bytes_read) {
                bytes = (bytes.0 + then, bytes.1 + now);
            }
            if before.busy < NODE_PART * all || node.busy <= 0.0 {
                continue;
            }
            let grown = node.rows().zip(before.rows()).filter(|(now, then)| *now > 0.0 && *then > 0.0);
            let by_rows = grown.map_or(1.0, |(now, then)| now / then);
            nodes.push((node.busy / before.busy / by_rows, before.busy));
            work_of_rows += by_rows * before.busy;
        }
        nodes.sort_by(|a, b| a.0.total_cmp(&b.0));
        let work = nodes.iter().map(|(_, work)| work).sum();
        let times = |(then, now): (f64, f64)| if then > 0.0 { now / then } else { 1.0 };
        let data_grown = times((work, work_of_rows)).max(times(bytes));
        Self { nodes, work, data_grown }
    }

    /// The factor that this part of the work does not exceed; 1 where no node matters.
    fn quantile(&self, part: f64) -> f64 {
        quantile(&self.nodes, part).unwrap_or(1.0)
    }

    /// By how much all nodes are slower at least. One that does nearly all of the work does not speak for the others.
    pub(super) fn least(&self) -> f64 {
        let least = self.quantile(LEAST_PART);
        let largest = self.nodes.iter().map(|(_, work)| *work).fold(0.0, f64::max);
        if largest <= (1.0 - LEAST_PART) * self.work {
            return least;
        }
        let others: Vec<_> = self.nodes.iter().copied().filter(|(_, work)| *work < largest).collect();
        quantile(&others, 0.5).map_or(least, |others| least.min(others))
    }

    /// Whether each node that matters is slower, and not by the data it has more of.
    pub(super) fn are_all_slower(&self) -> bool {
        self.nodes.first().is_some_and(|(least, _)| *least >= SLOWER && *least > self.data_grown)
    }

    /// By how much all nodes are slower, where they share most of what they are slower by.
    pub(super) fn alike(&self, slower_by: f64, busy_then: f64) -> Option<f64> {
        let least = self.least();
        let shared = busy_then * (least - 1.0);
        let is_alike = self.nodes.len() >= 2 && least >= SLOWER && shared >= ALIKE_PART * slower_by;
        (is_alike && least > self.data_grown).then_some(least)
    }

    /// By how much most nodes are slower, where nearly all are, and no single one is most of the work, or of what is
    /// worked longer: short ones end before a busy machine takes the processor away from them.
    pub(super) fn nearly_all(&self) -> Option<f64> {
        let slower = || self.nodes.iter().filter(|(factor, _)| *factor >= SLOWER);
        let work: f64 = slower().map(|(_, work)| work).sum();
        let largest = slower().map(|(_, work)| *work).fold(0.0, f64::max);
        let middle = self.quantile(0.5);
        let spread = slower().count() >= 3 && work >= NEARLY_ALL * self.work && largest <= 0.7 * self.work;
        let added = slower().map(|(factor, work)| (factor - 1.0) * work);
        let shared = added.clone().fold(0.0, f64::max) <= MOST_ADDED * added.sum::<f64>();
        (spread && shared && middle >= 2.0 && self.data_grown < MOVED).then_some(middle)
    }
}

/// The factor that this part of the work of nodes does not exceed, of the smallest factor first.
fn quantile(nodes: &[(f64, f64)], part: f64) -> Option<f64> {
    let all: f64 = nodes.iter().map(|(_, work)| work).sum();
    let mut sum = 0.0;
    let found = nodes.iter().find(|(_, work)| {
        sum += work;
        sum >= all * part
    });
    found.map(|(factor, _)| *factor)
}
