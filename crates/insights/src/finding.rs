//! Builds findings that all look alike.

use queryscope_protocol::{Evidence, EvidenceValue, Finding};

use crate::graph::Step;
use crate::query::Query;

/// Findings about less than this share of the time are notes, not warnings.
pub(crate) const WARN_SHARE: f64 = 0.01;

/// A finding under construction.
pub(crate) struct Builder(Finding<'static>);

/// Starts a finding about a node.
pub(crate) fn about(query: &Query<'_>, step: &Step<'_>, rule: &'static str, title: String) -> Builder {
    let builder = about_query(rule, title);
    builder.at(step).cpu_share(query.cpu_share(step.busy_ns()))
}

/// Starts a finding about the whole query.
pub(crate) fn about_query(rule: &'static str, title: String) -> Builder {
    Builder(Finding {
        rule: rule.into(),
        kind: "problem".into(),
        level: "note".into(),
        node_id: None,
        node_kind: None,
        cpu_share: None,
        blocked_share: None,
        title: title.into(),
        fix: None,
        evidence: Vec::new(),
    })
}

impl Builder {
    /// The node to look at.
    pub(crate) fn at(mut self, step: &Step<'_>) -> Self {
        self.0.node_id = i64::try_from(step.node.id).ok();
        self.0.node_kind = Some(step.node.kind.to_string().into());
        self
    }

    /// The share of the CPU time it is about; its level follows.
    pub(crate) fn cpu_share(mut self, share: Option<f64>) -> Self {
        self.0.cpu_share = share.map(rounded);
        self.weigh(share)
    }

    /// The share of the wall time it is about; its level follows.
    pub(crate) fn blocked_share(mut self, share: f64) -> Self {
        self.0.blocked_share = Some(rounded(share));
        self.weigh(Some(share))
    }

    /// The share of the wall time that is its own, though no counter of the node says so: its CPU share is not known
    /// then.
    pub(crate) fn uncounted_share(mut self, share: f64) -> Self {
        self.0.cpu_share = None;
        self.weigh(Some(share))
    }

    fn weigh(mut self, share: Option<f64>) -> Self {
        let warns = share.is_some_and(|share| share >= WARN_SHARE);
        self.0.level = if warns { "warn" } else { "note" }.into();
        self
    }

    /// What to do about it.
    pub(crate) fn fix(mut self, fix: impl Into<String>) -> Self {
        self.0.fix = Some(fix.into().into());
        self
    }

    /// A number it rests on.
    pub(crate) fn number(
        self,
        name: &'static str,
        value: impl Into<EvidenceValue<'static>>,
        unit: &'static str,
    ) -> Self {
        self.evidence(name, value.into(), Some(unit))
    }

    /// A text it rests on.
    pub(crate) fn text(self, name: &'static str, text: impl Into<String>) -> Self {
        self.evidence(name, EvidenceValue::Text(text.into().into()), None)
    }

    /// What following the advice saves at most of the CPU time of the nodes it is about.
    pub(crate) fn saves_cpu_ns(self, ns: f64) -> Self {
        self.number("saves_cpu_at_most", rounded(ns / 1e6), "ms")
    }

    /// What following the advice saves at most, of the wall time.
    pub(crate) fn saves_wall_ms(self, ms: f64) -> Self {
        self.number("saves_wall_at_most", rounded(ms), "ms")
    }

    fn evidence(
        mut self,
        name: &'static str,
        value: EvidenceValue<'static>,
        unit: Option<&'static str>,
    ) -> Self {
        self.0.evidence.push(Evidence { name: name.into(), value, unit: unit.map(Into::into) });
        self
    }

    pub(crate) fn done(self) -> Finding<'static> {
        self.0
    }
}

/// To 6 decimals: what is beyond is noise.
pub(crate) fn rounded(number: f64) -> f64 {
    (number * 1e6).round() / 1e6
}
