//! Lists: sorted by any column, as a table, as CSV or as JSON.

use std::cmp::Ordering;

use anstyle::Style;
use anyhow::Result;
use serde_json::Value;

use super::style::{Line, PLAIN, SOFT, joined, painted, painted_line};
use super::text::{line, pad, shorten, width};

/// Columns of the terminal between two columns of a table.
const GAP: usize = 2;

/// One column of a list.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    /// Its heading, and its name for `--sort`.
    pub(crate) name: &'static str,
    /// Its heading in CSV: the field of the API, with its unit.
    pub(crate) field: &'static str,
    /// What it takes of a line.
    pub(crate) room: Room,
    /// Columns with a larger number are left out first where a terminal is narrow; 0 for never.
    pub(crate) spare: u8,
}

/// What a column takes of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Room {
    /// A figure: all of it, aligned to the right.
    Figure,
    /// A short text: all of it.
    Whole,
    /// A name, which is shortened to no less than so many columns.
    Name(usize),
}

/// What stands in one place of a list.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    text: String,
    value: Figure,
    /// What it is sorted by, where that is not the value.
    rank: Option<Figure>,
    style: Style,
}

/// A value as it is sorted and written to CSV.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Figure {
    Unknown,
    Number(f64),
    Whole(i64),
    Text(String),
}

impl Cell {
    /// A figure and what it says.
    pub(crate) fn figure(text: String, value: Figure) -> Self {
        Self { text, value, rank: None, style: PLAIN }
    }

    /// A number that may be unknown.
    pub(crate) fn number(value: Option<f64>, say: impl FnOnce(Option<f64>) -> String) -> Self {
        Self::figure(say(value), value.map_or(Figure::Unknown, Figure::Number))
    }

    /// A whole number that may be unknown.
    pub(crate) fn whole(value: Option<i64>, say: impl FnOnce(Option<f64>) -> String) -> Self {
        Self::figure(say(value.map(|value| value as f64)), value.map_or(Figure::Unknown, Figure::Whole))
    }

    /// A text from telemetry, which is shown harmless.
    pub(crate) fn text(shown: &str, value: Option<&str>) -> Self {
        let value = value.map_or(Figure::Unknown, |value| Figure::Text(value.to_owned()));
        Self::figure(line(shown).into_owned(), value)
    }

    /// The same, sorted by another figure.
    pub(crate) fn ranked(self, rank: Option<f64>) -> Self {
        Self { rank: Some(rank.map_or(Figure::Unknown, Figure::Number)), ..self }
    }

    fn rank(&self) -> &Figure {
        self.rank.as_ref().unwrap_or(&self.value)
    }

    /// The same in another style.
    pub(crate) fn in_style(self, style: Style) -> Self {
        Self { style, ..self }
    }
}

/// A list, with the entry that each row shows.
#[derive(Debug)]
pub(crate) struct Listing<E = Value> {
    columns: &'static [Column],
    rows: Vec<(Vec<Cell>, E)>,
}

impl<E> Listing<E> {
    pub(crate) fn new(columns: &'static [Column]) -> Self {
        Self { columns, rows: Vec::new() }
    }

