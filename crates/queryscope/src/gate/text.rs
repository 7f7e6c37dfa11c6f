//! The report on a terminal.

use queryscope_insights::portable::Direction;

use crate::read::style::{FAIL, FAST, SLOW, SOFT, STRONG, painted};
use crate::read::text::{line, name};

use super::report::{CallSite, Entry, Report, State, Told};

pub(super) fn text(report: &Report) -> String {
    let mut text = String::new();
    for entry in &report.queries {
        text += &title(entry);
        for told in &entry.differences {
            text += &difference(told);
        }
        text.push('\n');
    }
    text.push_str(&report.summary());
    text.push('\n');
    let style = if report.fails { FAIL } else { STRONG };
    text.push_str(&painted(&report.verdict(), style));
    text.push('\n');
    text
}

fn title(entry: &Entry) -> String {
    let word = match (entry.fails, entry.accepted, entry.state) {
        (true, ..) => "FAILS",
        (_, true, _) => "accepted",
        (.., State::New) => "new",
        (.., State::Removed) => "removed",
        (.., State::Changed) => "changed",
    };
    let style = if entry.fails { FAIL } else { SOFT };
    let site = entry.call_site.as_ref().map(CallSite::shown);
    let about: Vec<String> = entry.engine.iter().cloned().chain(site).collect();
    let about = if about.is_empty() { String::new() } else { format!("  ({})", line(&about.join(", "))) };
    format!("{}  {}{}\n", painted(word, style), painted(&name(&entry.query), STRONG), painted(&about, SOFT))
}

fn difference(told: &Told) -> String {
    let (word, style) = match (told.fails, told.direction) {
        (true, _) => ("fails ", FAIL),
        (_, Direction::Worse) => ("worse ", SLOW),
        (_, Direction::Better) => ("better", FAST),
        (_, Direction::Other) => ("other ", SOFT),
    };
    format!("  {}  {:<10}  {}\n", painted(word, style), told.kind.as_str(), line(&told.text))
}
