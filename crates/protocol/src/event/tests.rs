use super::*;

const QUERY: &str = "01a1faa8-1bd9-77b2-97ab-860dd7026506";
const PROFILE: &str = r#"{"schema":"engine-telemetry/profile@1","query_id":"01A1FAA8-1bd9-77b2-97ab-860dd7026506","wall_ms":7.5,"label":"a","plan":{"physical":[],"logical":[]}}"#;

fn line(rest: &str) -> String {
    format!(r#"{{"schema":"engine-telemetry/events@1",{rest}}}"#)
}

const EMPTY_PLAN: &str = r#"{"physical":[],"logical":[]}"#;
const QUERY_ID: &str = r#""query_id":"01A1FAA8-1bd9-77b2-97ab-860dd7026506""#;

fn progress(rest: &str) -> String {
    line(&format!(r#""seq":1,"type":"query.progress","query_id":"{QUERY}",{rest}"#))
}

fn finished(profile: &str) -> String {
    line(&format!(r#""seq":1,"type":"query.finished","query_id":"{QUERY}","profile":{profile}"#))
}

/// Reads a line that must be refused and gives back why.
fn refused(line: &str) -> String {
    Event::read(line).expect_err(line).to_string()
}

#[test]
fn the_known_types() {
    let text = line(&format!(r#""seq":3,"type":"query.finished","query_id":"{QUERY}","profile":{PROFILE}"#));
    let event = Event::read(&text).expect("an event");
    assert_eq!((event.seq.get(), event.line), (3, text.as_str()));
    let EventKind::Finished(id, profile) = event.kind else { panic!("{:?}", event.kind) };
    assert_eq!((id.to_string(), profile.wall_ms, profile.label), (QUERY.into(), 7.5, Some("a".into())));

    let text =
        line(&format!(r#""seq":4,"type":"query.progress","query_id":"{QUERY}","elapsed_ms":1,"nodes":{{}}"#));
    assert!(matches!(Event::read(&text).expect("an event").kind, EventKind::Progress(_, 1.0)));

    let text = line(&format!(r#""seq":1,"type":"process","id":"{QUERY}","host":"h","service":null,"pid":9"#));
    let EventKind::Process(process) = Event::read(&text).expect("an event").kind else { panic!("{text}") };
    assert_eq!((&*process.host, process.service, process.pid), ("h", None, Some(9)));
}

#[test]
fn an_unknown_type_may_hold_anything() {
    let text = line(r#""seq":4,"type":"gc.pause","id":7,"elapsed_ms":[],"profile":1,"nodes":null"#);
    assert_eq!(Event::read(&text).expect("accepted").kind, EventKind::Other(None));
    let text = line(&format!(r#""type":"query.note","seq":4,"query_id":"{QUERY}""#));
    assert_eq!(Event::read(&text).expect("accepted").kind.query_id(), QUERY.parse().ok());
}

#[test]
fn the_type_may_come_last() {
    let text = line(&format!(r#""seq":3,"query_id":"{QUERY}","profile":{PROFILE},"type":"query.started""#));
    assert!(matches!(Event::read(&text).expect("an event").kind, EventKind::Started(..)));
}

#[test]
fn the_brand_is_kept() {
    let text = line(r#""seq":4,"type":"x""#).replace("engine-", "polars-");
    assert_eq!(Event::read(&text).expect("an event").engine.as_deref(), Some("polars"));
}

#[test]
fn the_version_of_the_engine_goes_by_its_brand() {
    let version = |members: &str, engine: &str, is_stored: bool| {
        let profile =
            PROFILE.replacen('{', &format!("{{{members},"), 1).replace("engine-", &format!("{engine}-"));
        let text =
            line(&format!(r#""type":"query.finished","seq":3,"query_id":"{QUERY}","profile":{profile}"#));
        let event = if is_stored { Event::read_stored(&text) } else { Event::read(&text) };
        match event.expect(&text).kind {
            EventKind::Finished(_, summary) => summary.engine_version.map(|version| version.to_string()),
            other => panic!("{other:?}"),
        }
    };
    for (members, engine, expected) in [
        (r#""polars_version":"2.1.0","engine_version":"7""#, "polars", Some("2.1.0")),
        (r#""polars_version":"2.1.0""#, "duckdb", None),
        (r#""engine_version":"7""#, "duckdb", Some("7")),
        (r#""polars_version":{"a":"2.1.0"}"#, "polars", None),
        (r#""polars_version":"2\u002e1""#, "polars", Some("2.1")),
        (r#""engine_version":"7""#, "engine", Some("7")),
    ] {
        assert_eq!(version(members, engine, false).as_deref(), expected, "{members}");
        assert_eq!(version(members, engine, true).as_deref(), expected, "{members}");
    }
    // An earlier version looked at neither.
    assert_eq!(version(r#""engine_version":7"#, "engine", true), None);
}

#[test]
fn refusals_name_the_cause() {
    for (text, cause) in [
        (String::new(), "ends within a JSON value"),
        ("[]".into(), "the line must be a JSON object, got an array"),
        ("{".into(), "ends within a JSON value"),
        ("{}".into(), "type is missing"),
        (line(r#""seq":1,"type":7"#), "type must be a string, got 7"),
        (line(r#""type":"x""#), "seq is missing"),
        (r#"{"seq":1,"type":"x"}"#.into(), "schema is missing"),
        (line(r#""seq":0,"type":"x""#), "seq must be an integer from 1 to 9223372036854775807, got 0"),
        (line(r#""seq":-1,"type":"x""#), "seq must be an integer from 1 to 9223372036854775807, got -1"),
        (line(r#""seq":1.5,"type":"x""#), "seq must be an integer from 1 to 9223372036854775807, got 1.5"),
        (line(r#""seq":"1","type":"x""#), r#"seq must be an integer from 1 to 9223372036854775807, got "1""#),
        (line(r#""seq":9223372036854775808,"type":"x""#), "got 9223372036854775808"),
        (line(r#""seq":1,"seq":2,"type":"x""#), "seq is there twice"),
        (
            line(r#""seq":1,"type":"x""#).replace("@1", "@2"),
            r#"schema must be <engine>-telemetry/events@1 with an engine of a-z, 0-9 and -, got "engine-telemetry/events@2""#,
        ),
        (line(r#""seq":1,"type":"x""#) + "}", "not JSON at column"),
        (line(r#""seq":1,"type":"x","query_id":"7""#), "query_id must be a UUID like 01a1faa8-"),
        (line(r#""seq":1,"type":"process","id":"7","host":"h""#), "id must be a UUID like 01a1faa8-"),
        (line(r#""seq":1,"type":"query.finished""#), "query_id is missing"),
        (line(&format!(r#""seq":1,"type":"query.started","query_id":"{QUERY}""#)), "profile is missing"),
        (line(&format!(r#""seq":1,"type":"process","id":"{QUERY}""#)), "host is missing"),
        (progress(r#""elapsed_ms":-1,"nodes":{}"#), "elapsed_ms must be a number of milliseconds from 0 to"),
        (progress(r#""elapsed_ms":315360000001,"nodes":{}"#), "(10 years), got 315360000001"),
        (
            progress(r#""elapsed_ms":1,"nodes":[]"#),
            "nodes must be an object of node id to counters, got an array",
        ),
        (
            progress(r#""elapsed_ms":1,"nodes":{"a":{}}"#),
            r#"nodes has a member "a", which must be a node id"#,
        ),
        (
            progress(r#""elapsed_ms":1,"nodes":{"+1":{}}"#),
            r#"nodes has a member "+1", which must be a node id"#,
        ),
        (
            progress(r#""elapsed_ms":1,"nodes":{"7":{"rows":-1}}"#),
            "nodes.7.rows must be an integer >= 0, got -1",
        ),
        (progress(r#""elapsed_ms":1,"nodes":{"7":{"done":1}}"#), "nodes.7.done must be true or false, got 1"),
        // By position instead of by name: what a derived reader takes for the same.
        (finished(r#"["engine-telemetry/profile@1","q"]"#), "profile must be an object, got an array"),
        (finished(&PROFILE.replace(EMPTY_PLAN, "[[],[]]")), "profile.plan must be an object, got an array"),
        (
            finished(&PROFILE.replace(QUERY_ID, r#""query_id":"4f0de94c-dce3-44f0-9cd3-2604c74dbeea""#)),
            "profile.query_id must be the query_id of the event, 01a1faa8-1bd9-77b2-97ab-860dd7026506, got \"4f0de94c",
        ),
        (
            finished(&PROFILE.replace(
                r#""physical":[]"#,
                r#""physical":[{"id":0,"kind":"k","inputs":[]},{"id":"x","kind":"k","inputs":[]}]"#,
            )),
            r#"profile.plan.physical[1].id must be an integer >= 0, got "x""#,
        ),
    ] {
        let reason = refused(&text);
        assert!(reason.contains(cause), "{text}: {reason}");
    }
}

#[test]
fn deep_nesting_neither_overflows_nor_is_refused() {
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let text = line(&format!(r#""seq":1,"type":"x","deep":{deep}"#));
    assert!(Event::read(&text).is_ok());
}

#[test]
fn what_a_sender_wrote_is_shown_in_part() {
    let reason = refused(&line(&format!(r#""seq":"{}","type":"x""#, "ä".repeat(10_000))));
    assert!(reason.chars().count() < 200 && reason.ends_with('…'), "{reason}");
    let named = format!(r#""elapsed_ms":1,"nodes":{{"7":{{"{}":-1}}}}"#, "x".repeat(10_000));
    let reason = refused(&progress(&named));
    assert!(reason.len() < 200 && reason.ends_with("… must be an integer >= 0, got -1"), "{reason}");
}

#[test]
fn what_an_earlier_version_stored_is_read() {
    for text in [
        progress(r#""elapsed_ms":1e300,"nodes":{"a":[]}"#),
        finished(&PROFILE.replace(QUERY_ID, r#""query_id":"q""#)),
        finished(
            &PROFILE.replace(EMPTY_PLAN, r#"{"physical":["x"],"logical":[{}]},"trace_id":7,"insights":{}"#),
        ),
    ] {
        assert!(Event::read(&text).is_err(), "{text}");
        assert_eq!(Event::read_stored(&text).map(|event| event.seq.get()), Ok(1), "{text}");
    }
    let flat = finished(&PROFILE.replace(r#""logical":[]"#, r#""logical":{}"#));
    assert!(Event::read_stored(&flat).is_err(), "the first level was always checked: {flat}");
}
