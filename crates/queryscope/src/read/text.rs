//! Texts from telemetry on a terminal: harmless, and as wide as there is room.
//!
//! A label or an error text can hold anything, escape sequences of the terminal included. Whatever is shown passes
//! through [`line`], [`name`] or [`block`] first.

use std::borrow::Cow;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Stands where text was left out.
const CUT: &str = "…";

/// A text as one line: control characters become visible signs, and characters that reorder text a replacement.
pub(crate) fn line(text: &str) -> Cow<'_, str> {
    if text.chars().all(|c| harmless(c) == c) { text.into() } else { text.chars().map(harmless).collect() }
}

/// A name that a sender gave: a blank one says so.
pub(crate) fn name(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_blank) { "(blank)".into() } else { line(text) }
}

/// The lines of a text, each harmless; blank lines at the end are left out.
pub(crate) fn block(text: &str) -> Vec<String> {
    text.trim_end().lines().map(|one| line(&one.replace('\t', "    ")).into_owned()).collect()
}

/// JSON that a terminal shows as it is: what it might act upon is escaped, which changes no value.
pub(crate) fn json(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        // Line feeds are those of the layout; strings have theirs escaped already.
        if c == '\n' || harmless(c) == c {
            shown.push(c);
        } else {
            shown.push_str(&escaped(c));
        }
    }
    shown
}

/// A character of the Basic Multilingual Plane as JSON escapes it.
fn escaped(c: char) -> String {
    format!("\\u{:04x}", c as u32)
}

fn harmless(c: char) -> char {
    match c {
        // Pictures of the control characters.
        '\0'..='\x1f' => char::from_u32(0x2400 + c as u32).unwrap_or(char::REPLACEMENT_CHARACTER),
        '\x7f' => '\u{2421}',
        '\u{80}'..='\u{9f}' | '\u{2028}' | '\u{2029}' => char::REPLACEMENT_CHARACTER,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' | '\u{61c}' => {
            char::REPLACEMENT_CHARACTER
        }
        _ => c,
    }
}

fn is_blank(c: char) -> bool {
    c.is_whitespace()
        || matches!(c, '\u{115f}' | '\u{1160}' | '\u{2800}' | '\u{3164}' | '\u{ffa0}' | '\u{200b}')
}

/// Columns of the terminal that a text takes.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// At most so many columns: the middle of a longer text is replaced by an ellipsis, as names differ at both ends.
pub(crate) fn shorten(text: &str, columns: usize) -> Cow<'_, str> {
    if width(text) <= columns {
        return text.into();
    }
    let Some(room) = columns.checked_sub(1) else { return "".into() };
    let end = room / 3;
    let head = take(text.chars(), room - end);
    let tail: String = take(text.chars().rev(), end).chars().rev().collect();
    format!("{head}{CUT}{tail}").into()
}

/// At most so many columns: the end of a longer text is replaced by an ellipsis.
pub(crate) fn cut(text: &str, columns: usize) -> Cow<'_, str> {
    if width(text) <= columns {
        return text.into();
    }
    let Some(room) = columns.checked_sub(1) else { return "".into() };
    format!("{}{CUT}", take(text.chars(), room).trim_end()).into()
}

fn take(chars: impl Iterator<Item = char>, columns: usize) -> String {
    let mut taken = 0;
    chars
        .take_while(|c| {
            taken += c.width().unwrap_or(0);
            taken <= columns
        })
        .collect()
}

/// A text in so many columns, with spaces behind it.
pub(crate) fn pad(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// A text in so many columns, with spaces before it.
pub(crate) fn pad_start(text: &str, columns: usize) -> String {
    format!("{}{text}", " ".repeat(columns.saturating_sub(width(text))))
}

/// The lines of a sentence, broken at spaces; a word that is longer than a line is broken within.
pub(crate) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(1);
    let (mut lines, mut now) = (Vec::new(), String::new());
    for word in words(text) {
        let mut word = word;
        if !now.is_empty() && width(&now) + 1 + width(&word) > columns {
            lines.push(std::mem::take(&mut now));
        }
        while now.is_empty() && width(&word) > columns {
            let head = take(word.chars(), columns);
            // A sign of two columns in a line of one.
            if head.is_empty() {
                break;
            }
            word = word[head.len()..].to_owned().into();
            lines.push(head);
        }
        if !now.is_empty() {
            now.push(' ');
        }
        now.push_str(&word);
    }
    if !now.is_empty() || lines.is_empty() {
        lines.push(now);
    }
    lines
}

/// The words of a sentence; a number and its unit are one.
fn words(text: &str) -> Vec<Cow<'_, str>> {
    const UNITS: [&str; 20] = [
        "%", "µs", "ms", "s", "min", "h", "d", "k", "M", "G", "B", "KiB", "MiB", "GiB", "TiB", "run", "runs",
        "rows", "threads", "days",
    ];
    let mut words: Vec<Cow<'_, str>> = Vec::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let unit = word.trim_end_matches([',', '.', ';', ':', ')', '?']);
        match words.last_mut() {
            Some(number) if UNITS.contains(&unit) && number.ends_with(|c: char| c.is_ascii_digit()) => {
                *number = format!("{number} {word}").into();
            }
            _ => words.push(word.into()),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_acts_upon_is_shown_and_not_done() {
        assert_eq!(line("a\x1b[31mred\x07\r\nb"), "a␛[31mred␇␍␊b");
        assert_eq!(line("a\u{9b}31m\u{202e}b\x7f"), "a\u{fffd}31m\u{fffd}b␡");
        assert_eq!(line("täglich/日報"), "täglich/日報");
        assert_eq!([name(" \u{3164}"), name(""), name("a b")], ["(blank)", "(blank)", "a b"]);
        assert_eq!(block("one\n\ttwo\x1b]0;x\x07\n\n"), ["one", "    two␛]0;x␇"]);
    }

    #[test]
    fn json_keeps_its_values() {
        let text = serde_json::to_string_pretty(&["a\u{9b}b\u{202e}", "\x1b\n"]).expect("JSON");
        let shown = json(&text);
        assert!(shown.chars().all(|c| c == '\n' || harmless(c) == c), "{shown:?}");
        let read: Vec<String> = serde_json::from_str(&shown).expect("JSON");
        assert_eq!(read, ["a\u{9b}b\u{202e}", "\x1b\n"]);
    }

    #[test]
    fn long_texts_are_shortened_visibly() {
        assert_eq!(shorten("warehouse/orders/daily", 22), "warehouse/orders/daily");
        assert_eq!(shorten("warehouse/orders/daily", 16), "warehouse/…daily");
        assert_eq!(shorten("日本語日本語日本語", 10), "日本語…語");
        assert_eq!([cut("a long sentence", 8), cut("ab", 1), cut("ab", 0)], ["a long…", "…", ""]);
        for columns in 0..30 {
            assert!(width(&shorten("日本語 and more 日本語", columns)) <= columns);
        }
    }

    #[test]
    fn sentences_are_wrapped_between_words() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("abcdefghij kl", 4), ["abcd", "efgh", "ij", "kl"]);
        assert_eq!(wrap("takes 40.8 s, and more", 10), ["takes", "40.8 s,", "and more"]);
        assert_eq!(wrap("", 4), [""]);
        assert_eq!(wrap("日本語", 1), ["日本語"]);
    }
}
