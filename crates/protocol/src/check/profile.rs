//! The members of a profile and of what is in it, as the format names them.

use std::borrow::Cow;
use std::marker::PhantomData;

use super::{
    Allowed, AnyObject, AnyText, Anything, Boolean, Count, Cursor, HexText, Integer, Items, Kept, Millis,
    NodeBytes, Number, Optional, PhysicalNodes, PlanBytes, ProfileFormat, QueryBytes, Raw, Rule, RunBytes,
    Stop, StoredCounters, Unsigned, object,
};
use crate::format::{VERSION_SUFFIX, version_of};
use crate::summary::ProfileSummary;
use crate::text::Text;

/// Finding level that makes an insight a warning.
const WARN: &str = "warn";

/// Members that may be the version of an engine, under its brand.
type Versions<'de> = Vec<(Cow<'de, str>, &'de str)>;

fn keep_version<'de>(versions: &mut Versions<'de>, name: Cow<'de, str>, value: &'de str) {
    if name.ends_with(VERSION_SUFFIX) {
        versions.push((name, value));
    }
}

#[inline]
#[expect(clippy::needless_pass_by_value, reason = "as `object!` gives it")]
fn count<C: Count>(counted: &mut C, name: Cow<'_, str>, value: u64) {
    counted.count(&name, value);
}

object! {
    /// A profile; of it a summary is kept.
    Profile as "an object" -> ProfileSummary<'de> {
        required {
            schema: ProfileFormat,
            query_id: Kept,
            wall_ms: Millis,
            plan: Plan,
        }
        optional {
            engine_version: LaterText,
            engine_telemetry_version: Nested<Optional<AnyText>>,
            label: Optional<Kept>,
            fingerprint: Optional<Kept>,
            started_unix_ns: Optional<Integer>,
            planning_ms: Nested<Optional<Number>>,
            telemetry_ms: Nested<Optional<Number>>,
            cpu_ms: Optional<Millis>,
            query_metrics: Optional<SentOrStored<QueryMetrics, StoredCounters<QueryBytes>>>,
            result_rows: Optional<Integer>,
            call_site: Nested<Optional<CallSite>>,
            failed: Optional<Kept>,
            redacted: Nested<Optional<Items<AnyText>>>,
            diagnostics: Nested<Optional<AnyObject>>,
            insights: Optional<Findings>,
            trace_id: Nested<Optional<HexText<32>>>,
            span_id: Nested<Optional<HexText<16>>>,
        }
        others: Raw, keep_version => versions: Versions<'de>,
    }
    keeps {
        let branded = schema.and_then(|engine| version_of(Some(&engine), VERSION_SUFFIX, &versions));
        let bytes = RunBytes::new(plan, query_metrics.flatten().unwrap_or_default());
        ProfileSummary {
            query_id,
            engine_version: branded.or_else(|| engine_version.flatten()),
            label: label.flatten(),
            fingerprint: fingerprint.flatten(),
            started_unix_ns: started_unix_ns.flatten(),
            wall_ms,
            cpu_ms: cpu_ms.flatten(),
            result_rows: result_rows.flatten(),
            bytes_read: bytes.read,
            spilled_bytes: bytes.spilled,
            peak_memory_bytes: bytes.peak_memory,
            failed: failed.flatten(),
            warnings: insights.flatten().unwrap_or_default(),
        }
    }
}

object! {
    /// Both plans of a query; of the physical one the bytes are kept.
    Plan as "an object" -> PlanBytes {
        required {
            physical: PhysicalNodes,
            logical: Items<Nested<Unkept<Node>>>,
        }
        optional {}
        others: Anything,
    }
    keeps physical
}

object! {
    /// A node of a plan; of it the bytes are kept.
    Node as "an object" -> NodeBytes {
        required {
            id: Unsigned,
            kind: AnyText,
            inputs: Items<Unkept<Unsigned>>,
        }
        optional {
            role: AnyText,
            properties: Optional<AnyObject>,
            metrics: Optional<Counters>,
        }
        others: Anything,
    }
    keeps metrics.flatten().unwrap_or_default()
}

object! {
    /// The counters of a node: every member but two is one. Those of bytes are kept.
    Counters as "an object of counters" -> NodeBytes {
        required {}
        optional {
            done: Boolean,
            custom: Items<Custom>,
        }
        others: Unsigned, count => bytes: NodeBytes,
    }
    keeps bytes
}

object! {
    /// A counter with a unit of its own.
    Custom as "an object" -> () {
        required {
            key: AnyText,
            unit: AnyText,
        }
        optional {
            value: Optional<Number>,
        }
        others: Anything,
    }
    keeps ()
}

object! {
    /// Counters of the query as a whole; those of bytes are kept.
    QueryMetrics as "an object" -> QueryBytes {
        required {}
        optional {}
        others: Unsigned, count => bytes: QueryBytes,
    }
    keeps bytes
}

