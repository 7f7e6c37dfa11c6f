use super::*;

const QUERY: &str = "01a1faa8-1bd9-77b2-97ab-860dd7026506";
const PROFILE: &str = r#"{"schema":"engine-telemetry/profile@1","query_id":"q","wall_ms":7.5,"label":"a","plan":{"physical":[],"logical":[]}}"#;

fn line(rest: &str) -> String {
    format!(r#"{{"schema":"engine-telemetry/events@1",{rest}}}"#)
}

/// Reads a line that must be refused and gives back why.
fn refused(line: &str) -> String {
    Event::read(line).expect_err(line)
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
fn refusals_name_the_cause() {
    for (text, cause) in [
        (String::new(), "EOF while parsing a value"),
        ("[]".into(), "expected a JSON object"),
        ("{".into(), "EOF while parsing an object"),
        ("{}".into(), "missing field `type`"),
        (line(r#""seq":1,"type":7"#), "expected a string"),
        (line(r#""type":"x""#), "missing field `seq`"),
        (r#"{"seq":1,"type":"x"}"#.into(), "missing field `schema`"),
        (line(r#""seq":0,"type":"x""#), "seq 0 is outside 1..="),
        (line(r#""seq":-1,"type":"x""#), "expected a whole number >= 0, found -1"),
        (line(r#""seq":1.5,"type":"x""#), "expected a whole number >= 0, found 1.5"),
        (line(r#""seq":"1","type":"x""#), "expected a whole number >= 0, found the string \"1\""),
        (line(r#""seq":9223372036854775808,"type":"x""#), "outside 1..="),
        (line(r#""seq":1,"seq":2,"type":"x""#), "duplicate field `seq`"),
        (line(r#""seq":1,"type":"x""#).replace("@1", "@2"), "schema: unknown format"),
        (line(r#""seq":1,"type":"x""#) + "}", "trailing characters"),
        (line(r#""seq":1,"type":"x","query_id":"7""#), "query_id: \"7\" is not a UUID"),
        (line(r#""seq":1,"type":"process","id":"7","host":"h""#), "id: \"7\" is not a UUID"),
        (line(r#""seq":1,"type":"query.finished""#), "missing field `query_id`"),
        (line(&format!(r#""seq":1,"type":"query.started","query_id":"{QUERY}""#)), "missing field `profile`"),
        (line(&format!(r#""seq":1,"type":"process","id":"{QUERY}""#)), "missing field `host`"),
        (
            line(&format!(
                r#""seq":1,"type":"query.progress","query_id":"{QUERY}","elapsed_ms":-1,"nodes":{{}}"#
            )),
            "milliseconds >= 0",
        ),
        (
            line(&format!(
                r#""seq":1,"type":"query.progress","query_id":"{QUERY}","elapsed_ms":1,"nodes":[]"#
            )),
            "object of node id",
        ),
        // By position instead of by name: what a derived reader takes for the same.
        (
            line(&format!(
                r#""seq":1,"type":"query.finished","query_id":"{QUERY}","profile":["engine-telemetry/profile@1","q",null,null,null,1,null,null,null,{{"physical":[],"logical":[]}},null]"#
            )),
            "expected a JSON object, found an array",
        ),
        (
            line(&format!(r#""seq":1,"type":"query.finished","query_id":"{QUERY}","profile":{PROFILE}"#))
                .replace(r#"{"physical":[],"logical":[]}"#, "[[],[]]"),
            "expected a JSON object, found an array",
        ),
    ] {
        let reason = refused(&text);
        assert!(reason.contains(cause), "{text}: {reason}");
        assert!(!reason.contains(" line "), "{reason}");
    }
}

#[test]
fn deep_nesting_neither_overflows_nor_is_refused() {
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let text = line(&format!(r#""seq":1,"type":"x","deep":{deep}"#));
    assert!(Event::read(&text).is_ok());
}
