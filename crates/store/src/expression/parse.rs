//! Reads a filter in words.
//!
//! ```text
//! filter  = [ clause *( space clause ) ]
//! clause  = [ "-" ] ( field operator value / value )
//! value   = 1*( quoted / character )        ; "*" in a value after ":" stands for any text
//! quoted  = DQUOTE *( character / "\" DQUOTE / "\\" ) DQUOTE
//! ```

use std::fmt;

use super::number::{Comparison, NumberField};
use super::pattern::{Pattern, TextField};
use super::{Clause, Expression, Test};
use crate::name::short_name;
use crate::query::Status;

/// A filter has at most so many clauses: each is looked at for each run.
pub const CLAUSES_MAX: usize = 32;
/// A filter has at most so many characters.
pub const TEXT_CHARS_MAX: usize = 2_000;

/// Names of fields, as errors and completion list them.
pub const FIELDS: [&str; 18] = [
    "wall",
    "cpu",
    "rows",
    "read",
    "spilled",
    "memory",
    "warnings",
    "status",
    "label",
    "error",
    "finding",
    "service",
    "env",
    "host",
    "plan",
    "version",
    "engine",
    "engine_version",
];

/// Why a filter cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// The character it is about, counted from 1.
    pub position: usize,
    /// What is wrong, and what is allowed.
    pub reason: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at character {}: {}", self.position, self.reason)
    }
}

impl std::error::Error for Mistake {}

/// Reads a filter.
///
/// # Errors
/// Says at which character what is wrong, and what is allowed.
pub fn parse(text: &str) -> Result<Expression, Mistake> {
    let chars: Vec<char> = text.chars().collect();
    if chars.len() > TEXT_CHARS_MAX {
        let reason = format!("a filter has at most {TEXT_CHARS_MAX} characters");
        return Err(Mistake { position: TEXT_CHARS_MAX + 1, reason });
    }
    let mut reader = Reader { chars: &chars, at: 0 };
    let mut clauses = Vec::new();
    loop {
        reader.skip_space();
        if reader.peek().is_none() {
            return Ok(Expression { clauses });
        }
        if clauses.len() == CLAUSES_MAX {
            return Err(reader.mistake(reader.at, format!("a filter has at most {CLAUSES_MAX} conditions")));
        }
        clauses.push(reader.clause()?);
    }
}

/// A piece of a value.
enum Piece {
    Text(String),
    Star,
}

