//! Texts of runs, and what they must look like.

use std::fmt;

use crate::query::Query;

/// A text of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the fields of a run")]
pub enum TextField {
    Label,
    Error,
    /// The rules of the findings that warn: one of them must match.
    Finding,
    Service,
    Environment,
    Host,
    /// Fingerprint of the plan.
    Plan,
    /// Version of the program.
    Version,
    Engine,
    EngineVersion,
}

impl TextField {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Label,
        Self::Error,
        Self::Finding,
        Self::Service,
        Self::Environment,
        Self::Host,
        Self::Plan,
        Self::Version,
        Self::Engine,
        Self::EngineVersion,
    ];

    /// Its name in a filter.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Label => "label",
            Self::Error => "error",
            Self::Finding => "finding",
            Self::Service => "service",
            Self::Environment => "env",
            Self::Host => "host",
            Self::Plan => "plan",
            Self::Version => "version",
            Self::Engine => "engine",
            Self::EngineVersion => "engine_version",
        }
    }

    /// The column of the table `query` that holds it, as the number of a term.
    pub const fn column(self) -> &'static str {
        match self {
            Self::Label => "label",
            Self::Error => "failed",
            Self::Finding => "rules",
            Self::Service => "service",
            Self::Environment => "environment",
            Self::Host => "host",
            Self::Plan => "fingerprint",
            Self::Version => "program_version",
            Self::Engine => "engine",
            Self::EngineVersion => "engine_version",
        }
    }

    /// Whether what a run says of it matches.
    pub(super) fn matches(self, pattern: &Pattern, query: &Query) -> bool {
        let text = match self {
            Self::Label => &query.label,
            Self::Error => &query.failed,
            Self::Service => &query.service,
            Self::Environment => &query.environment,
            Self::Host => return pattern.matches(Some(&query.host)),
            Self::Plan => &query.fingerprint,
            Self::Version => &query.program_version,
            Self::Engine => &query.engine,
            Self::EngineVersion => &query.engine_version,
            Self::Finding if query.rules.is_empty() => return pattern.matches(None),
            Self::Finding => return query.rules.iter().any(|rule| pattern.matches(Some(rule))),
        };
        pattern.matches(text.as_deref())
    }

    /// Whether the text of a term matches, as a row of this field names it.
    pub fn matches_term(self, pattern: &Pattern, text: &str) -> bool {
        match self {
            Self::Finding => {
                let rules: Vec<String> = serde_json::from_str(text).unwrap_or_default();
                rules.iter().any(|rule| pattern.matches(Some(rule)))
            }
            _ => pattern.matches(Some(text)),
        }
    }
}

/// What a text must look like.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Pattern {
    /// There is none.
    Absent,
    /// It is this.
    Is(String),
    /// It is these parts, one after the other, with any characters between: at least two.
    Glob(Vec<String>),
    /// It holds this in any case.
    Holds(String),
}

impl Pattern {
    /// Whether a text looks so.
    pub fn matches(&self, text: Option<&str>) -> bool {
        let Some(text) = text else { return *self == Self::Absent };
        match self {
            Self::Absent => false,
            Self::Is(asked) => text == asked,
            Self::Holds(part) => text.to_lowercase().contains(&part.to_lowercase()),
            Self::Glob(parts) => is_made_of(text, parts),
        }
    }

    /// A text that every text which matches holds, where both are in lower case: the longest there is.
    pub fn needle(&self) -> String {
        // In lower case, a sigma at the end of a part is another than the same one within a text.
        let is_kept = |part: &&String| !part.contains('Σ');
        let longest = match self {
            Self::Absent => "",
            Self::Is(text) | Self::Holds(text) => text,
            Self::Glob(parts) => {
                parts.iter().filter(is_kept).max_by_key(|part| part.len()).map_or("", String::as_str)
            }
        };
        longest.to_lowercase()
    }
}

fn is_made_of(text: &str, parts: &[String]) -> bool {
    let [first, middle @ .., last] = parts else { return false };
    let Some(mut rest) = text.strip_prefix(first.as_str()) else { return false };
    for part in middle {
        let Some(at) = rest.find(part.as_str()) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last.as_str())
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => f.write_str(":\"\""),
            Self::Is(text) => write!(f, ":{}", quoted(text)),
            Self::Holds(text) => write!(f, "~{}", quoted(text)),
            Self::Glob(parts) => {
                let parts: Vec<String> = parts
                    .iter()
                    .map(|part| if part.is_empty() { String::new() } else { quoted(part) })
                    .collect();
                write!(f, ":{}", parts.join("*"))
            }
        }
    }
}

/// A text in quotes.
pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
