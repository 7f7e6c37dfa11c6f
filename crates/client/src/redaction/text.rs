//! Masks within a text that somebody else wrote.

use std::borrow::Cow;

/// What stands for a literal value.
const LITERAL: &str = "?";
/// What stands for a path.
pub(super) const PATH: &str = "<path>";
/// What stands for a URL.
const URL: &str = "<url>";

/// Endings by which a word is a file name without any folder.
const FILE_ENDINGS: [&str; 18] = [
    ".arrow", ".avro", ".csv", ".db", ".duckdb", ".feather", ".gz", ".ipc", ".json", ".jsonl", ".lance",
    ".ndjson", ".orc", ".parquet", ".tsv", ".txt", ".vortex", ".zst",
];

/// Whether a text is a name as engines give them, in which there is nothing to mask.
pub(super) fn is_word(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    text.bytes().all(is_part) && !text.starts_with(|c: char| c.is_ascii_digit())
}

/// Masks every URL, its query string included.
pub(super) fn mask_urls(text: &str) -> Cow<'_, str> {
    let mut masked = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let is_scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
        let begin = rest[..at].trim_end_matches(is_scheme).len();
        let end = rest[at..].find(ends_url).map_or(rest.len(), |length| at + length);
        masked.push_str(&rest[..begin]);
        masked.push_str(URL);
        rest = &rest[end..];
    }
    if masked.is_empty() {
        return Cow::Borrowed(text);
    }
    masked.push_str(rest);
    Cow::Owned(masked)
}

/// Masks paths and file names. A path ends at white space, a quote or a bracket, unless it is quoted or the whole
/// text: then all of it is masked.
pub(super) fn mask_paths(text: &str) -> Cow<'_, str> {
    if begins_as_path(text) {
        return Cow::Borrowed(PATH);
    }
    let mut masked = String::new();
    let mut changed = false;
    for piece in pieces(text) {
        let has_path = || piece.text.split(ends_path).any(is_path);
        match piece.quote {
            Some(_) if has_path() => {
                masked.push_str(PATH);
                changed = true;
            }
            Some(_) => masked.push_str(piece.text),
            None => {
                for word in piece.text.split_inclusive(ends_path) {
                    let (word, end) = split_end(word);
                    if is_path(word) {
                        masked.push_str(PATH);
                        changed = true;
                    } else {
                        masked.push_str(word);
                    }
                    masked.push_str(end);
                }
            }
        }
    }
    if changed { Cow::Owned(masked) } else { Cow::Borrowed(text) }
}

/// Masks quoted texts and numbers.
pub(super) fn mask_literals(text: &str) -> Cow<'_, str> {
    let mut masked = String::new();
    for piece in pieces(text) {
        match piece.quote {
            Some(_) => masked.push_str(LITERAL),
            None => mask_numbers(piece.text, &mut masked),
        }
    }
    if masked == text { Cow::Borrowed(text) } else { Cow::Owned(masked) }
}

/// Whether a text is a path from its first character on.
pub(super) fn begins_as_path(text: &str) -> bool {
    let mut chars = text.chars();
    let (first, second, third) = (chars.next(), chars.next(), chars.next());
    let drive = first.is_some_and(|c| c.is_ascii_alphabetic()) && second == Some(':');
    match (first, second) {
        (Some('/'), Some(second)) => !second.is_whitespace(),
        (Some('~'), _) | (Some('\\'), Some('\\')) | (Some('.'), Some('/' | '\\')) => true,
        (Some('.'), Some('.')) => matches!(third, Some('/' | '\\')),
        _ if drive => matches!(third, Some('/' | '\\')),
        _ => {
            // `s3://…`: a scheme and nothing before it.
            text.split_once("://").is_some_and(|(scheme, _)| {
                !scheme.is_empty() && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
            })
        }
    }
}

/// A stretch of a text.
struct Piece<'t> {
    text: &'t str,
    /// The quote it stands in; the quotes themselves belong to their neighbours.
    quote: Option<char>,
}

/// Splits a text where quotes open and close.
///
/// In prose an apostrophe is no quote, and data may hold quotes that nobody doubled. Where the quotes do not pair
/// up, everything after the first of them counts as quoted.
fn pieces(text: &str) -> Vec<Piece<'_>> {
    paired(text).unwrap_or_else(|| {
        let begin = text.find(is_quote).map_or(text.len(), |at| at + 1);
        // Nobody knows whether the last quote closes.
        let end = if text.ends_with(is_quote) && begin < text.len() { text.len() - 1 } else { text.len() };
        vec![
            Piece { text: &text[..begin], quote: None },
            Piece { text: &text[begin..end], quote: Some('\'') },
            Piece { text: &text[end..], quote: None },
        ]
    })
}

fn paired(text: &str) -> Option<Vec<Piece<'_>>> {
    let bytes = text.as_bytes();
    let is_word_at = |at: usize| bytes.get(at).is_some_and(|b| b.is_ascii_alphanumeric() || *b >= 0x80);
    let mut pieces = Vec::new();
    let (mut from, mut at) = (0, 0);
    while let Some(open) = text[at..].find(is_quote).map(|offset| at + offset) {
        let quote = bytes[open];
        if quote == b'\'' && open > 0 && is_word_at(open - 1) {
            if !is_word_at(open + 1) {
                // It closes what never opened.
                return None;
            }
            at = open + 1;
            continue;
        }
        let close = closing(bytes, open)?;
        pieces.push(Piece { text: &text[from..=open], quote: None });
        pieces.push(Piece { text: &text[open + 1..close], quote: Some(char::from(quote)) });
        (from, at) = (close, close + 1);
    }
    pieces.push(Piece { text: &text[from..], quote: None });
    Some(pieces)
}

