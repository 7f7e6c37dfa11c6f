//! Colours. They repeat what the words say: nothing is lost without them.

use anstyle::{AnsiColor, Style};

/// Text as it is.
pub(crate) const PLAIN: Style = Style::new();
/// A heading, or what a line is about.
pub(crate) const STRONG: Style = Style::new().bold();
/// What is known to most readers.
pub(crate) const SOFT: Style = Style::new().dimmed();
/// A failure; nothing else is red.
pub(crate) const FAIL: Style = AnsiColor::Red.on_default();
/// Slower, late, or a warning.
pub(crate) const SLOW: Style = AnsiColor::Yellow.on_default();
/// Faster.
pub(crate) const FAST: Style = AnsiColor::Green.on_default();

/// A text in a style, as a terminal takes it.
pub(crate) fn painted(text: &str, style: Style) -> String {
    if text.is_empty() || style == PLAIN { text.to_owned() } else { format!("{style}{text}{style:#}") }
}

/// Pieces of one line, each in its style.
pub(crate) type Line = Vec<(String, Style)>;

/// A line as a terminal takes it.
pub(crate) fn painted_line(line: &[(String, Style)]) -> String {
    let whole: String = line.iter().map(|(text, style)| painted(text, *style)).collect();
    format!("{}\n", whole.trim_end())
}

/// A line that names what follows, behind an empty one.
pub(crate) fn heading(title: &str) -> String {
    format!("\n{}\n", painted(title, STRONG))
}

/// Lines with their ends.
pub(crate) fn joined(lines: impl IntoIterator<Item = String>) -> String {
    lines.into_iter().flat_map(|line| [line, "\n".to_owned()]).collect()
}

/// A bar of so many columns of which a share is filled: it is read without colours, and without fonts beyond ASCII's
/// neighbours.
pub(crate) fn bar(share: f64, columns: usize) -> String {
    let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
    // What is there at all is seen.
    let filled = ((share * columns as f64).round() as usize).max(usize::from(share > 0.0)).min(columns);
    format!("{}{}", "█".repeat(filled), "·".repeat(columns - filled))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_show_shares() {
        let shown = [0.0, 0.001, 0.5, 1.0, 7.0, f64::NAN].map(|share| bar(share, 4));
        assert_eq!(shown, ["····", "█···", "██··", "████", "████", "····"]);
        assert_eq!([painted("a", PLAIN), painted("a", STRONG)], ["a", "\u{1b}[1ma\u{1b}[0m"]);
    }
}
