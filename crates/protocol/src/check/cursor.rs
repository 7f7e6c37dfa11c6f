//! A place in a line of JSON (RFC 8259) that moves on value by value.

use std::borrow::Cow;

use super::Allowed;
use crate::error::{BatchErrorKind, Step, got, shown};
use crate::text::Text;

/// How much of a line is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// Every member the format names.
    Whole,
    /// What a summary needs: earlier versions accepted and stored lines that have more wrong with them.
    Summary,
}

/// Reading has stopped; the cursor knows why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stop;

/// A place in a line.
#[derive(Debug)]
pub(crate) struct Cursor<'de> {
    line: &'de str,
    at: usize,
    depth: Depth,
    failure: Option<Failure>,
    /// The open brackets of a value that is passed over; its space is used again.
    open: Vec<u8>,
}

/// Why reading stopped.
#[derive(Debug)]
struct Failure {
    problem: Problem,
    /// Where the value begins that is to blame.
    start: usize,
    /// From the inside out.
    steps: Vec<Step>,
}

#[derive(Debug)]
pub(crate) enum Problem {
    NotJson,
    CutOff,
    Missing,
    Repeated,
    Misnamed { name: String, allowed: &'static str },
    NotAllowed(Allowed),
}

const ONES: u64 = u64::from_ne_bytes([1; 8]);
const HIGH: u64 = ONES << 7;

/// Where the first byte is that may not stand in a text as it is: a quotation mark, a backslash, a control character;
/// else the end.
#[inline]
fn plain_end(bytes: &[u8], mut at: usize) -> usize {
    // Eight bytes at a time: the lowest bit that is set is that of the first such byte.
    while let Some((eight, _)) = bytes.get(at..).and_then(<[u8]>::split_first_chunk) {
        let word = u64::from_le_bytes(*eight);
        let (quotes, backslashes) = (word ^ (ONES * 0x22), word ^ (ONES * 0x5c));
        let controls = word.wrapping_sub(ONES * 0x20) & !word;
        let ends = (quotes.wrapping_sub(ONES) & !quotes) | (backslashes.wrapping_sub(ONES) & !backslashes);
        let matter = (controls | ends) & HIGH;
        if matter != 0 {
            return at + (matter.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    while bytes.get(at).is_some_and(|byte| !matches!(byte, b'"' | b'\\' | 0..0x20)) {
        at += 1;
    }
    at
}

impl<'de> Cursor<'de> {
    pub(crate) fn new(line: &'de str, depth: Depth) -> Self {
        Self { line, at: 0, depth, failure: None, open: Vec::new() }
    }

    /// The text from here on.
    pub(crate) fn rest(&self) -> &'de str {
        self.line.get(self.at..).unwrap_or_default()
    }

    /// Whether all members are checked.
    pub(crate) fn is_whole(&self) -> bool {
        self.depth == Depth::Whole
    }

    /// Passes over white space; where the next token begins.
    #[inline]
    pub(crate) fn skip_space(&mut self) -> usize {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
        self.at
    }

    /// The next byte, as it is.
    #[inline]
    pub(crate) fn peek(&self) -> Option<u8> {
        self.line.as_bytes().get(self.at).copied()
    }

    /// Checks that there is nothing more.
    pub(crate) fn end(&mut self) -> Result<(), Stop> {
        let at = self.skip_space();
        if at == self.line.len() { Ok(()) } else { Err(self.stop(Problem::NotJson)) }
    }

    /// Takes this byte if it is the next token.
    #[inline]
    pub(crate) fn takes(&mut self, byte: u8) -> bool {
        self.skip_space();
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    /// Takes the comma before the next member or item, or what closes the object or array; true for a comma.
    #[inline]
    pub(crate) fn goes_on(&mut self, close: u8) -> Result<bool, Stop> {
        self.skip_space();
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                Ok(true)
            }
            Some(byte) if byte == close => {
                self.at += 1;
                Ok(false)
            }
            _ => Err(self.unexpected()),
        }
    }

    /// Takes the name of a member and the colon behind it.
    #[inline]
    pub(crate) fn name(&mut self) -> Result<Cow<'de, str>, Stop> {
        self.skip_space();
        let name = if self.peek() == Some(b'"') { self.text()? } else { return Err(self.unexpected()) };
        if self.takes(b':') { Ok(name) } else { Err(self.unexpected()) }
    }

    /// Takes a text; stops at any other value.
    pub(crate) fn text(&mut self) -> Result<Cow<'de, str>, Stop> {
        let start = self.at;
        if self.peek() != Some(b'"') {
            return Err(Stop);
        }
        let has_escapes = self.skip_text()?;
        if !has_escapes {
            return Ok(Cow::Borrowed(&self.line[start + 1..self.at - 1]));
        }
        let text = serde_json::from_str::<Text<'de>>(&self.line[start..self.at]).map_err(|_| Stop)?;
        Ok(text.into_inner())
    }