/// Where the text that is quoted from `open` on ends: quotes in it are doubled or follow a backslash.
fn closing(bytes: &[u8], open: usize) -> Option<usize> {
    let quote = bytes[open];
    let mut at = open + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            byte if byte == quote => match bytes.get(at + 1) {
                Some(next) if *next == quote => at += 2,
                Some(next) if next.is_ascii_alphanumeric() || *next >= 0x80 => at += 1,
                _ => return Some(at),
            },
            _ => at += 1,
        }
    }
    None
}

fn mask_numbers(text: &str, masked: &mut String) {
    let mut before: Option<char> = None;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let begins = c.is_ascii_digit() && !before.is_some_and(|c| c.is_alphanumeric() || "_@$#".contains(c));
        let length = if begins {
            masked.push_str(LITERAL);
            let is_more = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
            rest.find(|c| !is_more(c)).unwrap_or(rest.len())
        } else {
            masked.push(c);
            c.len_utf8()
        };
        before = rest[..length].chars().next_back();
        rest = &rest[length..];
    }
}

fn is_quote(c: char) -> bool {
    matches!(c, '\'' | '"' | '`')
}

fn ends_url(c: char) -> bool {
    c.is_whitespace() || is_quote(c) || matches!(c, '<' | '>' | ')' | ']' | '}')
}

fn ends_path(c: char) -> bool {
    c.is_whitespace() || is_quote(c) || matches!(c, '(' | ')' | '[' | ']' | '{' | '}' | '<' | '>')
}

fn is_path(word: &str) -> bool {
    let word = word.trim_end_matches(['.', ',', ';', ':']);
    let bare = word.trim_matches(['/', '\\']);
    let lower = || word.to_ascii_lowercase();
    !bare.is_empty()
        && (word.contains(['/', '\\'])
            || word.starts_with('~')
            || FILE_ENDINGS.iter().any(|ending| lower().ends_with(ending)))
}

/// A word of `split_inclusive`, and the character that ended it.
fn split_end(word: &str) -> (&str, &str) {
    match word.char_indices().next_back() {
        Some((at, c)) if ends_path(c) => word.split_at(at),
        _ => (word, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_quoted_texts_and_numbers() {
        for (text, masked) in [
            ("region@2 = 'EU' AND amount > 990.5", "region@2 = '?' AND amount > ?"),
            (r#"c = Utf8("it""s") OR id = -7"#, r#"c = Utf8("?") OR id = -?"#),
            ("d >= '1998-09-02' AND x IN (1, 2, 0xFF)", "d >= '?' AND x IN (?, ?, ?)"),
            ("name = 'it''s' AND b = ''", "name = '?' AND b = '?'"),
            (r"name = 'it\'s' AND b = 'c'", "name = '?' AND b = '?'"),
            (r"name = 'a\' b' AND b = 'c'", "name = '?' AND b = '?'"),
            ("col1, Date32, name@12, a_9", "col1, Date32, name@12, a_9"),
            ("at 2024-01-31T10:00:00Z", "at ?-?-?:?:?"),
            ("größe = 'ß'", "größe = '?'"),
            ("", ""),
        ] {
            assert_eq!(mask_literals(text), masked, "{text}");
        }
    }

    #[test]
    fn prose_and_unpaired_quotes_give_nothing_away() {
        for (text, masked) in [
            ("can't cast 'secret' to Int64", "can't cast '?' to Int64"),
            ("can't cast 'it's secret' to Int64", "can't cast '?' to Int64"),
            ("got 'a' secret' here", "got '?"),
            ("got 'secret", "got '?"),
            ("value X'secret'", "value X'?'"),
            (r#"the value "secret' is bad"#, r#"the value "?"#),
        ] {
            assert_eq!(mask_literals(text), masked, "{text}");
        }
    }

    #[test]
    fn urls_go_with_their_query_strings() {
        for (text, masked) in [
            ("GET https://u:p@h/x?sig=a%20b&c='d failed", "GET <url>'d failed"),
            ("s3://bucket/key, then (gs://b/k)", "<url> then (<url>)"),
            ("a :// b", "a <url> b"),
            ("no url", "no url"),
        ] {
            assert_eq!(mask_urls(text), masked, "{text}");
        }
    }

    #[test]
    fn paths_are_found_in_texts_and_are_whole_texts() {
        for (text, masked) in [
            ("/srv/top secret/a.parquet", PATH),
            ("C:\\data\\a b.csv", PATH),
            ("~/a b", PATH),
            ("../a b", PATH),
            ("s3://bucket/a b", PATH),
            ("read /srv/a=1/b.csv, twice", "read <path> twice"),
            ("[data/a.parquet], {b.CSV}", "[<path>], {<path>}"),
            ("cannot open 'top secret/a b'", "cannot open '<path>'"),
            ("a / b + 1.5", "a / b + 1.5"),
            ("sum(x) by region.name", "sum(x) by region.name"),
            ("orders.parquet.", "<path>"),
        ] {
            assert_eq!(mask_paths(text), masked, "{text}");
        }
    }
}