    pub(crate) fn push(&mut self, cells: Vec<Cell>, entry: E) {
        debug_assert_eq!(cells.len(), self.columns.len(), "a cell for each column");
        self.rows.push((cells, entry));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Sorts by a column: figures the largest first, texts from A, the other way with `reverse`. What is unknown comes
    /// last either way, and rows that are equal keep their order.
    pub(crate) fn sort(&mut self, column: &str, reverse: bool) {
        let Some(at) = self.columns.iter().position(|each| each.name == column) else { return };
        self.rows.sort_by(|(a, _), (b, _)| order(a[at].rank(), b[at].rank(), reverse));
    }

    /// Keeps the first rows.
    pub(crate) fn limit(&mut self, rows: usize) {
        self.rows.truncate(rows);
    }

    /// The entries in the order of the rows.
    pub(crate) fn into_entries(self) -> Vec<E> {
        self.rows.into_iter().map(|(_, entry)| entry).collect()
    }

    /// As CSV with a heading, every value as the API gives it.
    pub(crate) fn to_csv(&self) -> Result<String> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(self.columns.iter().map(|column| column.field))?;
        for (cells, _) in &self.rows {
            writer.write_record(cells.iter().map(|cell| match &cell.value {
                Figure::Unknown => String::new(),
                Figure::Number(number) => number.to_string(),
                Figure::Whole(number) => number.to_string(),
                Figure::Text(text) => no_formula(line(text).into_owned()),
            }))?;
        }
        Ok(String::from_utf8(writer.into_inner()?)?)
    }

    /// As a table with a heading.
    pub(crate) fn to_table(&self, columns: Option<usize>) -> String {
        self.to_lines(columns).iter().map(|line| painted_line(line)).collect()
    }

    /// The heading and the rows; where a line has so many columns, names are shortened and columns that can be spared
    /// left out.
    pub(crate) fn to_lines(&self, columns: Option<usize>) -> Vec<Line> {
        let shown = self.fitted(columns.unwrap_or(usize::MAX));
        let heading = self.line(&shown, |at| (self.columns[at].name, SOFT));
        let rows =
            self.rows.iter().map(|(cells, _)| self.line(&shown, |at| (&cells[at].text, cells[at].style)));
        std::iter::once(heading).chain(rows).collect()
    }

    fn line<'t>(&self, shown: &[(usize, usize)], cell: impl Fn(usize) -> (&'t str, Style)) -> Line {
        let mut line = Line::new();
        let mut spaces = 0;
        for &(at, room) in shown {
            let (text, style) = cell(at);
            let text = shorten(text, room);
            let padding = room.saturating_sub(width(&text));
            let before = if self.columns[at].room == Room::Figure { padding } else { 0 };
            line.push((" ".repeat(spaces + before), PLAIN));
            line.push((text.into_owned(), style));
            spaces = padding - before + GAP;
        }
        line
    }

    /// Which columns are shown, each with its width.
    fn fitted(&self, columns: usize) -> Vec<(usize, usize)> {
        let natural = |at: usize| {
            let cells = self.rows.iter().map(|(cells, _)| width(&cells[at].text));
            cells.chain([width(self.columns[at].name)]).max().unwrap_or(0)
        };
        let mut shown: Vec<(usize, usize)> = (0..self.columns.len()).map(|at| (at, natural(at))).collect();
        let least = |&(at, natural): &(usize, usize)| match self.columns[at].room {
            Room::Name(least) => natural.min(least),
            Room::Figure | Room::Whole => natural,
        };
        let needed = |shown: &[(usize, usize)]| {
            shown.iter().map(least).sum::<usize>() + GAP * shown.len().saturating_sub(1)
        };
        while needed(&shown) > columns
            && let Some(spared) = (0..shown.len()).max_by_key(|&place| self.columns[shown[place].0].spare)
            && self.columns[shown[spared].0].spare > 0
        {
            shown.remove(spared);
        }
        // What is left goes to the names, in their order, evenly.
        let mut left = columns.saturating_sub(needed(&shown));
        let leasts: Vec<usize> = shown.iter().map(least).collect();
        let mut rooms = leasts;
        loop {
            let wanting: Vec<usize> =
                (0..shown.len()).filter(|&place| rooms[place] < shown[place].1).collect();
            if wanting.is_empty() || left == 0 {
                break;
            }
            let each = (left / wanting.len()).max(1);
            for place in wanting {
                let more = each.min(shown[place].1 - rooms[place]).min(left);
                rooms[place] += more;
                left -= more;
            }
        }
        shown.iter().zip(rooms).map(|(&(at, _), room)| (at, room)).collect()
    }
}

