//! Names that people give to tokens and projects.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

const CHARS_MAX: usize = 64;

/// A name of a token or a project: it can be part of an address, a file's name or a line of a log as it is.
///
/// Names that were stored before there was this rule are texts like any other, and go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name(String);

/// A text that is no [`Name`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("expected 1 to 64 letters, digits, '.', '_' or '-', not beginning with '.'")]
pub struct NoName;

impl FromStr for Name {
    type Err = NoName;

    fn from_str(text: &str) -> Result<Self, NoName> {
        let known = |char: char| char.is_ascii_alphanumeric() || "._-".contains(char);
        let is_name = !text.is_empty() && text.len() <= CHARS_MAX && !text.starts_with('.');
        if is_name && text.chars().all(known) { Ok(Self(text.to_owned())) } else { Err(NoName) }
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_of_letters_digits_and_a_few_marks() {
        for text in ["a", "default", "Team-1_a.b", "-", "0", &"x".repeat(64)] {
            assert_eq!(text.parse::<Name>().map(String::from).as_deref(), Ok(text));
        }
        for text in ["", " ", "a b", ".", "..", ".a", "a/b", "../x", "a\n", "ä", "a\u{202e}", &"x".repeat(65)]
        {
            assert_eq!(text.parse::<Name>(), Err(NoName), "{text:?}");
        }
    }
}