struct Reader<'c> {
    chars: &'c [char],
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(char::is_whitespace) {
            self.at += 1;
        }
    }

    #[expect(clippy::unused_self, reason = "reads as one of its own")]
    fn mistake(&self, at: usize, reason: impl Into<String>) -> Mistake {
        Mistake { position: at + 1, reason: reason.into() }
    }

    fn clause(&mut self) -> Result<Clause, Mistake> {
        let is_negated = self.peek() == Some('-');
        self.at += usize::from(is_negated);
        if self.peek().is_none_or(char::is_whitespace) {
            return Err(self.mistake(self.at, "a condition or a word must follow \"-\""));
        }
        let test = match self.field() {
            Some((begin, name, operator)) => self.test(begin, &name, operator)?,
            None => Test::Word(self.word()?),
        };
        Ok(Clause { is_negated, test })
    }

    /// A name and an operator that follow here, where they do: the reader is then behind them.
    fn field(&mut self) -> Option<(usize, String, Operator)> {
        let begin = self.at;
        let rest = &self.chars[begin..];
        let length = rest.iter().take_while(|c| c.is_ascii_alphabetic() || **c == '_').count();
        let operator = Operator::of(&rest[length..]).filter(|_| length > 0)?;
        self.at += length + operator.length();
        Some((begin, rest[..length].iter().collect(), operator))
    }

    fn test(&mut self, begin: usize, name: &str, operator: Operator) -> Result<Test, Mistake> {
        let operator_at = self.at - operator.length();
        if let Some(field) = NumberField::ALL.into_iter().find(|field| field.name() == name) {
            let comparison = match operator {
                Operator::Compares(comparison) => comparison,
                Operator::Is => Comparison::Equal,
                Operator::Holds => {
                    let reason = format!("{name} is a number: it takes >, >=, <, <= or =");
                    return Err(self.mistake(operator_at, reason));
                }
            };
            let value_at = self.at;
            let text = self.value(name)?.into_iter().map(Piece::into_text).collect::<String>();
            let value = field.unit().read(&text).ok_or_else(|| {
                let shown = shown(&text);
                self.mistake(value_at, format!("{shown} is not {}", field.unit().takes()))
            })?;
            return Ok(Test::Number { field, comparison, value });
        }
        let is_text = |operator| matches!(operator, Operator::Is | Operator::Compares(Comparison::Equal));
        if name == "status" {
            if !is_text(operator) {
                return Err(self.mistake(operator_at, "status takes \":\""));
            }
            let value_at = self.at;
            let text = self.value(name)?.into_iter().map(Piece::into_text).collect::<String>();
            return text.parse().map(Test::Status).map_err(|()| {
                let allowed = Status::ALL.map(Status::name).join(", ");
                self.mistake(value_at, format!("{} is no status: {allowed} are", shown(&text)))
            });
        }
        let Some(field) = TextField::ALL.into_iter().find(|field| field.name() == name) else {
            let reason = format!(
                "there is no field {}: there are {}. A text with {} in it stands in quotes",
                shown(name),
                FIELDS.join(", "),
                operator.sign(),
            );
            return Err(self.mistake(begin, reason));
        };
        let is_holds = operator == Operator::Holds;
        if !is_holds && !is_text(operator) {
            return Err(self.mistake(operator_at, format!("{name} is a text: it takes \":\" or \"~\"")));
        }
        let value_at = self.at;
        let pieces = self.value(name)?;
        if is_holds {
            let text: String = pieces.into_iter().map(Piece::into_text).collect();
            if text.is_empty() {
                return Err(self.mistake(value_at, "a text must follow \"~\""));
            }
            return Ok(Test::Text { field, pattern: Pattern::Holds(text) });
        }
        Ok(Test::Text { field, pattern: pattern(field, pieces) })
    }

    /// A word: what is no field and operator.
    fn word(&mut self) -> Result<String, Mistake> {
        let begin = self.at;
        let word: String = self.pieces()?.into_iter().map(Piece::into_text).collect();
        if word.is_empty() { Err(self.mistake(begin, "a word must not be empty")) } else { Ok(word) }
    }

    /// What follows an operator.
    fn value(&mut self, name: &str) -> Result<Vec<Piece>, Mistake> {
        if self.peek().is_none_or(char::is_whitespace) {
            let is_text = TextField::ALL.into_iter().any(|field| field.name() == name);
            let hint = if is_text { "; \"\" stands for none" } else { "" };
            return Err(self.mistake(self.at, format!("a value must follow {name}{hint}")));
        }
        self.pieces()
    }

    /// Texts, with and without quotes, up to the next space.
    fn pieces(&mut self) -> Result<Vec<Piece>, Mistake> {
        let mut pieces = Vec::new();
        let mut text = String::new();
        while let Some(char) = self.peek().filter(|char| !char.is_whitespace()) {
            match char {
                '"' => self.quoted(&mut text)?,
                '*' => {
                    pieces.push(Piece::Text(std::mem::take(&mut text)));
                    pieces.push(Piece::Star);
                    self.at += 1;
                }
                _ => {
                    text.push(char);
                    self.at += 1;
                }
            }
        }
        pieces.push(Piece::Text(text));
        Ok(pieces)
    }

    fn quoted(&mut self, text: &mut String) -> Result<(), Mistake> {
        let begin = self.at;
        self.at += 1;
        loop {
            let char = self.peek().ok_or_else(|| self.mistake(begin, "this quote is not closed"))?;
            self.at += 1;
            match char {
                '"' => return Ok(()),
                '\\' if matches!(self.peek(), Some('"' | '\\')) => {
                    text.extend(self.peek());
                    self.at += 1;
                }
                _ => text.push(char),
            }
        }
    }
}

impl Piece {
    fn into_text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Star => "*".into(),
        }
    }
}

fn pattern(field: TextField, pieces: Vec<Piece>) -> Pattern {
    let mut parts: Vec<String> = pieces
        .into_iter()
        .filter_map(|piece| if let Piece::Text(text) = piece { Some(text) } else { None })
        .collect();
    match parts.len() {
        1 => match parts.pop() {
            Some(text) if !text.is_empty() => Pattern::Is(match field {
                // Of the others, long ones are kept shortened.
                TextField::Error | TextField::Finding => text,
                _ => short_name(&text),
            }),
            _ => Pattern::Absent,
        },
        _ => Pattern::Glob(parts),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Is,
    Holds,
    Compares(Comparison),
}

impl Operator {
    fn of(text: &[char]) -> Option<Self> {
        match text.first()? {
            ':' => return Some(Self::Is),
            '~' => return Some(Self::Holds),
            _ => {}
        }
        let starts = |sign: &str| sign.chars().eq(text.iter().copied().take(sign.len()));
        Comparison::ALL.into_iter().find(|comparison| starts(comparison.sign())).map(Self::Compares)
    }

    const fn sign(self) -> &'static str {
        match self {
            Self::Is => ":",
            Self::Holds => "~",
            Self::Compares(comparison) => comparison.sign(),
        }
    }

    const fn length(self) -> usize {
        self.sign().len()
    }
}

/// A text as errors show it.
fn shown(text: &str) -> String {
    let cut: String = text.chars().take(40).collect();
    format!("{cut:?}")
}
