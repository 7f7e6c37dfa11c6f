//! Names that summaries, groups and filters go by: labels, fingerprints, services, environments, hosts.
//!
//! The problem: a name may be as long as a sender likes (some label a query with its SQL), and two long names that
//! differ at their ends must stay two. The mechanism: a name of more than [`NAME_CHARS`] characters keeps its first
//! characters and ends with `…` and a hash of the whole. Filters shorten their values in the same way, so that a
//! query is found by its whole name and by the one that is shown.

use sha2::{Digest, Sha256};

/// Characters of the longest name that is kept as it is. A shortened name has as many.
pub const NAME_CHARS: usize = 512;
/// Hex digits of the hash at the end of a shortened name.
const HASH_DIGITS: usize = 16;
/// Where a name has been cut.
const CUT: char = '…';

/// How names were made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Naming {
    /// As they are made: an empty one is none, a long one ends with a hash.
    Hashed,
    /// As earlier versions made them: an empty one was a name, of a long one the end was cut off.
    Cut,
}

impl Naming {
    /// Both, the one of today first.
    pub const ALL: [Self; 2] = [Self::Hashed, Self::Cut];

    /// The name that is kept of what was sent; `None` when nothing was.
    pub fn name(self, sent: Option<&str>) -> Option<String> {
        sent.filter(|sent| self == Self::Cut || !sent.is_empty()).map(|sent| self.short(sent))
    }

    /// The name that is kept of a text, however short.
    pub fn short(self, text: &str) -> String {
        match self {
            Self::Hashed => short_name(text),
            Self::Cut => cut(text, NAME_CHARS),
        }
    }
}

/// A name as it is kept, which is also the value a filter compares with.
///
/// A name that an earlier version has cut is as it is: that version's queries are still found by it.
pub fn short_name(text: &str) -> String {
    let Some((end, _)) = text.char_indices().nth(NAME_CHARS) else { return text.to_owned() };
    if text[end..].chars().eq([CUT]) {
        return text.to_owned();
    }
    let kept = NAME_CHARS - HASH_DIGITS - 1;
    let begin: String = text.chars().take(kept).collect();
    let hash = Sha256::digest(text.as_bytes());
    let digits = hash.iter().take(HASH_DIGITS / 2).map(|byte| format!("{byte:02x}"));
    format!("{begin}{CUT}{}", digits.collect::<String>())
}

/// The text, or its first characters and a mark that it goes on.
pub(crate) fn cut(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}{CUT}", &text[..end]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_keeps_its_identity() {
        let long = |end: &str| format!("{}{end}", "ä".repeat(600));
        let (one, other) = (short_name(&long("1")), short_name(&long("2")));
        assert_ne!(one, other);
        assert_eq!((one.chars().count(), short_name(&one)), (NAME_CHARS, one.clone()), "and stays as it is");
        let (begin, hash) = one.split_once(CUT).expect("a mark");
        assert!(begin == "ä".repeat(495) && hash.len() == 16, "{one}");
        assert!(hash.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')), "{hash}");
        assert_eq!(short_name(&"x".repeat(600)), format!("{}…5130b33e6b87fbf5", "x".repeat(495)), "for ever");
    }

    #[test]
    fn a_name_that_fits_is_as_it_is() {
        for name in ["a".to_owned(), "ä".repeat(NAME_CHARS)] {
            assert_eq!(short_name(&name), name);
        }
        let earlier = cut(&"x".repeat(600), NAME_CHARS);
        assert_eq!((earlier.chars().count(), short_name(&earlier)), (513, earlier.clone()));
    }

    #[test]
    fn nothing_is_no_name() {
        assert_eq!(Naming::Hashed.name(Some("")), None);
        assert_eq!((Naming::Cut.name(Some("")), Naming::Cut.name(None)), (Some(String::new()), None));
        assert_eq!(Naming::Hashed.name(Some(" ")), Some(" ".into()));
    }

    #[test]
    fn long_texts_are_cut_with_a_mark() {
        assert_eq!(cut("grün", 4), "grün");
        assert_eq!(cut("grün", 3), "grü…");
    }
}
