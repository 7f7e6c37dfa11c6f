//! Masks what leaves: profiles and samples.

use std::borrow::Cow;
use std::cell::Cell;

use queryscope_protocol::{
    CallSite, Counters, Custom, Evidence, EvidenceValue, Finding, Metrics, Node, Object, Profile, Sample,
    Text,
};
use serde_json::{Map, Value};

use super::Redaction;
use super::text::{PATH, begins_as_path, is_word, mask_literals, mask_paths, mask_urls};

/// What stands for a text that is masked as a whole.
const WHOLE: &str = "redacted";
/// Last words of names of members that hold paths, whatever these look like.
const PATH_NAMES: [&str; 7] = ["dir", "file", "folder", "location", "path", "uri", "url"];

impl Redaction {
    /// The profile as it may leave; its `redacted` says what was masked.
    pub(crate) fn profile<'p, 'a>(self, profile: &'p Profile<'a>) -> Cow<'p, Profile<'a>> {
        if self == Self::none() {
            return Cow::Borrowed(profile);
        }
        let masker = Masker::new(self);
        let mut masked = profile.clone();
        if self.labels && masked.label.take().is_some() {
            masker.labels.set(true);
        }
        masked.call_site = masked.call_site.and_then(|site| masker.call_site(site));
        masked.failed = masked.failed.map(|error| masker.error(error));
        masked.diagnostics = masked.diagnostics.and_then(|diagnostics| masker.object(&diagnostics));
        if let Some(metrics) = &mut masked.query_metrics {
            masker.metrics(metrics);
        }
        for node in masked.plan.physical.iter_mut().chain(&mut masked.plan.logical) {
            masker.node(node);
        }
        for finding in masked.insights.iter_mut().flat_map(|insights| &mut insights.findings) {
            masker.finding(finding);
        }
        let names = masker.names();
        if !names.is_empty() {
            masked.redacted.get_or_insert_default().extend(names.into_iter().map(Text::from));
        }
        Cow::Owned(masked)
    }

    /// The sample as it may leave.
    pub(crate) fn sample<'s, 'a>(self, sample: &'s Sample<'a>) -> Cow<'s, Sample<'a>> {
        let is_plain =
            |counters: &Counters<'_>| counters.custom.is_empty() && has_words_alone(&counters.metrics);
        if self == Self::none() || sample.nodes.iter().all(|(_, counters)| is_plain(counters)) {
            return Cow::Borrowed(sample);
        }
        let masker = Masker::new(self);
        let mut masked = sample.clone();
        for (_, counters) in &mut masked.nodes {
            masker.counters(counters);
        }
        Cow::Owned(masked)
    }
}

/// Masks, and remembers what it came upon.
#[derive(Debug, Default)]
struct Masker {
    what: Redaction,
    literals: Cell<bool>,
    paths: Cell<bool>,
    errors: Cell<bool>,
    call_sites: Cell<bool>,
    labels: Cell<bool>,
    properties: Cell<bool>,
}

impl Masker {
    fn new(what: Redaction) -> Self {
        Self { what, ..Self::default() }
    }