object! {
    /// Where a program ran a query.
    CallSite as "an object" -> () {
        required {
            filepath: AnyText,
            lineno: Integer,
            function: AnyText,
        }
        optional {}
        others: Anything,
    }
    keeps ()
}

/// The findings of a profile; of them the rules that warn are kept.
type Findings = SentOrStored<Insights, StoredInsights>;

object! {
    /// Insights as they are sent.
    Insights as "an object" -> Vec<Text<'de>> {
        required {
            schema: AnyText,
            findings: Items<Finding>,
        }
        optional {}
        others: Anything,
    }
    keeps findings.into_iter().flatten().collect()
}

object! {
    /// One finding; its rule is kept when it warns.
    Finding as "an object" -> Option<Text<'de>> {
        required {
            rule: Kept,
            kind: AnyText,
            level: Kept,
            node_id: Optional<Integer>,
            title: AnyText,
        }
        optional {
            node_kind: Optional<AnyText>,
            cpu_share: Optional<Number>,
            blocked_share: Optional<Number>,
            fix: Optional<AnyText>,
            evidence: Items<Evidence>,
        }
        others: Anything,
    }
    keeps (*level == *WARN).then_some(rule)
}

object! {
    /// What a finding rests on.
    Evidence as "an object" -> () {
        required {
            name: AnyText,
            value: EvidenceValue,
        }
        optional {
            unit: Optional<AnyText>,
        }
        others: Anything,
    }
    keeps ()
}

/// The value of an [`Evidence`].
struct EvidenceValue;

impl<'de> Rule<'de> for EvidenceValue {
    type Value = ();
    const ALLOWED: Allowed = Allowed { or_null: true, ..Allowed::new("a number, a string") };

    fn read(cursor: &mut Cursor<'de>) -> Result<(), Stop> {
        match cursor.peek() {
            Some(b'"') => AnyText::read(cursor),
            Some(b'n') => cursor.takes_word("null").then_some(()).ok_or(Stop),
            _ => Number::read(cursor).map(drop),
        }
    }
}

object! {
    /// Insights as they were stored before they were checked.
    StoredInsights as "an object" -> Vec<Text<'de>> {
        required {}
        optional {
            findings: Items<StoredFinding>,
        }
        others: Anything,
    }
    keeps findings.unwrap_or_default().into_iter().flatten().collect()
}

object! {
    /// A finding as it was stored before it was checked.
    StoredFinding as "an object" -> Option<Text<'de>> {
        required {}
        optional {
            rule: Optional<Kept>,
            level: Optional<Kept>,
        }
        others: Anything,
    }
    keeps rule.flatten().filter(|_| level.flatten().as_deref() == Some(WARN))
}

/// What follows one rule in a line that is sent, and another in one that was stored before.
pub(crate) struct SentOrStored<R, S>(PhantomData<(R, S)>);

impl<'de, R: Rule<'de>, S: Rule<'de, Value = R::Value>> Rule<'de> for SentOrStored<R, S> {
    type Value = R::Value;
    const ALLOWED: Allowed = R::ALLOWED;

    fn read(cursor: &mut Cursor<'de>) -> Result<R::Value, Stop> {
        if cursor.is_whole() { R::read(cursor) } else { S::read(cursor) }
    }
}

/// What is checked of a line that is sent, and passed over in one that was stored before.
pub(crate) struct Nested<R>(PhantomData<R>);

impl<'de, R: Rule<'de, Value: Default>> Rule<'de> for Nested<R> {
    type Value = R::Value;
    const ALLOWED: Allowed = R::ALLOWED;

    fn read(cursor: &mut Cursor<'de>) -> Result<R::Value, Stop> {
        if cursor.is_whole() { R::read(cursor) } else { Anything::read(cursor).map(|()| R::Value::default()) }
    }
}

/// A text of a member that earlier versions did not look at: in a line that was stored before, what is no text says
/// nothing.
pub(crate) struct LaterText;

impl<'de> Rule<'de> for LaterText {
    type Value = Option<Text<'de>>;
    const ALLOWED: Allowed = Optional::<Kept>::ALLOWED;

    fn read(cursor: &mut Cursor<'de>) -> Result<Option<Text<'de>>, Stop> {
        if cursor.is_whole() || cursor.peek() == Some(b'"') {
            Optional::<Kept>::read(cursor)
        } else {
            Anything::read(cursor).map(|()| None)
        }
    }
}

/// A value that is checked and not kept.
pub(crate) struct Unkept<R>(PhantomData<R>);

impl<'de, R: Rule<'de>> Rule<'de> for Unkept<R> {
    type Value = ();
    const ALLOWED: Allowed = R::ALLOWED;

    fn read(cursor: &mut Cursor<'de>) -> Result<(), Stop> {
        R::read(cursor).map(drop)
    }
}
