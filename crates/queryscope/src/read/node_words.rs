//! A node's own words in one line, as the dashboard has them (`ui/src/model/run/words.ts`): what it reads, keeps, joins
//! on or groups by.

use queryscope_insights::vocabulary::Term;
use queryscope_insights::vocabulary::properties::{
    COLUMNS, DESTINATION, EXPRESSIONS, FILES, HOW, KEYS, LIMIT, ORDER, PREDICATE, PROJECTION, TABLE,
    USER_CODE,
};
use queryscope_protocol::{Node, Role};
use serde_json::{Map, Value};

/// The words of a node; empty where it has none.
pub(crate) fn node_words(node: &Node<'_>) -> String {
    let read = node.properties.as_ref().and_then(|object| serde_json::from_str(object.as_json()).ok());
    let p = Properties(read.unwrap_or_default());
    let parts: Vec<Option<String>> = match node.role {
        Role::Scan | Role::Dataframe => {
            vec![p.source(), p.said(&PREDICATE).map(|text| format!("where {text}")), p.column_count()]
        }
        Role::Join | Role::ThetaJoin | Role::CrossJoin | Role::SemiAntiJoin => {
            let how = p.get(&HOW).and_then(Value::as_str).map(str::to_lowercase);
            let strategy = p.0.get("strategy").and_then(Value::as_str).map(str::to_owned);
            vec![how, p.joined_on(), strategy]
        }
        Role::Distinct => vec![p.by(&KEYS).or(Some("by all columns".into()))],
        Role::Aggregation => vec![p.by(&KEYS), p.said(&EXPRESSIONS)],
        Role::Sort | Role::TopK => vec![p.order().map(|text| format!("by {text}")), p.limit()],
        Role::Sink => vec![p.get(&DESTINATION).and_then(first_text).map(last_part)],
        _ => {
            let work = [&PREDICATE, &EXPRESSIONS, &COLUMNS, &ORDER, &USER_CODE];
            let said = work.into_iter().find_map(|term| p.said(term));
            let format = || Some(plain(p.0.get("format_str")?.as_str()?));
            vec![said.or_else(format), p.limit()]
        }
    };
    let parts: Vec<String> = parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
    parts.join(" · ")
}

struct Properties(Map<String, Value>);

impl Properties {
    /// The first value that is there under any of the names; null is not there.
    fn get(&self, term: &Term) -> Option<&Value> {
        self.named(term.names)
    }

    fn named(&self, names: &[&str]) -> Option<&Value> {
        names.iter().filter_map(|name| self.0.get(*name)).find(|value| !value.is_null())
    }

    /// Every text of a property, joined.
    fn said(&self, term: &Term) -> Option<String> {
        said(self.get(term)?)
    }

    fn by(&self, term: &Term) -> Option<String> {
        self.said(term).map(|keys| format!("by {keys}"))
    }

    fn source(&self) -> Option<String> {
        let Some(table) = self.get(&TABLE).and_then(first_text) else {
            let rows = self.0.get("n_rows")?.as_f64()?;
            return Some(format!("{} rows in memory", super::units::count(rows)));
        };
        let files = self.get(&FILES).and_then(Value::as_u64).unwrap_or(1);
        let table = last_part(table);
        Some(if files > 1 { format!("{table} and {} more", files - 1) } else { table })
    }

    fn column_count(&self) -> Option<String> {
        match self.get(&PROJECTION)?.as_array()?.len() {
            0 => None,
            1 => Some("1 column".into()),
            more => Some(format!("{more} columns")),
        }
    }

    fn joined_on(&self) -> Option<String> {
        let of = |side: &str| {
            let names: Vec<&str> = KEYS.names.iter().copied().filter(|name| name.starts_with(side)).collect();
            self.named(&names).and_then(said)
        };
        match (of("left_"), of("right_")) {
            (None, None) => {
                let on = self.0.get("on").and_then(said).or_else(|| self.said(&KEYS));
                on.or_else(|| self.said(&PREDICATE)).map(|on| format!("on {on}"))
            }
            (Some(left), Some(right)) if left != right => Some(format!("on {left} = {right}")),
            (left, right) => left.or(right).map(|on| format!("on {on}")),
        }
    }

