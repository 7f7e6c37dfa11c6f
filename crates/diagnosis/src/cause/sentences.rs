//! What the parts of an account say, with the figures they rest on.

use queryscope_insights::columns_of;
use queryscope_protocol::Role;

use super::account::{Accounts, MOVED, ms};
use super::median_plan::{Medians, NodeMedians};
use super::words::{
    BUSY_PER_ROW, ROWS_PASSED, bytes_words, count_words, factor_words, figure, longer_words, ms_words,
};
use crate::change::Figure;

/// Differences of a plan that are told; the others are counted.
const DIFFERENCES_TOLD: usize = 2;

impl Accounts<'_> {
    pub(super) fn per_row_words(&self, here: usize) -> (String, Vec<Figure>) {
        let (node, planned) = (&self.now.nodes[here], &self.now.plan.nodes[here]);
        let before = self.matching.of_new[here].map(|there| &self.then.nodes[there]);
        let per_row =
            |node: &NodeMedians| node.rows().filter(|&rows| rows > 0.0).map(|rows| node.busy / rows);
        let (then, now) = (before.and_then(per_row), per_row(node));
        let grown = before.and_then(NodeMedians::rows).zip(node.rows());
        let grown = grown.filter(|(then, now)| *then > 0.0 && *now >= MOVED * then);
        let sentence = match (then, now) {
            (Some(then), Some(now)) if then > 0.0 => {
                let old = self.matching.of_new[here].map(|there| self.then.plan.nodes[there].name());
                let other = old.filter(|old| *old != planned.name() && planned.table.is_some());
                let than = other.map_or_else(String::new, |old| format!(", {old} before"));
                let rows = grown.map_or_else(String::new, |(then, now)| {
                    format!(", of which it has {} as many", factor_words(now / then))
                });
                format!("{} takes {} for each row{rows}{than}", planned.name(), longer_words(now / then))
            }
            _ => format!("{} works longer", planned.name()),
        };
        let rows = grown.map(|(then, now)| figure(ROWS_PASSED, Some(then), Some(now), "rows"));
        let evidence = std::iter::once(figure(BUSY_PER_ROW, then, now, "ns")).chain(rows);
        (sentence, evidence.collect())
    }

    pub(super) fn spill_words(&self, here: usize) -> (String, Vec<Figure>) {
        let (node, planned) = (&self.now.nodes[here], &self.now.plan.nodes[here]);
        let is_told = !self.query_spills();
        let (before, now) = if is_told {
            let before = self.matching.of_new[here].map_or(0.0, |there| self.then.nodes[there].spilled);
            (before, node.spilled)
        } else {
            (self.then.spilled, self.now.spilled)
        };
        let [was, bytes] = [before, now].map(|bytes| match bytes {
            0.0 => "nothing".to_owned(),
            bytes => bytes_words(bytes),
        });
        let sentence = if is_told {
            format!("{} spills {bytes} to disk instead of {was}", planned.name())
        } else {
            let (slower, _) = self.per_row_words(here);
            format!("The query spills {bytes} to disk instead of {was}: {slower}")
        };
        (sentence, vec![figure("spilled", Some(before), Some(now), "bytes")])
    }

    pub(super) fn user_code_words(&self, here: usize) -> String {
        let node = &self.now.plan.nodes[here];
        let rows = self.now.nodes[here]
            .rows_in
            .map_or_else(String::new, |rows| format!(" for {} rows", count_words(rows)));
        format!("{} calls user code ({}){rows}", node.name(), node.user_code.as_deref().unwrap_or("unnamed"))
    }

    pub(super) fn wait_words(&self, here: usize) -> (String, Vec<Figure>) {
        let (node, planned) = (&self.now.nodes[here], &self.now.plan.nodes[here]);
        let before = self.matching.of_new[here].map(|there| &self.then.nodes[there]);
        // Beside each other: no partition waits longer than the run takes.
        let (then, now) = (before.and_then(NodeMedians::wall_waiting), node.wall_waiting());
        let bytes = before.and_then(|node| node.bytes_read).zip(node.bytes_read);
        let same = bytes.filter(|(then, now)| (0.98..=1.02).contains(&(now / then.max(1.0))));
        let sentence = format!(
            "{} waits for data for {} instead of {}{}",
            planned.name(),
            ms_words(now.unwrap_or(0.0) / 1e6),
            ms_words(then.unwrap_or(0.0) / 1e6),
            same.map_or_else(String::new, |(_, bytes)| format!(", for the same {}", bytes_words(bytes)))
        );
        (sentence, vec![figure("waiting", ms(then), ms(now), "ms")])
    }

    /// What is different about the plan, which has a part of so much.
    pub(super) fn plan_words(&self, part: f64) -> (String, Option<usize>) {
        let differences = self.matching.differences(&self.then.plan, &self.now.plan);
        if let Some((here, input, old)) = self.first_rewired().filter(|_| differences.is_empty()) {
            let [reader, input] = [here, input].map(|node| self.now.plan.nodes[node].name());
            let words = match self.filter_that_came_above(here, old) {
                Some(columns) => format!("the filter on {columns} now runs after {reader}"),
                None => {
                    format!("{reader} reads from {input} instead of {}", self.then.plan.nodes[old].name())
                }
            };
            return (format!("{}: {words}", self.plan_changed(part)), Some(here));
        }
        let mut texts: Vec<(&str, usize)> = Vec::new();
        for difference in &differences {
            match texts.iter_mut().find(|(text, _)| *text == difference.text) {
                Some((_, times)) => *times += 1,
                None => texts.push((&difference.text, 1)),
            }
        }
        let words = |&(text, times): &(&str, usize)| match times {
            1 => text.to_owned(),
            times => format!("{text} ({times} times)"),
        };
        let shown: Vec<String> = texts.iter().take(DIFFERENCES_TOLD).map(words).collect();
        let more: usize = texts.iter().skip(DIFFERENCES_TOLD).map(|(_, times)| times).sum();
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        let node = differences.iter().find_map(|difference| difference.node);
        (format!("{}: {}{more}", self.plan_changed(part), shown.join("; ")), node)
    }

    /// The columns of the filter that a node read from before and that reads from it now.
    fn filter_that_came_above(&self, here: usize, old: usize) -> Option<String> {
        let filter = self.matching.of_old[old]?;
        let node = &self.now.plan.nodes[filter];
        let is_above = self.now.plan.readers(here).any(|reader| reader == filter);
        let columns = columns_of(node.predicate.as_deref()?);
        let is_told = node.role == Role::Selection && is_above && !columns.is_empty();
        is_told.then(|| columns.into_iter().collect::<Vec<_>>().join(", "))
    }

    fn plan_changed(&self, part: f64) -> &'static str {
        // Other parts may have more of the work than the plan.
        let more = self.now.busy() - self.then.busy();
        if more * part <= 0.0 {
            "The plan changed"
        } else if more > 0.0 {
            "The plan changed and works more"
        } else {
            "The plan changed and works less"
        }
    }

    pub(super) fn starved_words(&self, slower: f64) -> String {
        let part = |side: &Medians| {
            side.busy_over_cpu.filter(|&over| over > 0.0).map(|over| (100.0 / over).min(100.0).round())
        };
        match (part(self.then), part(self.now)) {
            (Some(then), Some(now)) if self.is_starved() => {
                let why = if slower > 1.0 { ": a quota, or other programs" } else { "" };
                format!("Threads got {now} % of the processor they asked for ({then} % before){why}")
            }
            _ => {
                let why = if slower > 1.0 {
                    "a slower or shared processor"
                } else {
                    "a faster processor, or one shared less"
                };
                format!(
                    "The nodes together take {} as long for the same work, as on {why}",
                    factor_words(slower)
                )
            }
        }
    }
}
