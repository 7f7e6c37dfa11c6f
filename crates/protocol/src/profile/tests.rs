use serde_json::Number;

use super::*;

const SMALLEST: &str = r#"{"schema":"engine-telemetry/profile@1","query_id":"q","wall_ms":1,"plan":{"physical":[],"logical":[]}}"#;

/// Every member of the specification's tables, with unknown ones among them.
const WHOLE: &str = r#"{
    "x_version":7, "schema":"x-telemetry/profile@1", "query_id":"q", "label":"a\"b", "fingerprint":"f",
    "started_unix_ns":1795206683609778763, "wall_ms":372.5, "planning_ms":9.25, "telemetry_ms":8, "cpu_ms":558.125,
    "result_rows":8059, "call_site":{"filepath":"/p.py","lineno":74,"function":"main","column":3},
    "failed":"broke\non two lines", "redacted":["strings"], "diagnostics":{"cpu_count":2,"deep":[{}]},
    "plan":{
        "physical":[{"id":4294967298,"kind":"Hash","role":"aggregation","inputs":[4294967297],
            "properties":{"keys":["a"]},
            "metrics":{"rows_sent":18446744073709551615,"done":true,"custom":[
                {"key":"spilled","unit":"bytes","value":5},{"key":"part","unit":"ratio","value":0.5},
                {"key":"later","unit":"rows","value":null}],"new_counter":3}}],
        "logical":[{"id":0,"kind":"Agg","inputs":[],"role":"newly_invented"}],
        "stages":[]
    },
    "query_metrics":{"num_threads":2},
    "insights":{"schema":"insights@1","findings":[
        {"rule":"r","kind":"problem","level":"warn","node_id":4294967298,"node_kind":"Hash","cpu_share":0.75,
         "blocked_share":0.5,"title":"t","fix":null,"evidence":[
            {"name":"n","value":1.5,"unit":"rows"},{"name":"n","value":"text","unit":null},{"name":"n","value":null}]},
        {"rule":"r2","kind":"note","level":"info","node_id":null,"title":"t2"}]},
    "trace_id":"4bf92f3577b34da6a3ce929d0e0e4736", "span_id":"00f067aa0ba902b7", "unheard_of":[1,{"a":null}]
}"#;

fn read(profile: &str) -> Result<Profile<'_>, String> {
    serde_json::from_str(profile).map_err(|error| error.to_string())
}

