//! The properties of a node, by the words of the [vocabulary](crate::vocabulary).

use queryscope_protocol::Node;
use serde_json::{Map, Value};

use crate::vocabulary::Term;
use crate::vocabulary::properties::{LIMIT, USER_CODE};

/// What engines call the rows that a node with a limit leaves out before the first.
const OFFSET: &str = "offset";

/// The properties of a node, read once.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Properties(Map<String, Value>);

impl Properties {
    pub(crate) fn of(node: &Node<'_>) -> Self {
        // An object that was read holds JSON; one too deep to be read again has no properties we know.
        let read = node.properties.as_ref().and_then(|object| serde_json::from_str(object.as_json()).ok());
        Self(read.unwrap_or_default())
    }

    /// Everything the engine said, by name.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// The first value that is there under any of the names; null is not there.
    pub(crate) fn get(&self, term: &Term) -> Option<&Value> {
        term.names.iter().filter_map(|name| self.0.get(*name)).find(|value| !value.is_null())
    }

    /// A text.
    pub(crate) fn text(&self, term: &Term) -> Option<&str> {
        self.get(term)?.as_str()
    }

    /// A whole number.
    pub(crate) fn number(&self, term: &Term) -> Option<u64> {
        self.get(term)?.as_u64()
    }

    /// Every text under any of the names, however deep.
    pub(crate) fn texts(&self, term: &Term) -> Vec<&str> {
        let mut texts = Vec::new();
        for value in term.names.iter().filter_map(|name| self.0.get(*name)) {
            collect(value, &mut texts);
        }
        texts
    }

    /// The names in a list; `None` where there is no list.
    pub(crate) fn names(&self, term: &Term) -> Option<Vec<&str>> {
        self.get(term)?.as_array().map(|names| names.iter().filter_map(Value::as_str).collect())
    }

    /// How many rows the node keeps at most.
    pub(crate) fn limit(&self) -> Option<u64> {
        LIMIT.names.iter().filter_map(|name| self.0.get(*name)).find_map(|value| match value {
            Value::Number(rows) => rows.as_u64(),
            Value::Array(slice) => slice.get(1)?.as_u64(),
            _ => None,
        })
    }

    /// Which rows a node with a limit keeps: the first one's place, counted from the end where it is negative, and
    /// how many; `None` where it has no limit, or not both are known.
    pub(crate) fn slice(&self) -> Option<(i64, u64)> {
        let rows = self.limit()?;
        let array =
            LIMIT.names.iter().filter_map(|name| self.0.get(*name)?.as_array()).find(|slice| slice.len() > 1);
        let offset = array.map_or_else(|| self.0.get(OFFSET), |slice| slice.first());
        match offset {
            None | Some(Value::Null) => Some((0, rows)),
            Some(offset) => Some((offset.as_i64()?, rows)),
        }
    }

    /// Whether a node keeps a part of its rows by their place.
    pub(crate) fn is_sliced(&self) -> bool {
        let offset = self.0.get(OFFSET).is_some_and(|offset| !offset.is_null() && offset.as_i64() != Some(0));
        offset || self.get(&LIMIT).is_some()
    }

    /// The function of the program that the node calls.
    pub(crate) fn user_code(&self) -> Option<&str> {
        let [own, engine] = USER_CODE.names else { return None };
        let said = self.0.get(*own).and_then(Value::as_str);
        said.or_else(|| self.0.get(*engine).and_then(Value::as_str).filter(|name| name.contains("udf")))
    }
}

fn collect<'v>(value: &'v Value, texts: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(values) => values.iter().for_each(|value| collect(value, texts)),
        Value::Object(members) => members.values().for_each(|value| collect(value, texts)),
        _ => {}
    }
}
