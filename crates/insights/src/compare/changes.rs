//! What an engine says differently about a node, in words.

use std::collections::BTreeSet;

use queryscope_protocol::Role;
use serde::Serialize;

use crate::graph::Step;
use crate::table::table_name;
use crate::vocabulary::Term;
use crate::vocabulary::properties::{
    COLUMNS, DESTINATION, EXPRESSIONS, FILES, FORMAT, HOW, KEYS, ORDER, PREDICATE, PROJECTION, TABLE,
};
use crate::words::{Words, stable_name};

/// Names and texts that are quoted are cut to this many characters.
const QUOTED: usize = 80;
/// More names than this are counted, not listed.
const LISTED: usize = 3;

/// One difference of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = NodeChange))]
pub struct Change {
    /// What is different: `kind`, `inputs`, or a property such as `predicate` or `projection`.
    pub what: &'static str,
    /// The difference in words.
    pub text: String,
    /// Whether the plan has another shape for it; a literal or a number of files is not shape.
    pub shape: bool,
}

pub(super) fn changes(base: &Step<'_>, run: &Step<'_>, inputs_moved: Option<String>) -> Vec<Change> {
    let mut found = Found(Vec::new());
    if base.node.kind != run.node.kind {
        found.shape("kind", format!("{} instead of {}", run.node.kind, base.node.kind));
    }
    if let Some(text) = inputs_moved {
        found.shape("inputs", text);
    }
    table(base, run, &mut found);
    for term in [&HOW, &FORMAT] {
        let of = |step: &Step<'_>| step.properties.text(term).map(str::to_ascii_lowercase);
        let (then, now) = (of(base), of(run));
        if then != now {
            found
                .shape(term.name(), format!("{} {} instead of {}", term.name(), or_none(now), or_none(then)));
        }
    }
    files(base, run, &mut found);
    projection(base, run, &mut found);
    predicate(base, run, &mut found);
    for term in [&KEYS, &ORDER, &EXPRESSIONS, &COLUMNS] {
        words(base, run, term, &mut found);
    }
    limit(base, run, &mut found);
    let to = |step: &Step<'_>| -> Vec<String> {
        step.properties.texts(&DESTINATION).into_iter().map(table_name).collect()
    };
    let (then, now) = (to(base), to(run));
    if then != now {
        found.shape("destination", format!("writes to {} instead of {}", list(&now), list(&then)));
    }
    found.0
}

struct Found(Vec<Change>);

impl Found {
    fn shape(&mut self, what: &'static str, text: String) {
        self.0.push(Change { what, text, shape: true });
    }

    fn detail(&mut self, what: &'static str, text: String) {
        self.0.push(Change { what, text, shape: false });
    }
}

fn table(base: &Step<'_>, run: &Step<'_>, found: &mut Found) {
    let (then, now) = (base.properties.text(&TABLE), run.properties.text(&TABLE));
    // A plan that names no table does not say that none is read: DuckDB's plan of a run that failed names none.
    let Some((then, now)) = then.zip(now).filter(|(then, now)| then != now) else { return };
    let (old, new) = (table_name(then), table_name(now));
    if old == new {
        found.detail("table", format!("reads {} instead of {}", cut(now), cut(then)));
    } else {
        found.shape("table", format!("reads {} instead of {}", cut(&new), cut(&old)));
    }
}

fn files(base: &Step<'_>, run: &Step<'_>, found: &mut Found) {
    let (then, now) = (base.properties.number(&FILES), run.properties.number(&FILES));
    if let (Some(then), Some(now)) = (then, now)
        && then != now
    {
        found.detail("files", format!("{now} files instead of {then}"));
    }
}

fn projection(base: &Step<'_>, run: &Step<'_>, found: &mut Found) {
    let of = |step: &Step<'_>| -> Option<BTreeSet<String>> {
        Some(
            step.properties
                .names(&PROJECTION)?
                .into_iter()
                .map(|name| stable_name(name).into_owned())
                .collect(),
        )
    };
    match (of(base), of(run)) {
        (Some(then), Some(now)) if then.len() != now.len() => {
            found.shape(
                "projection",
                format!("projection of {} columns instead of {}", now.len(), then.len()),
            );
        }
        (Some(then), Some(now)) if then != now => {
            let (gone, come) = differences(&then, &now);
            found.shape("projection", format!("reads {come} instead of {gone}"));
        }
        (Some(then), None) => {
            found.shape("projection", format!("projection of all columns instead of {}", then.len()));
        }
        (None, Some(now)) => {
            found.shape("projection", format!("projection of {} columns instead of all", now.len()))
        }
        _ => {}
    }
}

