use proptest::prelude::*;
use queryscope_protocol::{Insights, Metrics, Plan};
use serde_json::json;

use super::*;

/// A word that nothing else here holds.
const SECRET: &str = "xyzzy42";

/// Where a secret can be planted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Property,
    Diagnostics,
    Custom,
    Error,
    Title,
    Fix,
    Evidence,
    Kind,
    Counter,
    QueryCounter,
    Label,
    CallSite,
}

/// Where engines and findings tell of a query.
const TOLD: [Place; 10] = [
    Place::Kind,
    Place::Counter,
    Place::QueryCounter,
    Place::Property,
    Place::Diagnostics,
    Place::Custom,
    Place::Error,
    Place::Title,
    Place::Fix,
    Place::Evidence,
];
/// What goes as a whole: all but the names of kinds and counters, and what is the program's own.
const WHOLE: [Place; 9] = [
    Place::Property,
    Place::Diagnostics,
    Place::Custom,
    Place::Error,
    Place::Title,
    Place::Fix,
    Place::Evidence,
    Place::Label,
    Place::CallSite,
];

/// A profile that has a text in one place; `depth` objects and arrays around it where the place takes any.
fn profile(place: Place, text: &str, depth: usize) -> Profile<'static> {
    let at = |here: Place| if place == here { text.to_owned() } else { "words".to_owned() };
    let nested = |here: Place| {
        let innermost = json!({"predicate": at(here), at(here): 1});
        let value = (0..depth).fold(innermost, |value, level| {
            if level % 2 == 0 { json!([value]) } else { json!({"inner": value, "n": level}) }
        });
        Object::of(&json!({ "outer": value })).expect("an object")
    };
    let custom = Custom { key: at(Place::Custom).into(), unit: at(Place::Custom).into(), value: None };
    let named =
        |here: Place| -> Metrics<'static> { [(at(here), 1), ("rows".to_owned(), 2)].into_iter().collect() };
    let counters = Counters { done: None, custom: vec![custom], metrics: named(Place::Counter) };
    let node = Node {
        id: 1,
        kind: at(Place::Kind).into(),
        role: queryscope_protocol::Role::Scan,
        inputs: vec![],
        properties: Some(nested(Place::Property)),
        metrics: Some(counters),
    };
    let finding = Finding {
        rule: "full_scan".into(),
        kind: "problem".into(),
        level: "warn".into(),
        node_id: None,
        node_kind: Some(at(Place::Kind).into()),
        cpu_share: None,
        blocked_share: None,
        title: at(Place::Title).into(),
        fix: Some(at(Place::Fix).into()),
        evidence: vec![Evidence {
            name: at(Place::Evidence).into(),
            value: EvidenceValue::Text(at(Place::Evidence).into()),
            unit: Some(at(Place::Evidence).into()),
        }],
    };
    let plan = Plan { physical: vec![node.clone()], logical: vec![node] };
    let mut profile = Profile::new("q", 1.0, plan);
    profile.label = Some(at(Place::Label).into());
    profile.failed = Some(at(Place::Error).into());
    profile.diagnostics = Some(nested(Place::Diagnostics));
    profile.query_metrics = Some(named(Place::QueryCounter));
    profile.call_site = (place == Place::CallSite).then(|| CallSite {
        filepath: at(Place::CallSite).into(),
        lineno: 1,
        function: at(Place::CallSite).into(),
    });
    profile.insights = Some(Insights { schema: "insights@1".into(), findings: vec![finding] });
    profile
}

fn leaving(redaction: Redaction, profile: &Profile<'_>) -> String {
    serde_json::to_string(&redaction.profile(profile)).expect("JSON")
}

/// The secret as a literal, quoted or not, and a text around it.
fn literal() -> impl Strategy<Value = String> {
    let quoted = prop_oneof![
        Just(format!("'{SECRET}'")),
        Just(format!("\"{SECRET}\"")),
        Just(format!("Utf8(\"a {SECRET} b\")")),
        Just(format!("'it''s {SECRET}'")),
        Just(format!("'it\\'s {SECRET}'")),
        Just(format!("`{SECRET}`")),
        Just(format!("'{SECRET}")),
        Just(format!("'a' {SECRET}'")),
    ];
    (around(), quoted, around()).prop_map(|(before, secret, after)| format!("{before} {secret} {after}"))
}

/// The secret as part of a path or URL.
fn path() -> impl Strategy<Value = String> {
    let whole = prop_oneof![
        Just(format!("/srv/{SECRET} and more/a.parquet")),
        Just(format!("s3://bucket/a b/{SECRET}")),
        Just(format!("C:\\{SECRET}\\a b.csv")),
        Just(format!("~/{SECRET}")),
    ];
    let word = prop_oneof![
        Just(format!("data/{SECRET}/a=1/b.parquet")),
        Just(format!("/srv/{SECRET},")),
        Just(format!("({SECRET}.csv)")),
        Just(format!("'/srv/a b {SECRET}'")),
        Just(format!("https://user:{SECRET}@host/a?b={SECRET}&c")),
    ];
    let within =
        (around(), word, around()).prop_map(|(before, word, after)| format!("{before} {word} {after}"));
    prop_oneof![whole, within]
}

/// Text around a secret, without quotes of its own.
fn around() -> impl Strategy<Value = String> {
    "[a-z@(),.=<>/ 0-9]{0,12}"
}

fn whole() -> impl Strategy<Value = Place> {
    proptest::sample::select(&WHOLE)
}

fn told() -> impl Strategy<Value = Place> {
    proptest::sample::select(&TOLD)
}

