//! The report as a comment of a pull request.
//!
//! Labels and names of columns come from telemetry: nothing in them may become a link, a mention or markup.

use std::fmt::Write as _;

use queryscope_insights::portable::Direction;

use super::report::{Entry, Report, State};

/// Hosts of code refuse longer comments: GitHub takes 65,536 characters.
const CHARS_MAX: usize = 60_000;
/// A line that says which comment to replace.
const MARK: &str = "<!-- queryscope gate -->";

pub(super) fn comment(report: &Report) -> String {
    let mut text = format!("{MARK}\n### {}\n\n{}\n", report.verdict(), report.summary());
    let (failing, others): (Vec<&Entry>, Vec<&Entry>) = report.queries.iter().partition(|entry| entry.fails);
    let mut left = 0;
    for (title, entries) in [("", failing), ("Not failing the gate", others)] {
        if entries.is_empty() {
            continue;
        }
        if !title.is_empty() {
            let _ = write!(text, "\n<details><summary>{title}: {}</summary>\n", entries.len());
        }
        text += "\n| query | | what differs |\n|---|---|---|\n";
        for entry in entries {
            let row = row(entry);
            if text.len() + row.len() > CHARS_MAX {
                left += 1;
            } else {
                text += &row;
            }
        }
        if !title.is_empty() {
            text += "\n</details>\n";
        }
    }
    if left > 0 {
        let _ = write!(text, "\n{left} more are left out: a comment takes no more.\n");
    }
    text
}

fn row(entry: &Entry) -> String {
    let state = match (entry.fails, entry.accepted, entry.state) {
        (true, ..) => "❌",
        (_, true, _) => "accepted",
        (.., State::New) => "new",
        (.., State::Removed) => "removed",
        (.., State::Changed) => "",
    };
    let site =
        entry.call_site.as_ref().map(|site| format!("<br>{}", plain(&site.shown()))).unwrap_or_default();
    let told: Vec<String> = entry
        .differences
        .iter()
        .map(|told| {
            let word = match (told.fails, told.direction) {
                (true, _) => "**fails**",
                (_, Direction::Worse) => "worse",
                (_, Direction::Better) => "better",
                (_, Direction::Other) => "other",
            };
            format!("{word}, {}: {}", told.kind.as_str(), plain(&told.text))
        })
        .collect();
    format!("| {}{site} | {state} | {} |\n", plain(&entry.query), told.join("<br>"))
}

/// A text that Markdown shows as it is.
fn plain(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_alphanumeric() || matches!(c, ' ' | ',' | ';' | '%') {
            shown.push(c);
        } else if c.is_control() {
            shown.push(' ');
        } else {
            let _ = write!(shown, "&#{};", c as u32);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_become_no_markup() {
        let text = "a|b `c` <img src=x> @team [x](http://y) **z**\n# h \u{202e}";
        let shown = plain(text);
        for mark in ["|", "`", "<", ">", "@", "[", "(", "*", "\n", "http:"] {
            assert!(!shown.contains(mark), "{mark} in {shown}");
        }
        assert_eq!(plain("orders, 5 rows"), "orders, 5 rows");
    }
}