fn predicate(base: &Step<'_>, run: &Step<'_>, found: &mut Found) {
    let (then, now) = (base.properties.texts(&PREDICATE), run.properties.texts(&PREDICATE));
    let scan = run.role() == Role::Scan;
    match (then.is_empty(), now.is_empty()) {
        (true, true) => {}
        (false, true) if scan => found.shape("predicate", "predicate no longer reaches the scan".into()),
        (true, false) if scan => found.shape("predicate", "predicate reaches the scan now".into()),
        (false, true) => found.shape("predicate", format!("predicate {} is gone", quote(&then))),
        (true, false) => found.shape("predicate", format!("predicate {} is new", quote(&now))),
        (false, false) => {
            let (old, new) = (Words::of(then.iter().copied()), Words::of(now.iter().copied()));
            if old.columns != new.columns {
                let text = format!("predicate on {} instead of {}", names(&new.columns), names(&old.columns));
                found.shape("predicate", text);
            } else if old.functions != new.functions {
                found.shape("predicate", format!("predicate {} instead of {}", quote(&now), quote(&then)));
            } else if then != now {
                found.detail("predicate", format!("predicate {} instead of {}", quote(&now), quote(&then)));
            }
        }
    }
}

/// What expressions name.
fn words(base: &Step<'_>, run: &Step<'_>, term: &Term, found: &mut Found) {
    let of = |step: &Step<'_>| {
        let words = Words::of(step.properties.texts(term));
        let stable = |names: BTreeSet<String>| -> BTreeSet<String> {
            names.iter().map(|name| stable_name(name).into_owned()).collect()
        };
        (stable(words.columns), words.functions)
    };
    let (then, now) = (of(base), of(run));
    if then.0 != now.0 {
        let (gone, come) = differences(&then.0, &now.0);
        let text = match (gone.is_empty(), come.is_empty()) {
            (true, _) => format!("{}: also {come}", term.name()),
            (_, true) => format!("{}: without {gone}", term.name()),
            _ => format!("{}: {come} instead of {gone}", term.name()),
        };
        found.shape(term.name(), text);
    } else if then.1 != now.1 {
        let (gone, come) = differences(&then.1, &now.1);
        let text = match (gone.is_empty(), come.is_empty()) {
            (true, _) => format!("{}: calls {come} now", term.name()),
            (_, true) => format!("{}: no longer calls {gone}", term.name()),
            _ => format!("{}: calls {come} instead of {gone}", term.name()),
        };
        found.shape(term.name(), text);
    }
}

fn limit(base: &Step<'_>, run: &Step<'_>, found: &mut Found) {
    let (then, now) = (base.properties.limit(), run.properties.limit());
    if then == now {
        return;
    }
    let say = |limit: Option<u64>| limit.map_or_else(|| "none".into(), |rows| rows.to_string());
    let text = format!("limit {} instead of {}", say(now), say(then));
    if then.is_some() == now.is_some() { found.detail("limit", text) } else { found.shape("limit", text) }
}

/// What only the first set has, and what only the second.
fn differences(then: &BTreeSet<String>, now: &BTreeSet<String>) -> (String, String) {
    let only = |a: &BTreeSet<String>, b: &BTreeSet<String>| names(&a.difference(b).cloned().collect());
    (only(then, now), only(now, then))
}

fn names(names: &BTreeSet<String>) -> String {
    list(&names.iter().collect::<Vec<_>>())
}

fn list<T: AsRef<str>>(names: &[T]) -> String {
    let mut shown: Vec<String> = names.iter().take(LISTED).map(|name| cut(name.as_ref())).collect();
    if names.len() > LISTED {
        shown.push(format!("{} more", names.len() - LISTED));
    }
    shown.join(", ")
}

fn quote(texts: &[&str]) -> String {
    cut(&texts.join(" and "))
}

/// Two paths without the folders that both begin with, cut.
pub(super) fn apart(one: &str, other: &str) -> (String, String) {
    let alike = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    let folders =
        one.as_bytes()[..alike].iter().rposition(|byte| matches!(byte, b'/' | b'\\')).map_or(0, |at| at + 1);
    (cut(&one[folders..]), cut(&other[folders..]))
}

fn cut(text: &str) -> String {
    let mut shown: String = text.chars().take(QUOTED).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

fn or_none<T: AsRef<str>>(text: Option<T>) -> String {
    text.map_or_else(|| "none".into(), |text| cut(text.as_ref()))
}