    /// Names of what was masked.
    fn names(&self) -> Vec<&'static str> {
        [
            (&self.literals, "literals"),
            (&self.paths, "paths"),
            (&self.errors, "errors"),
            (&self.call_sites, "call_site"),
            (&self.labels, "labels"),
            (&self.properties, "properties"),
        ]
        .into_iter()
        .filter_map(|(masked, name)| masked.get().then_some(name))
        .collect()
    }

    fn call_site<'a>(&self, mut site: CallSite<'a>) -> Option<CallSite<'a>> {
        if self.what.call_sites {
            self.call_sites.set(true);
            return None;
        }
        if self.what.paths {
            self.paths.set(true);
            site.filepath = PATH.into();
        }
        Some(site)
    }

    fn error<'a>(&self, error: Text<'a>) -> Text<'a> {
        if self.what.errors {
            self.errors.set(true);
            return WHOLE.into();
        }
        self.text(error)
    }

    fn node(&self, node: &mut Node<'_>) {
        node.kind = self.text(node.kind.clone());
        node.properties = node.properties.take().and_then(|properties| self.object(&properties));
        if let Some(counters) = &mut node.metrics {
            self.counters(counters);
        }
    }

    fn counters(&self, counters: &mut Counters<'_>) {
        self.metrics(&mut counters.metrics);
        if self.what.properties && !counters.custom.is_empty() {
            self.properties.set(true);
            counters.custom.clear();
        }
        for Custom { key, unit, value: _ } in &mut counters.custom {
            *key = self.text(key.clone());
            *unit = self.text(unit.clone());
        }
    }

    fn metrics(&self, metrics: &mut Metrics<'_>) {
        if has_words_alone(metrics) {
            return;
        }
        let mut masked = Metrics::default();
        for (name, value) in metrics.iter() {
            let name = self.text(name.to_owned().into()).into_inner().into_owned();
            masked.push(unlike(name, |name| masked.get(name).is_some()), value);
        }
        *metrics = masked;
    }

    fn finding(&self, finding: &mut Finding<'_>) {
        finding.node_kind = finding.node_kind.take().map(|kind| self.text(kind));
        if self.what.properties {
            self.properties.set(true);
            finding.title = finding.rule.replace('_', " ").into();
            finding.fix = None;
            finding.evidence.clear();
            return;
        }
        finding.title = self.text(finding.title.clone());
        finding.fix = finding.fix.take().map(|fix| self.text(fix));
        for evidence in &mut finding.evidence {
            let Evidence { name, value, unit } = evidence;
            *name = self.text(name.clone());
            *unit = unit.take().map(|unit| self.text(unit));
            if let EvidenceValue::Text(text) = value {
                *text = self.text(text.clone());
            }
        }
    }

    fn object(&self, object: &Object<'_>) -> Option<Object<'static>> {
        if self.what.properties {
            self.properties.set(true);
            return None;
        }
        let value = serde_json::from_str(object.as_json()).ok()?;
        Object::of(&self.value(value, false)).ok()
    }

    fn value(&self, value: Value, is_path: bool) -> Value {
        match value {
            Value::String(text) if self.what.paths && is_path && !text.is_empty() => {
                self.paths.set(true);
                PATH.into()
            }
            Value::String(text) => Value::String(self.text(text.into()).into_inner().into_owned()),
            Value::Array(items) => items.into_iter().map(|item| self.value(item, is_path)).collect(),
            Value::Object(members) => {
                let mut masked = Map::new();
                for (name, value) in members {
                    let is_path = is_path || names_path(&name);
                    let name = self.text(name.into()).into_inner().into_owned();
                    let name = unlike(name, |name| masked.contains_key(name));
                    masked.insert(name, self.value(value, is_path));
                }
                Value::Object(masked)
            }
            other => other,
        }
    }

    fn text<'a>(&self, text: Text<'a>) -> Text<'a> {
        if is_word(&text) {
            return text;
        }
        let mut masked = Cow::Borrowed(&*text);
        let whole_path = self.what.paths && begins_as_path(&masked);
        if (self.what.literals || self.what.paths) && !whole_path {
            let hit = if self.what.paths { &self.paths } else { &self.literals };
            replace(&mut masked, mask_urls, hit);
        }
        if self.what.paths {
            replace(&mut masked, mask_paths, &self.paths);
        }
        if self.what.literals && !whole_path {
            replace(&mut masked, mask_literals, &self.literals);
        }
        match masked {
            Cow::Borrowed(_) => text,
            Cow::Owned(masked) => masked.into(),
        }
    }
}

fn replace(text: &mut Cow<'_, str>, mask: fn(&str) -> Cow<'_, str>, hit: &Cell<bool>) {
    let masked = mask(text);
    if *masked != **text {
        let masked = masked.into_owned();
        *text = Cow::Owned(masked);
        hit.set(true);
    }
}

fn has_words_alone(metrics: &Metrics<'_>) -> bool {
    metrics.iter().all(|(name, _)| is_word(name))
}

/// The name, with marks behind it when names that were masked are alike.
fn unlike(mut name: String, is_taken: impl Fn(&str) -> bool) -> String {
    while is_taken(&name) {
        name.push('\'');
    }
    name
}

fn names_path(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let last = name.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    PATH_NAMES.contains(&last.trim_end_matches('s'))
}

#[cfg(test)]
mod tests;
