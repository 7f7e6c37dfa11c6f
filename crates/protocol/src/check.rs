//! Checks a line against the format while it is read.
//!
//! The problem: every member that the format names is checked, at the pace of ingest, and a sender is told which member
//! is wrong and what is allowed there. `serde` reports a mismatch as prose without a path, and reading typed values
//! through it takes twice the time of passing over them. The mechanism: a [`Cursor`] walks the line once, and each
//! member has a [`Rule`]. A rule that fails leaves a [`Failure`] at the cursor, and each object and array around it
//! adds its step to the path on the way out. Nothing is allocated while a line is as the format wants it. Texts with
//! escapes and fractions are left to `serde_json`, and so is reading whole profiles.

mod bytes;
mod cursor;
mod object;
mod profile;
mod rules;

use bytes::{Count, NodeBytes, PhysicalNodes, PlanBytes, QueryBytes, RunBytes, StoredCounters};
pub(crate) use cursor::{Cursor, Depth, Problem, Stop};
pub(crate) use object::object;
pub(crate) use profile::{Counters, LaterText, Nested, Profile};
use profile::{Node, SentOrStored};
pub(crate) use rules::{
    AnyObject, AnyText, Anything, Boolean, DecimalMap, EventsEngine, HexText, Id, Integer, Items, Kept,
    Millis, Number, Optional, ProfileFormat, Unsigned, node_id,
};
use rules::{Raw, items};

use crate::error::BatchErrorKind;

/// What a member of the format must be.
pub(crate) trait Rule<'de> {
    /// What is kept of it.
    type Value;
    /// What is allowed.
    const ALLOWED: Allowed;

    /// Reads the value at the cursor; stops when it is not allowed.
    fn read(cursor: &mut Cursor<'de>) -> Result<Self::Value, Stop>;
}

/// What is allowed somewhere, as the end of "… must be".
#[derive(Debug, Clone, Copy)]
pub(crate) struct Allowed {
    pub(crate) what: &'static str,
    pub(crate) or_null: bool,
}

impl Allowed {
    pub(crate) const fn new(what: &'static str) -> Self {
        Self { what, or_null: false }
    }

    pub(crate) fn sentence(self) -> String {
        if self.or_null { format!("{} or null", self.what) } else { self.what.to_owned() }
    }
}

/// Reads the value at the cursor, and notes what is allowed there when it is not.
#[inline]
pub(crate) fn expect<'de, R: Rule<'de>>(cursor: &mut Cursor<'de>) -> Result<R::Value, Stop> {
    let start = cursor.skip_space();
    R::read(cursor).inspect_err(|_| cursor.note(start, Problem::NotAllowed(R::ALLOWED)))
}

/// Reads one line by a rule.
pub(crate) fn read<'de, R: Rule<'de>>(line: &'de str, depth: Depth) -> Result<R::Value, BatchErrorKind> {
    let mut cursor = Cursor::new(line, depth);
    match expect::<R>(&mut cursor).and_then(|value| cursor.end().map(|()| value)) {
        Ok(value) => Ok(value),
        Err(Stop) => Err(cursor.into_error()),
    }
}

#[cfg(test)]
mod tests;
