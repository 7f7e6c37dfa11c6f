//! From a text to the values of its fields. What has no place among them is a mistake and left out, so that one look
//! names the mistakes of the whole file.

use std::collections::BTreeSet;

use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue, Deserializer};

use super::read::Span;
use crate::raw::RawFile;

/// The place of a table, and the name of a field of it; or the place of a list, and [`ITEM`].
pub(super) type LeftOut = (Span, String);

/// What stands for the name of an item of a list.
pub(super) const ITEM: &str = "";

/// Mistakes after which a file is read no further.
const MISTAKES_MAX: usize = 100;

/// A file, as far as its fields can be read.
pub(super) struct Structure {
    pub(super) raw: RawFile,
    /// The names of all receivers, also of those that cannot be read.
    pub(super) receivers: BTreeSet<String>,
    /// Each mistake with its place.
    pub(super) wrong: Vec<(Span, String)>,
    /// What was left out, each with the place of its table or list.
    pub(super) left_out: Vec<LeftOut>,
}

/// Reads the fields of a text.
///
/// # Errors
/// The mistakes, each with its place, where the text is no TOML or nothing of it can be read.
pub(super) fn read(text: &str) -> Result<Structure, Vec<(Span, String)>> {
    let (mut document, errors) = DeTable::parse_recoverable(text);
    let mut wrong: Vec<(Span, String)> = errors.iter().map(|error| placed(text, error)).collect();
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
        let (at, cause) = placed(text, &error);
        let root = document.span();
        let left = leave_out(document.get_mut(), root, &at);
        wrong.push((at, cause));
        match left {
            Some(left) if wrong.len() < MISTAKES_MAX => left_out.push(left),
            _ => return Err(wrong),
        }
    }
}

fn placed(text: &str, error: &toml::de::Error) -> (Span, String) {
    let at = error.span().unwrap_or(0..0);
    let cause = in_words_of_files(&error.message().trim().replace('\n', ", "));
    let key = text.get(at.clone()).filter(|_| cause == "duplicate key" && !is_in_braces(text, &at));
    let cause = key.map_or(cause, |key| format!("the key {key} is given twice"));
    (at, cause)
}

/// Whether a place is within a table in braces: keys there may be of a secret.
fn is_in_braces(text: &str, at: &Span) -> bool {
    text.get(..at.start).and_then(|before| before.rsplit('\n').next()).is_none_or(|line| line.contains('{'))
}

/// A mistake of a type, whose words are those of the reader of the file, in those of files.
fn in_words_of_files(cause: &str) -> String {
    let mut words = cause.to_owned();
    for (reader, file) in [("sequence", "a list"), ("map", "a table")] {
        if let Some(rest) = words.strip_prefix(&format!("invalid type: {reader}, ")) {
            words = format!("invalid type: {file}, {rest}");
        }
    }
    for (reader, file) in [
        ("a sequence", "a list, like [\"slower\"]"),
        ("a map", "a table"),
        ("u16", "a number from 0 to 65535"),
        ("f64", "a number"),
    ] {
        if let Some(rest) = words.strip_suffix(&format!(", expected {reader}")) {
            words = format!("{rest}, expected {file}");
        }
    }
    words
}

/// Leaves out what is at a place, below a table that is at another: a field, or an item of a list; `None` where nothing
/// is there. What lies deepest is left out: the place of a list of tables is that of its first table.
fn leave_out(table: &mut DeTable<'_>, of: Span, at: &Span) -> Option<LeftOut> {
    let below = table.iter_mut().find_map(|(_, value)| leave_out_of_value(value, at));
    if below.is_some() {
        return below;
    }
    let is_there = |(key, value): &(&Spanned<_>, &Spanned<_>)| key.span() == *at || value.span() == *at;
    let key = table.iter().find(is_there).map(|(key, _)| key.get_ref().to_string())?;
    table.remove(&*key);
    Some((of, key))
}

fn leave_out_of_value(value: &mut Spanned<DeValue<'_>>, at: &Span) -> Option<LeftOut> {
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
            Some((of, ITEM.to_owned()))
        }
        _ => None,
    }
}
