//! How every label is doing.

use std::collections::BTreeSet;

use queryscope_history::limits::LATELY_RUNS_MIN;
use queryscope_history::{Earlier, Overview, Window};
use queryscope_store::OverviewEntry;
use rusqlite::Connection;

use super::keys::Keys;
use super::names::{Names, Rules};
use super::partition::partition;
use crate::columns::{Selection, Snapshot};
use crate::terms::TermTexts;

/// What is known of a label before its runs are read.
#[derive(Debug, Clone, Copy, Default)]
struct Label {
    /// It ran in the range.
    ran: bool,
    /// Its runs of the last 24 hours.
    lately: usize,
}

impl Label {
    /// Whether the last runs of the label may lie long ago, so that all of them are read.
    fn is_rare(self) -> bool {
        self.lately < LATELY_RUNS_MIN
    }
}

pub(crate) fn overview(
    db: &Connection,
    terms: &TermTexts,
    snapshot: &Snapshot,
    selection: &Selection,
    window: &Window,
) -> rusqlite::Result<Vec<OverviewEntry>> {
    let keys = Keys::of(snapshot, |plan| plan.label);
    let selection = Selection { until_unix_ns: window.now_unix_ns(), since_unix_ns: i64::MIN, ..*selection };
    let labels = labels(snapshot, &selection, &keys, window);
    let names = Names::of(db, terms, snapshot, &selection)?;
    let rules = names.rules();
    let earlier = earlier(snapshot, &selection, &keys, &labels, &rules, window);
    let since_unix_ns = window.runs_since_unix_ns();
    let label_of = |plan: u32| keys.of_plan[plan as usize].filter(|label| labels[*label].ran);

    let mut entries = Vec::new();
    let mut runs = Vec::new();
    partition(
        snapshot,
        &selection,
        keys.terms.len(),
        |row| {
            label_of(row.plan)
                .filter(|label| row.started_unix_ns >= since_unix_ns || labels[*label].is_rare())
        },
        |label, rows| {
            runs.clear();
            runs.extend(rows.iter().map(|(number, row)| names.run(&rules, *number, row)));
            let (earlier_runs, earlier_rules) = &earlier[label];
            let earlier_rules: Vec<&str> = earlier_rules.iter().copied().collect();
            let earlier = Earlier { runs: *earlier_runs, rules: &earlier_rules };
            if let Some(overview) = Overview::of(window, &runs, &earlier) {
                entries.push(OverviewEntry::of(&terms.text(db, keys.terms[label])?, overview));
            }
            Ok(())
        },
    )?;
    entries.sort_by(|a, b| a.place().cmp(&b.place()));
    Ok(entries)
}

fn labels(snapshot: &Snapshot, selection: &Selection, keys: &Keys, window: &Window) -> Vec<Label> {
    let mut labels = vec![Label::default(); keys.terms.len()];
    let recent = Selection { since_unix_ns: window.since_unix_ns(), ..*selection };
    for (_, row) in recent.rows(snapshot) {
        if let Some(label) = keys.of_plan[row.plan as usize] {
            labels[label].ran = true;
            labels[label].lately += usize::from(row.started_unix_ns >= window.lately_since_unix_ns());
        }
    }
    labels
}

/// Of each label whose runs are not all read: how many are not, and which rules warned in these.
fn earlier<'n>(
    snapshot: &Snapshot,
    selection: &Selection,
    keys: &Keys,
    labels: &[Label],
    rules: &Rules<'n>,
    window: &Window,
) -> Vec<(u64, BTreeSet<&'n str>)> {
    let mut runs_of_plan = vec![0; snapshot.plans.len()];
    let old = Selection { until_unix_ns: window.runs_since_unix_ns().saturating_sub(1), ..*selection };
    for (_, row) in old.rows(snapshot) {
        runs_of_plan[row.plan as usize] += 1;
    }
    let mut earlier = vec![(0, BTreeSet::new()); keys.terms.len()];
    for (plan, runs) in runs_of_plan.into_iter().enumerate().filter(|(_, runs)| *runs > 0) {
        if let Some(label) =
            keys.of_plan[plan].filter(|label| labels[*label].ran && !labels[*label].is_rare())
        {
            earlier[label].0 += runs;
            earlier[label].1.extend(rules.of_plan(plan));
        }
    }
    earlier
}