    fn order(&self) -> Option<String> {
        let order = self.get(&ORDER)?;
        let columns: Vec<&Map<String, Value>> =
            order.as_array().into_iter().flatten().filter_map(Value::as_object).collect();
        if columns.is_empty() {
            return said(order);
        }
        let each = columns.into_iter().map(|column| {
            let expression = column.get("expr").and_then(said).unwrap_or_default();
            let is_descending = column.get("descending") == Some(&Value::Bool(true));
            if is_descending { format!("{expression} descending") } else { expression }
        });
        Some(each.collect::<Vec<_>>().join(", "))
    }

    fn limit(&self) -> Option<String> {
        let limit = self.get(&LIMIT)?;
        let (offset, rows) = match limit.as_array() {
            Some(slice) => (slice.first().and_then(Value::as_i64), slice.get(1)?.as_i64()?),
            None => (self.0.get("offset").and_then(Value::as_i64), limit.as_i64()?),
        };
        Some(match offset {
            Some(offset) if offset == -rows => format!("last {rows} rows"),
            None | Some(0) => format!("first {rows} rows"),
            Some(offset) => format!("{rows} rows from {offset}"),
        })
    }
}

/// Every text in a value, joined; `None` where there is none.
fn said(value: &Value) -> Option<String> {
    let mut texts = Vec::new();
    collect(value, &mut texts);
    let texts: Vec<String> = texts.into_iter().map(plain).filter(|text| !text.is_empty()).collect();
    (!texts.is_empty()).then(|| texts.join(", "))
}

fn first_text(value: &Value) -> Option<&str> {
    let mut texts = Vec::new();
    collect(value, &mut texts);
    texts.first().copied()
}

/// Properties may be nested deeper than any reader looks; serde_json bounds the depth of what it reads.
fn collect<'v>(value: &'v Value, texts: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(values) => values.iter().for_each(|value| collect(value, texts)),
        Value::Object(members) => members.values().for_each(|value| collect(value, texts)),
        _ => {}
    }
}

fn last_part(path: &str) -> String {
    path.split(['/', '\\']).rfind(|part| !part.is_empty()).unwrap_or(path).to_owned()
}

/// `col("a") > 5` as `a > 5`, on one line.
fn plain(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("col(\"") {
        let name = &rest[at + 5..];
        let Some(end) = name.find("\")") else { break };
        shown.push_str(&rest[..at]);
        shown.push_str(&name[..end]);
        rest = &name[end + 2..];
    }
    shown.push_str(rest);
    shown.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn words(role: &str, properties: &Value) -> String {
        let text =
            json!({"id": 1, "kind": "K", "role": role, "inputs": [], "properties": properties}).to_string();
        node_words(&serde_json::from_str(&text).expect("a node"))
    }

    #[test]
    fn nodes_say_what_they_do() {
        for (role, properties, said) in [
            (
                "scan",
                json!({"table": "/data/orders.parquet", "files": 3, "predicate": "col(\"a\") > 5",
                    "projection": ["a", "b"]}),
                "orders.parquet and 2 more · where a > 5 · 2 columns",
            ),
            ("dataframe", json!({"n_rows": 40_000}), "40 k rows in memory"),
            (
                "join",
                json!({"how": "Inner", "left_on": ["col(\"id\")"], "right_on": ["col(\"id\")"]}),
                "inner · on id",
            ),
            ("join", json!({"how": "Left", "left_on": ["a"], "right_on": ["b"]}), "left · on a = b"),
            ("aggregation", json!({"keys": ["k"], "aggregates": ["sum(x)"]}), "by k · sum(x)"),
            (
                "sort",
                json!({"order": [{"expr": "col(\"a\")", "descending": true}], "limit": 10}),
                "by a descending · first 10 rows",
            ),
            ("distinct", json!({}), "by all columns"),
            ("selection", json!({"predicate": "x\n  = 1"}), "x = 1"),
            ("union", json!({}), ""),
        ] {
            assert_eq!(words(role, &properties), said, "{role}");
        }
    }
}
