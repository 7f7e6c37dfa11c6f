//! From a text to the values of its fields. What has no place among them is a mistake and left out, so that one look
//! names the mistakes of the whole file.

use std::collections::BTreeSet;

use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue, Deserializer};

use super::read::Span;
use crate::raw::RawFile;

/// The place of a table, and the name of a field of it.
pub(super) type LeftOut = (Span, String);

/// What was left out.
enum Left {
    Field(LeftOut),
    /// An item of a list.
    Item,
}

/// Mistakes after which a file is read no further.
const MISTAKES_MAX: usize = 100;

/// A file, as far as its fields can be read.
pub(super) struct Structure {
    pub(super) raw: RawFile,
    /// The names of all receivers, also of those that cannot be read.
    pub(super) receivers: BTreeSet<String>,
    /// Each mistake with its place.
    pub(super) wrong: Vec<(Span, String)>,
    /// The fields that were left out, each with the place of its table.
    pub(super) left_out: Vec<LeftOut>,
}

/// Reads the fields of a text.
///
/// # Errors
/// The mistakes, each with its place, where the text is no TOML or nothing of it can be read.
pub(super) fn read(text: &str) -> Result<Structure, Vec<(Span, String)>> {
    let (mut document, errors) = DeTable::parse_recoverable(text);
    let mut wrong: Vec<(Span, String)> = errors.iter().map(placed).collect();
    if !wrong.is_empty() {
        // What follows from the first mistake of a line is none.
        let line = |at: &Span| text.get(..at.start).unwrap_or(text).matches('\n').count();
        wrong.dedup_by_key(|(at, _)| line(at));
        return Err(wrong);
    }
    let receivers = document.get_ref().get("receivers").and_then(|all| all.get_ref().as_table());
    let receivers = receivers.into_iter().flat_map(DeTable::keys);
    let receivers = receivers.map(|name| name.get_ref().to_string()).collect();
    let mut left_out: Vec<LeftOut> = Vec::new();
    loop {
        let error = match RawFile::deserialize(Deserializer::from(document.clone())) {
            Ok(raw) => return Ok(Structure { raw, receivers, wrong, left_out }),
            Err(error) => error,
        };
        let (at, cause) = placed(&error);
        let root = document.span();
        let left = leave_out(document.get_mut(), root, &at);
        wrong.push((at, cause));
        match left {
            Some(left) if wrong.len() < MISTAKES_MAX => {
                if let Left::Field(field) = left {
                    left_out.push(field);
                }
            }
            _ => return Err(wrong),
        }
    }
}

fn placed(error: &toml::de::Error) -> (Span, String) {
    (error.span().unwrap_or(0..0), error.message().trim().replace('\n', ", "))
}

/// Leaves out what is at a place, below a table that is at another: a field, or an item of a list; `None` where nothing
/// is there. What lies deepest is left out: the place of a list of tables is that of its first table.
fn leave_out(table: &mut DeTable<'_>, of: Span, at: &Span) -> Option<Left> {
    let below = table.iter_mut().find_map(|(_, value)| leave_out_of_value(value, at));
    if below.is_some() {
        return below;
    }
    let is_there = |(key, value): &(&Spanned<_>, &Spanned<_>)| key.span() == *at || value.span() == *at;
    let key = table.iter().find(is_there).map(|(key, _)| key.get_ref().to_string())?;
    table.remove(&*key);
    Some(Left::Field((of, key)))
}

fn leave_out_of_value(value: &mut Spanned<DeValue<'_>>, at: &Span) -> Option<Left> {
    let of = value.span();
    match value.get_mut() {
        DeValue::Table(table) => leave_out(table, of, at),
        DeValue::Array(items) => {
            let below = items.iter_mut().find_map(|item| leave_out_of_value(item, at));
            if below.is_some() || items.iter().all(|item| item.span() != *at) {
                return below;
            }
            let mut kept = DeArray::new();
            for item in items.iter().filter(|item| item.span() != *at) {
                kept.push(item.clone());
            }
            *items = kept;
            Some(Left::Item)
        }
        _ => None,
    }
}
