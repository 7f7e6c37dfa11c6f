//! What a filter in words asks of runs, such as `wall>10s label:orders/* -status:finished timeout`.
//!
//! A filter is a list of clauses, all of which must hold ([grammar](../../../docs/reference/api.md)). [`parse`] reads
//! one, [`Expression::keeps`] says what it means, and `conditions.rs` puts it into SQL for both stores. A clause and
//! its negation together keep every run: a run of which the field is not known does not meet `wall>10s`, and meets
//! `-wall>10s`. Prior art: the search fields of GitHub and Gmail.

mod number;
mod parse;
mod pattern;

use std::fmt;

use crate::filter::{Is, QueryFilter};
use crate::query::{Query, Status};

pub use number::{Amount, Comparison, NumberField, Unit};
pub use parse::{CLAUSES_MAX, FIELDS, Mistake, TEXT_CHARS_MAX, parse};
pub use pattern::{Pattern, TextField};

/// All clauses of a filter.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Expression {
    /// Each must hold.
    pub clauses: Vec<Clause>,
}

/// One condition.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Clause {
    /// Whether the test must fail.
    pub is_negated: bool,
    /// What is asked.
    pub test: Test,
}

/// What a clause asks of a run.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Test {
    /// A figure is known and compares so.
    Number {
        /// Which figure.
        field: NumberField,
        /// How it compares.
        comparison: Comparison,
        /// With what, in the unit of the field.
        value: Amount,
    },
    /// A text matches.
    Text {
        /// Which text.
        field: TextField,
        /// What it must look like.
        pattern: Pattern,
    },
    /// The run is in this state.
    Status(Status),
    /// Label or error text holds this in any case, or the id holds it.
    Word(String),
}

impl Test {
    /// Whether a run passes.
    pub fn keeps(&self, query: &Query) -> bool {
        match self {
            Self::Number { field, comparison, value } => {
                field.of(query).is_some_and(|found| comparison.holds(found, *value))
            }
            Self::Text { field, pattern } => field.matches(pattern, query),
            Self::Status(status) => query.status == *status,
            Self::Word(text) => holds(query, text),
        }
    }
}

/// Whether label or error of a run holds a text in any case, or its id holds it.
pub(crate) fn holds(query: &Query, text: &str) -> bool {
    let text = text.to_lowercase();
    let in_any_case =
        |found: &Option<String>| found.as_ref().is_some_and(|found| found.to_lowercase().contains(&text));
    in_any_case(&query.label) || in_any_case(&query.failed) || query.query_id.to_string().contains(&text)
}

impl Clause {
    /// Whether a run meets it.
    pub fn keeps(&self, query: &Query) -> bool {
        self.test.keeps(query) != self.is_negated
    }
}

/// Texts of a store that are asked for.
#[derive(Debug, Clone, Copy)]
pub enum Lookup<'e> {
    /// Those that a field of a run may have.
    Of(TextField, &'e Pattern),
    /// Those that hold a word in any case.
    Word(&'e str),
}

impl Lookup<'_> {
    /// A text that every text which matches holds, where both are in lower case.
    pub fn needle(&self) -> String {
        match self {
            // Rules stand in a list, as JSON.
            Self::Of(TextField::Finding, _) => String::new(),
            Self::Of(_, pattern) => pattern.needle(),
            Self::Word(word) => word.to_lowercase(),
        }
    }

    /// Whether a text is one of them.
    pub fn matches(&self, text: &str) -> bool {
        match self {
            Self::Of(field, pattern) => field.matches_term(pattern, text),
            Self::Word(word) => text.to_lowercase().contains(&word.to_lowercase()),
        }
    }
}

impl Clause {
    /// What it asks of texts.
    pub fn lookup(&self) -> Option<Lookup<'_>> {
        match &self.test {
            Test::Text { pattern: Pattern::Absent, .. } | Test::Number { .. } | Test::Status(_) => None,
            Test::Text { field, pattern } => Some(Lookup::Of(*field, pattern)),
            Test::Word(word) => Some(Lookup::Word(word)),
        }
    }
}

impl Expression {
    /// Whether a run meets all clauses.
    pub fn keeps(&self, query: &Query) -> bool {
        self.clauses.iter().all(|clause| clause.keeps(query))
    }

    /// Whether it keeps every run.
    pub fn is_empty(&self) -> bool {
        self.clauses.is_empty()
    }

    /// What it asks of texts, in the order of its clauses: a store looks up which of its texts match, and gives the
    /// numbers of these to [`Conditions::of_list`](crate::Conditions::of_list).
    pub fn lookups(&self) -> Vec<Lookup<'_>> {
        self.clauses.iter().filter_map(Clause::lookup).collect()
    }

    /// Adds what it asks to a filter. Where a clause says the same as a field of the filter that is not set, the field
    /// is set: an index may serve it.
    pub fn add_to(self, filter: &mut QueryFilter) {
        for clause in self.clauses {
            if clause.is_negated || !moved(&clause.test, filter) {
                filter.expression.clauses.push(clause);
            }
        }
    }
}

/// Sets the field of a filter that says the same; `false` where there is none, or it is set.
fn moved(test: &Test, filter: &mut QueryFilter) -> bool {
    let is = |pattern: &Pattern| match pattern {
        Pattern::Is(text) => Some(Is::Value(text.clone())),
        Pattern::Absent => Some(Is::Absent),
        Pattern::Glob(_) | Pattern::Holds(_) => None,
    };
    match test {
        Test::Status(status) if filter.status.is_none() => filter.status = Some(*status),
        Test::Word(text) if filter.search.is_none() => filter.search = Some(text.clone()),
        Test::Text { field: TextField::Host, pattern: Pattern::Is(text) } if filter.host.is_none() => {
            filter.host = Some(text.clone());
        }
        Test::Text { field, pattern } => {
            let place = match field {
                TextField::Label => &mut filter.label,
                TextField::Plan => &mut filter.fingerprint,
                TextField::Service => &mut filter.service,
                TextField::Environment => &mut filter.environment,
                TextField::Version => &mut filter.program_version,
                TextField::EngineVersion => &mut filter.engine_version,
                TextField::Host | TextField::Engine | TextField::Error | TextField::Finding => return false,
            };
            let Some(is) = is(pattern).filter(|_| place.is_none()) else { return false };
            *place = Some(is);
        }
        _ => return false,
    }
    true
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, clause) in self.clauses.iter().enumerate() {
            if at > 0 {
                f.write_str(" ")?;
            }
            clause.fmt(f)?;
        }
        Ok(())
    }
}

impl fmt::Display for Clause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_negated {
            f.write_str("-")?;
        }
        match &self.test {
            Test::Number { field, comparison, value } => {
                write!(f, "{}{}{}", field.name(), comparison.sign(), field.unit().text(*value))
            }
            Test::Text { field, pattern } => write!(f, "{}{pattern}", field.name()),
            Test::Status(status) => write!(f, "status:{status}"),
            Test::Word(text) => f.write_str(&pattern::quoted(text)),
        }
    }
}

#[cfg(test)]
mod tests;