fn whole() -> String {
    WHOLE.replace(r#""x_version":7"#, r#""x_version":"2.1","x_telemetry_version":"0.10","y_version":[7]"#)
}

#[test]
fn the_smallest_profile_is_the_new_one() {
    let new = Profile::new("q", 1.0, Plan::default());
    assert_eq!(read(SMALLEST), Ok(new.clone()));
    assert_eq!(new.findings(), []);
}

#[test]
fn every_member_is_read() {
    let text = whole();
    let profile = read(&text).expect("a profile");
    assert_eq!(profile.engine.as_deref(), Some("x"));
    assert_eq!(profile.engine_version, Some("2.1".into()));
    assert_eq!(profile.engine_telemetry_version, Some("0.10".into()));
    assert_eq!((&*profile.query_id, profile.label.as_deref()), ("q", Some("a\"b")));
    assert_eq!(
        (profile.fingerprint.as_deref(), profile.started_unix_ns),
        (Some("f"), Some(1_795_206_683_609_778_763))
    );
    assert_eq!((profile.wall_ms, profile.planning_ms), (372.5, Some(9.25)));
    assert_eq!((profile.telemetry_ms, profile.cpu_ms), (Some(8.0), Some(558.125)));
    assert_eq!(profile.result_rows, Some(8059));
    let call_site = profile.call_site.as_ref().expect("a call site");
    assert_eq!((&*call_site.filepath, call_site.lineno, &*call_site.function), ("/p.py", 74, "main"));
    assert_eq!(profile.failed.as_deref(), Some("broke\non two lines"));
    assert_eq!(profile.redacted, Some(vec!["strings".into()]));
    let diagnostics = profile.diagnostics.as_ref().expect("an object");
    assert_eq!(diagnostics.as_json(), r#"{"cpu_count":2,"deep":[{}]}"#);
    assert_eq!(profile.query_metrics.as_ref().and_then(|metrics| metrics.get("num_threads")), Some(2));
    assert_eq!(profile.trace_id, Some(TraceId::new(0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736)));
    assert_eq!(profile.span_id, Some(SpanId::new(0x00f0_67aa_0ba9_02b7)));

    let [node] = &profile.plan.physical[..] else { panic!("{:?}", profile.plan) };
    assert_eq!((node.id, &*node.kind, node.role), (4_294_967_298, "Hash", Role::Aggregation));
    assert_eq!(node.inputs, [4_294_967_297]);
    assert_eq!(node.properties.as_ref().map(Object::as_json), Some(r#"{"keys":["a"]}"#));
    let counters = node.metrics.as_ref().expect("counters");
    assert_eq!((counters.done, counters.get("rows_sent")), (Some(true), Some(u64::MAX)));
    assert_eq!((counters.get("new_counter"), counters.get("done")), (Some(3), None));
    assert_eq!((&*counters.custom[0].key, &*counters.custom[0].unit), ("spilled", "bytes"));
    let values = counters.custom.iter().map(|custom| custom.value.as_ref().and_then(Number::as_f64));
    assert_eq!(values.collect::<Vec<_>>(), [Some(5.0), Some(0.5), None]);

    let [node] = &profile.plan.logical[..] else { panic!("{:?}", profile.plan) };
    assert_eq!((node.id, node.role, &node.metrics), (0, Role::Unknown, &None));

    let [first, second] = profile.findings() else { panic!("{:?}", profile.insights) };
    assert_eq!((&*first.rule, &*first.kind, &*first.level), ("r", "problem", "warn"));
    assert_eq!((first.node_id, first.node_kind.as_deref()), (Some(4_294_967_298), Some("Hash")));
    assert_eq!((first.cpu_share, first.blocked_share, &first.fix), (Some(0.75), Some(0.5), &None));
    let values: Vec<_> = first.evidence.iter().map(|evidence| &evidence.value).collect();
    assert_eq!(
        values,
        [&EvidenceValue::from(1.5), &EvidenceValue::Text("text".into()), &EvidenceValue::Null]
    );
    assert_eq!((second.node_id, &second.evidence[..]), (None, &[][..]));
}

#[test]
fn what_is_written_reads_the_same() {
    for text in [SMALLEST.to_owned(), whole()] {
        let profile = read(&text).expect("a profile");
        let written = serde_json::to_string(&profile).expect("JSON");
        assert_eq!(read(&written), Ok(profile));
    }
}

#[test]
fn strings_are_borrowed() {
    let profile = read(SMALLEST).expect("a profile");
    assert!(matches!(profile.query_id.into_inner(), Cow::Borrowed("q")));
}

#[test]
fn versions_go_by_the_brand() {
    let brands = [
        (r#""x_version":"1","engine_version":"2""#, "x", Some("1")),
        (r#""engine_version":"2""#, "x", Some("2")),
        (r#""y_version":"1""#, "x", None),
        (r#""y_version":{}"#, "x", None),
        (r#""engine_version":"2""#, "engine", Some("2")),
        (r#""x_version":7"#, "x", None),
    ];
    for (members, brand, expected) in brands {
        let text =
            SMALLEST.replace("engine-", &format!("{brand}-")).replacen('{', &format!("{{{members},"), 1);
        let profile = read(&text).expect(&text);
        assert_eq!(profile.engine_version.as_deref(), expected, "{text}");
    }
}

#[test]
fn refusals_name_the_cause() {
    let text = whole();
    for (from, to, cause) in [
        (r#""schema":"x-telemetry/profile@1","#, "", "missing field `schema`"),
        (r#""query_id":"q","#, "", "missing field `query_id`"),
        (r#""wall_ms":372.5,"#, "", "missing field `wall_ms`"),
        (r#""wall_ms":372.5"#, r#""wall_ms":-1"#, "milliseconds >= 0"),
        (r#""wall_ms":372.5"#, r#""wall_ms":1,"wall_ms":2"#, "duplicate field `wall_ms`"),
        (r#""plan":{"#, r#""plans":{"#, "missing field `plan`"),
        (r#""logical":["#, r#""illogical":["#, "missing field `logical`"),
        ("profile@1", "profile@2", "unknown format"),
        (r#""lineno":74,"#, "", "missing field `lineno`"),
        (r#""id":4294967298,"#, "", "missing field `id`"),
        (r#""id":4294967298,"#, r#""id":-1,"#, "invalid value: integer `-1`"),
        (r#","inputs":[],"#, ",", "missing field `inputs`"),
        (r#""done":true"#, r#""done":1"#, "expected a boolean"),
        (r#""done":true"#, r#""done":true,"done":true"#, "duplicate field `done`"),
        (r#""new_counter":3"#, r#""new_counter":-3"#, "expected u64"),
        (r#""unit":"bytes","#, "", "missing field `unit`"),
        (r#"{"keys":["a"]}"#, "[]", "a JSON object"),
        (r#""num_threads":2"#, r#""num_threads":"2""#, "expected u64"),
        (r#""schema":"insights@1","#, "", "missing field `schema`"),
        (r#""node_id":null,"#, "", "missing field `node_id`"),
        (r#""value":"text","#, "", "missing field `value`"),
        (r#""value":"text","#, r#""value":[],"#, "a number, a string or null"),
        ("4bf92f35", "4BF92F35", "32 lowercase hex"),
        ("00f067aa", "0f067aa", "16 lowercase hex"),
    ] {
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text, "{from}");
        let error = read(&changed).expect_err(&changed);
        assert!(error.contains(cause), "{from} -> {to}: {error}");
    }
}

#[test]
fn evidence_is_a_number_json_can_hold() {
    assert_eq!(EvidenceValue::from(f64::NAN), EvidenceValue::Null);
    let written = serde_json::to_string(&[EvidenceValue::from(u64::MAX), EvidenceValue::from(0.5)]);
    assert_eq!(written.expect("JSON"), "[18446744073709551615,0.5]");
}

#[test]
fn every_role_has_its_name() {
    for role in Role::ALL {
        let json = serde_json::to_string(role).expect("JSON");
        assert_eq!(serde_json::from_str::<Role>(&json).expect("a role"), *role);
    }
    assert_eq!(Role::ALL.len(), 19);
}
