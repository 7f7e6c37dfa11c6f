//! Rows of figures beside their floors and goals, for eyes and for other programs.

use std::fmt::Write;

use serde::Serialize;

/// One figure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Row {
    /// What was measured.
    pub(crate) what: String,
    /// The figure.
    pub(crate) measured: f64,
    /// Its unit.
    pub(crate) unit: &'static str,
    /// What the work itself costs on this machine.
    pub(crate) floor: Option<f64>,
    /// The figure as a share of the floor.
    pub(crate) to_floor: Option<f64>,
    /// What to reach.
    pub(crate) goal: Option<Goal>,
    /// Whether it is reached.
    pub(crate) reached: Option<bool>,
}

/// What to reach.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Goal {
    /// This or more.
    AtLeast(f64),
    /// This or less.
    AtMost(f64),
}

impl Row {
    /// A figure with neither floor nor goal.
    pub(crate) fn new(what: impl Into<String>, measured: f64, unit: &'static str) -> Self {
        Self { what: what.into(), measured, unit, floor: None, to_floor: None, goal: None, reached: None }
    }

    /// The figure beside its floor.
    pub(crate) fn floor(mut self, floor: f64) -> Self {
        self.floor = Some(floor);
        self.to_floor = (floor > 0.0).then(|| self.measured / floor);
        self
    }

    /// The figure beside its goal.
    pub(crate) fn goal(mut self, goal: Goal) -> Self {
        self.goal = Some(goal);
        self.reached = Some(match goal {
            Goal::AtLeast(least) => self.measured >= least,
            Goal::AtMost(most) => self.measured <= most,
        });
        self
    }
}

/// The middle one, or the mean of both; 0 when there is none.
pub(crate) fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        count => f64::midpoint(values[(count - 1) / 2], values[count / 2]),
    }
}

/// The rows as a table, one a line, with aligned columns.
pub(crate) fn table(rows: &[Row]) -> String {
    let head = ["", "measured", "", "floor", "of floor", "goal", ""].map(str::to_owned);
    let cells: Vec<[String; 7]> = std::iter::once(head).chain(rows.iter().map(cells)).collect();
    let width = |column: usize| cells.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let widths: [usize; 7] = std::array::from_fn(width);
    let mut table = String::new();
    for row in &cells {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let width = widths[column];
            // Words begin and figures end at the edge of their column.
            let aligned = if matches!(column, 0 | 2 | 6) {
                format!("{cell:<width$}  ")
            } else {
                format!("{cell:>width$}  ")
            };
            line.push_str(&aligned);
        }
        writeln!(table, "{}", line.trim_end()).expect("a String takes every character");
    }
    table
}

fn cells(row: &Row) -> [String; 7] {
    let goal = row.goal.map(|goal| match goal {
        Goal::AtLeast(least) => format!(">= {}", figure(least)),
        Goal::AtMost(most) => format!("<= {}", figure(most)),
    });
    [
        row.what.clone(),
        figure(row.measured),
        row.unit.into(),
        row.floor.map(figure).unwrap_or_default(),
        row.to_floor.map(|share| format!("{share:.2}")).unwrap_or_default(),
        goal.unwrap_or_default(),
        row.reached.map_or("", |reached| if reached { "reached" } else { "MISSED" }).into(),
    ]
}

/// Three digits that matter, thousands apart.
fn figure(value: f64) -> String {
    let decimals = match value.abs() {
        v if v >= 100.0 || v == 0.0 => 0,
        v if v >= 10.0 => 1,
        v if v >= 1.0 => 2,
        _ => 4,
    };
    let text = format!("{value:.decimals$}");
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let mut figure = String::new();
    for (place, digit) in whole.chars().enumerate() {
        let left = whole.len() - place;
        if place > 0 && left.is_multiple_of(3) && !figure.ends_with('-') {
            figure.push(',');
        }
        figure.push(digit);
    }
    if !fraction.is_empty() {
        figure.push('.');
        figure.push_str(fraction);
    }
    figure
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_show_what_matters() {
        for (value, text) in [
            (0.0, "0"),
            (0.01234, "0.0123"),
            (1.239, "1.24"),
            (12.34, "12.3"),
            (123.4, "123"),
            (1_234.5, "1,234"),
            (1_234_567.0, "1,234,567"),
            (-123_456.0, "-123,456"),
        ] {
            assert_eq!(figure(value), text);
        }
    }

    #[test]
    fn a_goal_is_reached_from_its_own_side() {
        let reached = |measured, goal| Row::new("x", measured, "ms").goal(goal).reached;
        assert_eq!(reached(5.0, Goal::AtMost(5.0)), Some(true));
        assert_eq!(reached(5.1, Goal::AtMost(5.0)), Some(false));
        assert_eq!(reached(5.0, Goal::AtLeast(5.0)), Some(true));
        assert_eq!(reached(4.9, Goal::AtLeast(5.0)), Some(false));
    }

    #[test]
    fn columns_are_aligned() {
        let rows = [
            Row::new("W1", 150.0, "MB/CPU s").floor(300.0).goal(Goal::AtLeast(200.0)),
            Row::new("a longer one", 3.25, "ms"),
        ];
        let expected = "              measured            floor  of floor    goal\n\
                        W1                 150  MB/CPU s    300      0.50  >= 200  MISSED\n\
                        a longer one      3.25  ms\n";
        assert_eq!(table(&rows), expected);
    }
}
