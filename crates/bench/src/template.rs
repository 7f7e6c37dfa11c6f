//! A captured line, cut where a copy of it says something of its own.

use std::io::Write;

use crate::ids::IdText;

/// Counters under this stay as they are: small numbers are flags, thread counts and the like.
const COUNTER_MIN: u64 = 100;
/// Members whose numbers name something and do not count anything.
const NAMES: [&str; 4] = ["id", "node_id", "lineno", "pid"];

/// A line of `events@1` with places to fill in.
#[derive(Debug, Clone)]
pub(crate) struct Template {
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq)]
enum Piece {
    Text(String),
    Stream,
    Query,
    Seq,
    StartedUnixNs,
    Millis(f64),
    Counter(u64),
}

/// What a copy of a line says in those places.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Filling {
    /// The stream the copy belongs to.
    pub(crate) stream: IdText,
    /// The query the copy belongs to; a process event has no place for it.
    pub(crate) query: IdText,
    /// Number of the copy within its stream.
    pub(crate) seq: u64,
    /// When its query, or its process, started; Unix nanoseconds.
    pub(crate) started_unix_ns: i64,
    /// Factor of all counters and durations; 1 leaves them as captured.
    pub(crate) scale: f64,
}

impl Template {
    /// Cuts a compact JSON line of the stream and the query with these ids.
    pub(crate) fn cut(line: &str, stream: &str, query: Option<&str>) -> Self {
        let mut cutter = Cutter { line, kept: 0, pieces: Vec::new() };
        let mut key = "";
        let mut at = 0;
        while let Some(&byte) = line.as_bytes().get(at) {
            match byte {
                b'"' => {
                    let end = string_end(line, at);
                    let text = &line[at + 1..end - 1];
                    if line.as_bytes().get(end) == Some(&b':') {
                        key = text;
                    } else if text == stream {
                        cutter.replace(at + 1..end - 1, Piece::Stream);
                    } else if query == Some(text) {
                        cutter.replace(at + 1..end - 1, Piece::Query);
                    }
                    at = end;
                }
                b'0'..=b'9' if line[..at].ends_with(':') => {
                    let end = number_end(line, at);
                    if let Some(piece) = number_piece(key, &line[at..end]) {
                        cutter.replace(at..end, piece);
                    }
                    at = end;
                }
                _ => at += 1,
            }
        }
        cutter.replace(line.len()..line.len(), Piece::Text("\n".into()));
        Self { pieces: cutter.pieces }
    }

    /// Appends a copy of the line and its line feed.
    pub(crate) fn write(&self, filling: &Filling, out: &mut Vec<u8>) {
        for piece in &self.pieces {
            let written = match piece {
                Piece::Text(text) => out.write_all(text.as_bytes()),
                Piece::Stream => out.write_all(filling.stream.as_bytes()),
                Piece::Query => out.write_all(filling.query.as_bytes()),
                Piece::Seq => write!(out, "{}", filling.seq),
                Piece::StartedUnixNs => write!(out, "{}", filling.started_unix_ns),
                Piece::Millis(ms) => write!(out, "{:.4}", ms * filling.scale),
                Piece::Counter(count) => write!(out, "{}", (*count as f64 * filling.scale) as u64),
            };
            written.expect("a Vec takes every byte");
        }
    }
}

struct Cutter<'a> {
    line: &'a str,
    kept: usize,
    pieces: Vec<Piece>,
}

impl Cutter<'_> {
    fn replace(&mut self, range: std::ops::Range<usize>, piece: Piece) {
        if self.kept < range.start {
            self.pieces.push(Piece::Text(self.line[self.kept..range.start].into()));
        }
        self.pieces.push(piece);
        self.kept = range.end;
    }
}

fn number_piece(key: &str, number: &str) -> Option<Piece> {
    match key {
        "seq" => Some(Piece::Seq),
        "started_unix_ns" => Some(Piece::StartedUnixNs),
        _ if key.ends_with("_ms") => number.parse().ok().map(Piece::Millis),
        _ if NAMES.contains(&key) => None,
        _ => number.parse().ok().filter(|count| *count >= COUNTER_MIN).map(Piece::Counter),
    }
}

/// The place after the closing quote of the string that opens at `at`.
fn string_end(line: &str, at: usize) -> usize {
    let bytes = line.as_bytes();
    let mut end = at + 1;
    while end < bytes.len() && bytes[end] != b'"' {
        end += if bytes[end] == b'\\' { 2 } else { 1 };
    }
    (end + 1).min(bytes.len())
}

fn number_end(line: &str, at: usize) -> usize {
    let number = |byte: &u8| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-');
    at + line.as_bytes()[at..].iter().take_while(|byte| number(byte)).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids;

    const STREAM: &str = "210de94c-dce3-44f0-9cd3-2604c74dbeea";
    const QUERY: &str = "01a1faa8-1bd9-77b2-97ab-860dd7026506";

    fn line() -> String {
        [
            r#"{"seq":5,"id":4294967298,"pid":4000,"query_id":""#,
            QUERY,
            r#"","stream":""#,
            STREAM,
            r#"","note":"a \"seq\":7 in a text","started_unix_ns":12,"wall_ms":1.5,"rows":1000,"threads":2,"x":0.25}"#,
        ]
        .concat()
    }

    #[test]
    fn a_copy_says_its_own() {
        let mut source = ids::random(1, 1);
        let filling = Filling {
            stream: IdText::stream(&mut source),
            query: IdText::query(&mut source, 99),
            seq: 8,
            started_unix_ns: 99,
            scale: 2.0,
        };
        let mut out = Vec::new();
        Template::cut(&line(), STREAM, Some(QUERY)).write(&filling, &mut out);
        let expected = line()
            .replace(r#"{"seq":5"#, r#"{"seq":8"#)
            .replace(QUERY, filling.query.as_str())
            .replace(STREAM, filling.stream.as_str())
            .replace(r#""started_unix_ns":12"#, r#""started_unix_ns":99"#)
            .replace("1.5", "3.0000")
            .replace("1000", "2000");
        assert_eq!(String::from_utf8(out).expect("text"), expected + "\n");
    }

    #[test]
    fn numbers_that_name_stay() {
        for key in NAMES {
            assert_eq!(number_piece(key, "4294967298"), None);
        }
        assert_eq!(number_piece("rows", "99"), None);
        assert_eq!(number_piece("rows", "100"), Some(Piece::Counter(100)));
        assert_eq!(number_piece("ratio", "100.5"), None);
    }
}
