//! What is masked before events leave the process.

use crate::exporter::{Delivery, Exporter, StartError, Stream};

mod apply;
mod text;

/// What to mask. Nothing by default; parts are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches")]
pub struct Redaction {
    pub(crate) literals: bool,
    pub(crate) paths: bool,
    pub(crate) errors: bool,
    pub(crate) call_sites: bool,
    pub(crate) labels: bool,
    pub(crate) properties: bool,
}

impl Redaction {
    /// Masks nothing.
    pub const fn none() -> Self {
        Self {
            literals: false,
            paths: false,
            errors: false,
            call_sites: false,
            labels: false,
            properties: false,
        }
    }

    /// Masks everything below: kinds, roles and counters are left of a plan.
    pub const fn all() -> Self {
        Self { literals: true, paths: true, errors: true, call_sites: true, labels: true, properties: true }
    }

    /// Masks quoted texts and numbers within texts: of properties, findings, names of kinds and counters, and of a
    /// failed query's error, in which URLs go first.
    #[must_use]
    pub const fn literals(mut self) -> Self {
        self.literals = true;
        self
    }

    /// Masks file names, paths and URLs wherever they stand.
    #[must_use]
    pub const fn paths(mut self) -> Self {
        self.paths = true;
        self
    }

    /// Masks the whole error text of a failed query.
    #[must_use]
    pub const fn errors(mut self) -> Self {
        self.errors = true;
        self
    }

    /// Leaves out where the program ran the query.
    #[must_use]
    pub const fn call_sites(mut self) -> Self {
        self.call_sites = true;
        self
    }

    /// Leaves out the names of queries.
    #[must_use]
    pub const fn labels(mut self) -> Self {
        self.labels = true;
        self
    }

    /// Leaves out all that an engine tells in its own words: properties, diagnostics, custom counters, the texts
    /// of findings.
    #[must_use]
    pub const fn properties(mut self) -> Self {
        self.properties = true;
        self
    }

    /// Masks what either masks.
    pub(crate) const fn and(self, other: Self) -> Self {
        Self {
            literals: self.literals | other.literals,
            paths: self.paths | other.paths,
            errors: self.errors | other.errors,
            call_sites: self.call_sites | other.call_sites,
            labels: self.labels | other.labels,
            properties: self.properties | other.properties,
        }
    }
}

/// An exporter for which more is masked than for the others.
#[derive(Debug)]
pub struct Redacted<E> {
    exporter: E,
    redaction: Redaction,
}

impl<E: Exporter> Redacted<E> {
    /// Masks what this exporter gets.
    pub fn new(exporter: E, redaction: Redaction) -> Self {
        Self { exporter, redaction }
    }
}

impl<E: Exporter> Exporter for Redacted<E> {
    fn open(&self, stream: &Stream) -> Result<Box<dyn Delivery>, StartError> {
        self.exporter.open(stream)
    }

    fn is_counted(&self) -> bool {
        self.exporter.is_counted()
    }

    fn redaction(&self) -> Redaction {
        self.exporter.redaction().and(self.redaction)
    }
}
