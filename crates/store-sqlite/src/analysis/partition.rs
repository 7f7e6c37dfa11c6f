//! Cutting the kept queries into groups, in bounded memory.

use std::ops::Range;

use crate::columns::{Row, Selection, Snapshot};

/// Queries that are held at once; more groups than these fill are made in several passes over the columns.
const PASS_ROWS_MAX: usize = 2_000_000;

/// Hands every group its queries, the latest stored first, each with the number of its row. `group_of` says
/// which of the `groups` a query belongs to; groups without queries are left out.
///
/// # Errors
/// The first error of `take`.
pub(crate) fn partition(
    snapshot: &Snapshot,
    selection: &Selection,
    groups: usize,
    group_of: impl Fn(&Row) -> Option<usize>,
    mut take: impl FnMut(usize, &[(i64, Row)]) -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    let mut counts = vec![0; groups];
    for (_, row) in selection.rows(snapshot) {
        if let Some(group) = group_of(&row) {
            counts[group] += 1;
        }
    }
    let mut begin = 0;
    while begin < groups {
        let pass = pass(&counts, begin);
        let mut parts: Vec<Vec<(i64, Row)>> =
            counts[pass.clone()].iter().map(|count| Vec::with_capacity(*count)).collect();
        for (number, row) in selection.rows(snapshot) {
            if let Some(group) = group_of(&row).filter(|group| pass.contains(group)) {
                parts[group - begin].push((number, row));
            }
        }
        for (at, part) in parts.iter().enumerate().filter(|(_, part)| !part.is_empty()) {
            take(begin + at, part)?;
        }
        begin = pass.end;
    }
    Ok(())
}

/// The groups from `begin` on that are held together: at least one.
fn pass(counts: &[usize], begin: usize) -> Range<usize> {
    let mut rows = counts[begin];
    let mut end = begin + 1;
    while end < counts.len() && rows + counts[end] <= PASS_ROWS_MAX {
        rows += counts[end];
        end += 1;
    }
    begin..end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_holds_what_fits_and_at_least_one_group() {
        let counts = [1, PASS_ROWS_MAX - 1, 1, 3 * PASS_ROWS_MAX, 0, 5];
        assert_eq!(pass(&counts, 0), 0..2);
        assert_eq!(pass(&counts, 2), 2..3);
        assert_eq!(pass(&counts, 3), 3..4);
        assert_eq!(pass(&counts, 4), 4..6);
    }
}