proptest! {
    #[test]
    fn with_everything_masked_no_secret_leaves_whatever_it_looks_like(
        place in whole(),
        before in "\\PC{0,8}",
        after in "\\PC{0,8}",
        depth in 0_usize..5,
    ) {
        let profile = profile(place, &format!("{before}{SECRET}{after}"), depth);
        prop_assert!(leaving(Redaction::none(), &profile).contains(SECRET), "the test plants nothing");
        let leaves = leaving(Redaction::all(), &profile);
        prop_assert!(!leaves.contains(SECRET), "{leaves}");
        prop_assert!(!profile_names(&leaves).is_empty());
    }

    #[test]
    fn no_literal_leaves(text in literal(), place in told(), depth in 0_usize..5) {
        let leaves = leaving(Redaction::none().literals(), &profile(place, &text, depth));
        prop_assert!(!leaves.contains(SECRET), "{text} left: {leaves}");
        prop_assert!(profile_names(&leaves).contains(&"literals".to_owned()));
    }

    #[test]
    fn no_path_leaves(text in path(), place in told(), depth in 0_usize..5) {
        let leaves = leaving(Redaction::none().paths(), &profile(place, &text, depth));
        prop_assert!(!leaves.contains(SECRET), "{text} left: {leaves}");
        prop_assert!(profile_names(&leaves).contains(&"paths".to_owned()));
    }

    #[test]
    fn masking_takes_any_text(text in "\\PC{0,40}") {
        let profile = profile(Place::Error, &text, 0);
        leaving(Redaction::none().literals().paths(), &profile);
    }
}

/// The `redacted` of a profile.
fn profile_names(json: &str) -> Vec<String> {
    let profile: Profile<'_> = serde_json::from_str(json).expect("a profile");
    profile.redacted.unwrap_or_default().iter().map(ToString::to_string).collect()
}

#[test]
fn only_what_was_masked_is_named() {
    let check = |place, text: &str, redaction: Redaction, names: &[&str]| {
        assert_eq!(profile_names(&leaving(redaction, &profile(place, text, 1))), names, "{place:?} {text}");
    };
    check(Place::Property, "'a'", Redaction::none().literals().paths(), &["literals"]);
    check(Place::Property, "/a/b", Redaction::none().literals().paths(), &["paths"]);
    check(Place::Property, "a = b", Redaction::none().literals().paths(), &[]);
    check(Place::Label, "x", Redaction::none().labels(), &["labels"]);
    check(Place::CallSite, "x", Redaction::none().call_sites(), &["call_site"]);
    check(Place::Error, "x", Redaction::none().errors(), &["errors"]);
    check(Place::Error, "x", Redaction::none(), &[]);
}

#[test]
fn what_a_plan_is_good_for_stays() {
    let mut profile = profile(Place::Label, "nightly", 0);
    let properties = json!({
        "predicate": "region@2 = 'EU' AND amount > 990.0",
        "columns": ["order_id", "amount"],
        "fetch": 10,
        "file": "a name",
        "files": {"/srv/a.parquet": 5, "/srv/b.parquet": 6},
    });
    profile.plan.physical[0].properties = Object::of(&properties).ok();
    let redaction = Redaction::none().literals().paths();
    let masked = redaction.profile(&profile);
    assert_eq!(masked.label.as_deref(), Some("nightly"));
    let properties = masked.plan.physical[0].properties.as_ref().expect("properties");
    assert_eq!(
        serde_json::from_str::<Value>(properties.as_json()).expect("JSON"),
        json!({
            "predicate": "region@2 = '?' AND amount > ?",
            "columns": ["order_id", "amount"],
            "fetch": 10,
            "file": "<path>",
            "files": {"<path>": 5, "<path>'": 6},
        })
    );
}

#[test]
fn a_failed_query_stays_failed() {
    let mut profile = profile(Place::Label, "x", 0);
    profile.failed = Some("GET https://h/x?sig='s3cret' said 'no such key' for id 17".into());
    let masked = Redaction::none().literals().profile(&profile).failed.clone();
    assert_eq!(masked.as_deref(), Some("GET <url>'?' said '?' for id ?"));
    let masked = Redaction::none().errors().profile(&profile).failed.clone();
    assert_eq!(masked.as_deref(), Some("redacted"));
}

#[test]
fn samples_are_masked_as_well() {
    let custom = Custom { key: "'a'".into(), unit: "bytes".into(), value: None };
    let counters = Counters { done: Some(true), custom: vec![custom], metrics: Metrics::default() };
    let sample = Sample { elapsed_ms: 1.0, nodes: vec![(1, counters)], ..Sample::default() };
    let masked = Redaction::none().literals().sample(&sample);
    assert_eq!(&*masked.nodes[0].1.custom[0].key, "'?'");
    let masked = Redaction::all().sample(&sample);
    assert!(masked.nodes[0].1.custom.is_empty() && masked.nodes[0].1.done == Some(true));
}

#[test]
fn counters_that_are_alike_once_they_are_masked_stay_two() {
    let metrics: Metrics<'_> = [("rows", 1), ("rows of 'a'", 2), ("rows of 'b'", 3)].into_iter().collect();
    let counters = Counters { done: None, custom: vec![], metrics };
    let sample = Sample { elapsed_ms: 1.0, nodes: vec![(1, counters)], ..Sample::default() };
    let masked = Redaction::none().literals().sample(&sample);
    let metrics: Vec<(&str, u64)> = masked.nodes[0].1.metrics.iter().collect();
    assert_eq!(metrics, [("rows", 1), ("rows of '?'", 2), ("rows of '?''", 3)]);
}