fn order(a: &Figure, b: &Figure, reverse: bool) -> Ordering {
    let turned = |order: Ordering| if reverse { order.reverse() } else { order };
    let number = |figure: &Figure| match figure {
        Figure::Number(number) => Some(*number),
        Figure::Whole(number) => Some(*number as f64),
        Figure::Unknown | Figure::Text(_) => None,
    };
    match (a, b) {
        (Figure::Unknown, Figure::Unknown) => Ordering::Equal,
        (Figure::Unknown, _) => Ordering::Greater,
        (_, Figure::Unknown) => Ordering::Less,
        (Figure::Text(a), Figure::Text(b)) => turned(a.to_lowercase().cmp(&b.to_lowercase()).then(a.cmp(b))),
        // Times are too large for doubles.
        (Figure::Whole(a), Figure::Whole(b)) => turned(b.cmp(a)),
        _ => turned(number(b).partial_cmp(&number(a)).unwrap_or(Ordering::Equal)),
    }
}

/// Rows of a table without headings: a name on the left, what it is on the right.
pub(crate) fn pairs(rows: &[(&str, String)]) -> String {
    let names = rows.iter().map(|(name, _)| width(name)).max().unwrap_or(0);
    joined(rows.iter().map(|(name, text)| format!("{}  {text}", painted(&pad(name, names), SOFT))))
}

/// A text that a spreadsheet would take for a formula begins with an apostrophe, as in the tables of `/api/export`.
fn no_formula(text: String) -> String {
    if text.starts_with(['=', '+', '-', '@']) { format!("'{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const COLUMNS: &[Column] = &[
        Column { name: "query", field: "label", room: Room::Name(8), spare: 0 },
        Column { name: "usual", field: "usual_wall_ms", room: Room::Figure, spare: 0 },
        Column { name: "state", field: "state", room: Room::Whole, spare: 1 },
    ];

    fn listing() -> Listing {
        let mut listing = Listing::new(COLUMNS);
        for (name, usual) in [("b\x1b[31m", Some(2.5)), ("warehouse/orders/daily", Some(10.0)), ("A", None)] {
            let ms = |ms: Option<f64>| ms.map_or("–".into(), |ms| format!("{ms} ms"));
            let cells =
                vec![Cell::text(name, Some(name)), Cell::number(usual, ms), Cell::text("ok", Some("ok"))];
            listing.push(cells, json!({"label": name}));
        }
        listing
    }

    #[test]
    fn what_does_not_fit_is_shortened_and_then_left_out() {
        let plain = |table: String| anstream::adapter::strip_str(&table).to_string();
        insta::assert_snapshot!(plain(listing().to_table(None)));
        let narrow = plain(listing().to_table(Some(26)));
        assert!(narrow.contains("…") && narrow.lines().all(|line| width(line) <= 26), "{narrow}");
        let narrower = plain(listing().to_table(Some(17)));
        assert!(!narrower.contains("state") && narrower.lines().all(|line| width(line) <= 17), "{narrower}");
    }

    #[test]
    fn any_column_sorts_and_what_is_unknown_comes_last() {
        let sorted = |column: &str, reverse: bool| {
            let mut listing = listing();
            listing.sort(column, reverse);
            let entries = listing.into_entries();
            entries
                .iter()
                .map(|entry| entry["label"].as_str().expect("a text")[..1].to_owned())
                .collect::<String>()
        };
        assert_eq!([sorted("usual", false), sorted("usual", true)], ["wbA", "bwA"]);
        assert_eq!([sorted("query", false), sorted("query", true)], ["Abw", "wbA"]);
    }

    #[test]
    fn csv_has_the_values_of_the_api() {
        let csv = listing().to_csv().expect("CSV");
        assert_eq!(csv, "label,usual_wall_ms,state\nb␛[31m,2.5,ok\nwarehouse/orders/daily,10,ok\nA,,ok\n");
    }
}
