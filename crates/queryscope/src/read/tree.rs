//! A plan as text: a tree with shares of the time, rows and marks of findings.

use std::collections::HashSet;

use super::plan::PlanRow;
use super::style::{Line, PLAIN, SLOW, SOFT};
use super::text::{cut, pad, pad_start, width};
use super::units::{UNKNOWN, duration, share, whole};
use super::words::node_number;

/// Columns of a bar, where there is room.
const BAR_COLUMNS: usize = 8;
/// Columns that nodes and their words have at least.
const NODE_MIN: usize = 30;
/// Columns of nodes where nothing bounds a line.
const NODE_MAX: usize = 100;
/// The mark of a node that a finding is about.
const MARK: char = '!';

/// The tree: a heading, and a line a node.
pub(crate) fn tree(rows: &[PlanRow], findings: &HashSet<u64>, columns: Option<usize>) -> Vec<Line> {
    let figures: Vec<[String; 4]> = rows.iter().map(figures).collect();
    let titles = ["share", "busy", "rows in", "rows out"].map(str::to_owned);
    let rooms: Vec<usize> = (0..titles.len())
        .map(|at| figures.iter().map(|row| width(&row[at])).max().unwrap_or(0).max(width(&titles[at])))
        .collect();
    let of_figures = rooms.iter().map(|room| room + 2).sum::<usize>();
    let columns = columns.unwrap_or(NODE_MAX + of_figures + BAR_COLUMNS + 1);
    let bar = if columns > NODE_MIN + of_figures + BAR_COLUMNS { BAR_COLUMNS } else { 0 };
    let left = columns.saturating_sub(of_figures + if bar > 0 { bar + 1 } else { 0 });
    let widest = rows.iter().map(|row| widest(row, findings)).max().unwrap_or(0);
    let room = left.clamp(1, NODE_MAX).min(widest.max(NODE_MIN));
    let end = |texts: &[String; 4], share: Option<f64>| {
        let figure = |at: usize| format!("  {}", pad_start(&texts[at], rooms[at]));
        let meter = match (bar, share) {
            (0, _) => String::new(),
            (bar, Some(share)) => format!(" {}", super::style::bar(share, bar)),
            (bar, None) => " ".repeat(bar + 1),
        };
        format!("{}{meter}{}{}{}", figure(0), figure(1), figure(2), figure(3))
    };
    let heading = vec![(format!("{}{}", pad("node", room), end(&titles, None)), SOFT)];
    let nodes = rows.iter().zip(&figures).map(|(row, figures)| {
        let mut line = node(row, findings, room);
        line.push((end(figures, if row.is_repeated { None } else { row.share.or(Some(0.0)) }), PLAIN));
        line
    });
    std::iter::once(heading).chain(nodes).collect()
}

fn figures(row: &PlanRow) -> [String; 4] {
    if row.is_repeated {
        return Default::default();
    }
    let busy_ms = row.busy_ns.map(|ns| ns as f64 / 1e6);
    let rows = |rows: Option<u64>| rows.map_or(UNKNOWN.into(), whole);
    [share(row.share), duration(busy_ms), rows(row.rows_in), rows(row.rows_out)]
}

fn name(row: &PlanRow, findings: &HashSet<u64>) -> String {
    let mark = if findings.contains(&row.id) { format!(" {MARK}") } else { String::new() };
    let again = if row.is_repeated { " (above)" } else { "" };
    format!("{}{} #{}{mark}{again}", row.branches, row.kind, node_number(row.id))
}

fn widest(row: &PlanRow, findings: &HashSet<u64>) -> usize {
    let words = if row.is_repeated || row.words.is_empty() { 0 } else { 2 + width(&row.words) };
    width(&name(row, findings)) + words
}

/// The node with its words in so many columns: the words are cut first.
fn node(row: &PlanRow, findings: &HashSet<u64>, room: usize) -> Line {
    let name = cut(&name(row, findings), room).into_owned();
    let style = if findings.contains(&row.id) { SLOW } else { PLAIN };
    let left = room.saturating_sub(width(&name) + 2);
    let words = if row.is_repeated || left < 2 { "".into() } else { cut(&row.words, left) };
    let gap = if words.is_empty() { "" } else { "  " };
    let taken = width(&name) + width(gap) + width(&words);
    let padding = " ".repeat(room.saturating_sub(taken));
    vec![(name, style), (gap.to_owned(), PLAIN), (words.into_owned(), SOFT), (padding, PLAIN)]
}

#[cfg(test)]
mod tests {
    use queryscope_protocol::Role;

    use super::*;
    use crate::read::style::painted_line;

    fn rows() -> Vec<PlanRow> {
        let row = |branches: &str, id, kind: &str, words: &str, busy_ms: u64| PlanRow {
            branches: branches.into(),
            id,
            kind: kind.into(),
            role: Role::Unknown,
            inputs: Vec::new(),
            words: words.into(),
            share: Some(busy_ms as f64 / 10_000.0),
            busy_ns: Some(busy_ms * 1_000_000),
            rows_in: None,
            rows_out: Some(busy_ms * 1000),
            bytes_read: None,
            done: None,
            is_repeated: false,
        };
        vec![
            row(
                "",
                4_294_967_303,
                "Join",
                "inner · on customer_id = id, and much more that does not fit a line",
                7100,
            ),
            row("├─ ", 3, "Scan", "orders.parquet · where a > 5", 2900),
            PlanRow { is_repeated: true, ..row("└─ ", 3, "Scan", "orders.parquet", 2900) },
        ]
    }

    fn shown(columns: Option<usize>) -> String {
        let lines = tree(&rows(), &HashSet::from([4_294_967_303]), columns);
        let text: String = lines.iter().map(|line| painted_line(line)).collect();
        anstream::adapter::strip_str(&text).to_string()
    }

    #[test]
    fn the_tree_fits_its_terminal() {
        for columns in [40, 60, 80, 200] {
            let text = shown(Some(columns));
            assert!(text.lines().all(|line| width(line) <= columns), "{columns}\n{text}");
        }
        insta::assert_snapshot!(shown(Some(80)));
    }
}