    /// Passes over a text, whose first quotation mark is the next byte; whether it has escapes.
    #[inline]
    pub(crate) fn skip_text(&mut self) -> Result<bool, Stop> {
        self.at = plain_end(self.line.as_bytes(), self.at + 1);
        if self.peek() == Some(b'"') {
            self.at += 1;
            return Ok(false);
        }
        self.skip_rest_of_text()
    }

    /// Passes over the rest of a text that does not end with plain characters.
    fn skip_rest_of_text(&mut self) -> Result<bool, Stop> {
        let mut has_escapes = false;
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(has_escapes);
                }
                Some(b'\\') => {
                    has_escapes = true;
                    self.skip_escape()?;
                }
                // Earlier versions took these in the texts that they read.
                Some(0..0x20) if !self.is_whole() => self.at += 1,
                _ => return Err(self.unexpected()),
            }
            self.at = plain_end(self.line.as_bytes(), self.at);
        }
    }

    fn skip_escape(&mut self) -> Result<(), Stop> {
        self.at += 1;
        match self.peek() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 1,
            Some(b'u') => {
                for _ in 0..4 {
                    self.at += 1;
                    if !self.peek().is_some_and(|byte| byte.is_ascii_hexdigit()) {
                        return Err(self.unexpected());
                    }
                }
                self.at += 1;
            }
            _ => return Err(self.unexpected()),
        }
        Ok(())
    }

    /// Takes an integer from 0 to 2^64 - 1; stops at any other value.
    #[inline]
    pub(crate) fn unsigned(&mut self) -> Result<u64, Stop> {
        /// So many digits hold no number that is too large.
        const DIGITS: usize = 18;

        let bytes = &self.line.as_bytes()[self.at..];
        let mut number = 0;
        let mut digits = 0;
        while let Some(digit @ b'0'..=b'9') = bytes.get(digits).filter(|_| digits < DIGITS) {
            number = number * 10 + u64::from(digit - b'0');
            digits += 1;
        }
        let is_whole = matches!(bytes.get(digits), Some(b',' | b'}' | b']'));
        if is_whole && (digits == 1 || (digits > 1 && bytes[0] != b'0')) {
            self.at += digits;
            return Ok(number);
        }
        self.number()?.parse().map_err(|_| Stop)
    }

    /// Takes a number as it is written; stops at any other value.
    #[inline]
    pub(crate) fn number(&mut self) -> Result<&'de str, Stop> {
        let start = self.at;
        if !matches!(self.peek(), Some(b'-' | b'0'..=b'9')) {
            return Err(Stop);
        }
        self.at += usize::from(self.peek() == Some(b'-'));
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            self.digits()?;
        }
        Ok(&self.line[start..self.at])
    }

    #[inline]
    fn digits(&mut self) -> Result<(), Stop> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        if self.at > start { Ok(()) } else { Err(self.unexpected()) }
    }

    /// Takes a word such as `null` if it is next.
    pub(crate) fn takes_word(&mut self, word: &str) -> bool {
        let is_next = self.line.as_bytes()[self.at..].starts_with(word.as_bytes());
        self.at += if is_next { word.len() } else { 0 };
        is_next
    }

    /// Passes over any value, however deep it is.
    pub(crate) fn skip_value(&mut self) -> Result<(), Stop> {
        let depth = self.open.len();
        loop {
            self.skip_space();
            match self.peek() {
                Some(b'"') => drop(self.skip_text()?),
                Some(b'-' | b'0'..=b'9') => drop(self.number()?),
                Some(b'{') => {
                    self.at += 1;
                    if !self.takes(b'}') {
                        self.open.push(b'}');
                        self.name()?;
                        continue;
                    }
                }
                Some(b'[') => {
                    self.at += 1;
                    if !self.takes(b']') {
                        self.open.push(b']');
                        continue;
                    }
                }
                _ if ["true", "false", "null"].iter().any(|word| self.takes_word(word)) => {}
                _ => return Err(self.unexpected()),
            }
            // A value has ended, and perhaps what it is in.
            loop {
                if self.open.len() == depth {
                    return Ok(());
                }
                let close = self.open[self.open.len() - 1];
                if self.goes_on(close)? {
                    if close == b'}' {
                        self.name()?;
                    }
                    break;
                }
                self.open.pop();
            }
        }
    }

    /// Stops at a byte that JSON does not allow here, or at the end.
    #[cold]
    fn unexpected(&mut self) -> Stop {
        let is_end = self.at >= self.line.len();
        self.stop(if is_end { Problem::CutOff } else { Problem::NotJson })
    }

    /// Stops here.
    #[cold]
    pub(crate) fn stop(&mut self, problem: Problem) -> Stop {
        self.note(self.at, problem);
        Stop
    }

    /// Stops at a member that was there before.
    #[cold]
    pub(crate) fn repeated(&mut self, name: &str) -> Stop {
        let stop = self.stop(Problem::Repeated);
        self.step(Step::member(name));
        stop
    }

    /// Stops at the end of an object that lacks a member.
    #[cold]
    pub(crate) fn missing(&mut self, name: &str) -> Stop {
        let stop = self.stop(Problem::Missing);
        self.step(Step::member(name));
        stop
    }

    /// Notes why reading stops; the first note stays.
    #[cold]
    pub(crate) fn note(&mut self, start: usize, problem: Problem) {
        self.failure.get_or_insert(Failure { problem, start, steps: Vec::new() });
    }

    /// Adds the step that led to the failure.
    #[cold]
    pub(crate) fn step(&mut self, step: Step) {
        if let Some(failure) = &mut self.failure {
            failure.steps.push(step);
        }
    }

    pub(crate) fn into_error(mut self) -> BatchErrorKind {
        // The reader that stops says why; an end without a reason would still be the line's.
        let Some(Failure { problem, start, mut steps }) = self.failure.take() else {
            return BatchErrorKind::CutOff;
        };
        steps.reverse();
        let path = steps.into();
        match problem {
            Problem::NotJson => BatchErrorKind::NotJson { column: start + 1 },
            Problem::CutOff => BatchErrorKind::CutOff,
            Problem::Missing => BatchErrorKind::Missing { path },
            Problem::Repeated => BatchErrorKind::Repeated { path },
            Problem::Misnamed { name, allowed } => {
                BatchErrorKind::Misnamed { path, name: shown(&name), allowed }
            }
            Problem::NotAllowed(allowed) => {
                (self.at, self.open) = (start, Vec::new());
                match self.skip_value() {
                    Ok(()) => {
                        let got = got(&self.line[start..self.at]);
                        BatchErrorKind::NotAllowed { path, allowed: allowed.sentence(), got }
                    }
                    // What is there is no value at all.
                    Err(Stop) => self.into_error(),
                }
            }
        }
    }
}
