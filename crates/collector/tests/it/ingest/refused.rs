//! 400, 403 and 415: what is no batch, or somebody else's; nothing of it is stored.

use serde_json::{Value, json};

use crate::app::{Answer, OTHER_TOKEN, TestApp, post, with_header};
use crate::events::{
    batch, done, event, finished, gzip, joined, process, process_with, profile, progress, query, started,
    stream,
};

/// Checks that a body is refused, with the line to blame and a reason that says so much.
fn check(answer: &Answer, status: u16, line: Option<usize>, says: &str) {
    assert_eq!(answer.status, status, "{answer:?}");
    let body = answer.json();
    assert_eq!(body.get("line"), line.map(Value::from).as_ref(), "{answer:?}");
    assert!(answer.error().contains(says), "{says}: {answer:?}");
    let members: Vec<&String> = body.as_object().expect("an object").keys().collect();
    let expected = if line.is_some() { vec!["error", "line"] } else { vec!["error"] };
    assert_eq!(members, expected);
}

/// Nothing has been stored, and the seqs of what was refused are still new.
async fn check_nothing_stored(app: &TestApp) {
    assert_eq!(app.list("").await, Vec::<Value>::new());
    app.store(batch(1, [done(2, 1), done(3, 2), done(4, 3)])).await;
}

/// A batch with a good event before and after a bad line, which is the third.
fn around(bad: &str) -> String {
    batch(1, [&done(2, 1), bad, &done(4, 3)])
}

#[tokio::test]
async fn a_bad_line_refuses_the_batch_and_is_blamed() {
    let app = TestApp::new().await;
    let with = |name: &str, value: Value| {
        let mut event: Value = serde_json::from_str(&done(3, 2)).expect("JSON");
        event[name] = value;
        event.to_string()
    };
    let without = |name: &str| {
        let mut event: Value = serde_json::from_str(&done(3, 2)).expect("JSON");
        event.as_object_mut().expect("an object").remove(name);
        event.to_string()
    };
    let with_profile = |members: Value| with("profile", profile(2, members));
    let sample = |members: Value| event(3, "query.progress", members);
    for (bad, says) in [
        // No JSON object.
        ("not JSON".into(), "not JSON at column 1"),
        ("[1]".into(), "a JSON object"),
        ("17".into(), "a JSON object"),
        ("null".into(), "a JSON object"),
        (done(3, 2) + "{}", "not JSON"),
        (done(3, 2)[..40].into(), "ends within a JSON value"),
        // The envelope.
        (without("type"), "type"),
        (with("type", json!(7)), "a string"),
        (without("schema"), "schema"),
        (with("schema", json!("engine-telemetry/events@2")), "events@1"),
        (with("schema", json!("engine-telemetry/profile@1")), "events@1"),
        (with("schema", json!("Engine-telemetry/events@1")), "events@1"),
        (with("schema", json!("9x-telemetry/events@1")), "events@1"),
        (with("schema", json!("-telemetry/events@1")), "events@1"),
        (without("seq"), "seq"),
        (with("seq", json!(0)), "seq"),
        (with("seq", json!(-1)), "-1"),
        (with("seq", json!(1.5)), "1.5"),
        (with("seq", json!("3")), "got \"3\""),
        (with("seq", json!(9_223_372_036_854_775_808_u64)), "9223372036854775807"),
        // The query.
        (without("query_id"), "query_id"),
        (with("query_id", json!("query 7")), "query_id"),
        (with("query_id", json!("e000000000004000800000000000002a")), "query_id"),
        (event(3, "query.spilled", json!({"query_id": "7"})), "query_id"),
        (sample(json!({"query_id": query(2), "nodes": {}})), "elapsed_ms"),
        (sample(json!({"query_id": query(2), "nodes": {}, "elapsed_ms": -1})), "from 0 to"),
        (
            sample(json!({"query_id": query(2), "nodes": {}, "elapsed_ms": 1e12})),
            "(10 years), got 1000000000000.0",
        ),
        (sample(json!({"query_id": query(2), "nodes": {"x": {}}, "elapsed_ms": 1})), "decimal digits"),
        (
            sample(json!({"query_id": query(2), "nodes": {"7": {"rows": -1}}, "elapsed_ms": 1})),
            "nodes.7.rows",
        ),
        (sample(json!({"query_id": query(2), "nodes": [], "elapsed_ms": 1})), "node"),
        (sample(json!({"query_id": query(2), "elapsed_ms": 1})), "nodes"),
        // The profile.
        (without("profile"), "profile"),
        (with("profile", json!({})), "schema"),
        (with_profile(json!({"schema": "engine-telemetry/profile@2"})), "profile@1"),
        (with_profile(json!({"wall_ms": null})), "null"),
        (with_profile(json!({"wall_ms": -0.5})), "from 0 to"),
        (
            with_profile(json!({"wall_ms": 1e308})),
            "wall_ms must be a number of milliseconds from 0 to 315360000000",
        ),
        (with_profile(json!({"cpu_ms": 315_360_000_001_u64})), "(10 years) or null, got 315360000001"),
        (with_profile(json!({"plan": {"physical": []}})), "logical"),
        (with_profile(json!({"plan": null})), "null"),
        // Another process.
        (process(2), "one process"),
        (process_with(1, json!({"id": "no UUID"})), "id"),
    ] {
        check(&app.post(around(&bad)).await, 400, Some(3), says);
        check(&app.post_gzip(gzip(around(&bad))).await, 400, Some(3), says);
    }
    check_nothing_stored(&app).await;
}

#[tokio::test]
async fn what_is_below_the_first_level_of_a_profile_is_checked() {
    let app = TestApp::new().await;
    let node = |members: Value| {
        let node = joined(json!({"id": 0, "kind": "k", "inputs": []}), members);
        json!({"plan": {"physical": [node], "logical": []}})
    };
    let counters = |metrics: Value| node(json!({"metrics": metrics}));
    let finding = |members: Value| {
        let whole = json!({"rule": "r", "kind": "k", "level": "warn", "node_id": null, "title": "t"});
        json!({"insights": {"schema": "insights@1", "findings": [joined(whole, members)]}})
    };
    let evidence = |evidence: Value| finding(json!({"evidence": [evidence]}));
    for (members, says) in [
        (
            json!({"plan": {"physical": ["x"], "logical": []}}),
            r#"profile.plan.physical[0] must be an object, got "x""#,
        ),
        (
            json!({"plan": {"physical": [], "logical": [{"id": 0, "kind": "k"}]}}),
            "profile.plan.logical[0].inputs is missing",
        ),
        (node(json!({"id": "1"})), r#"profile.plan.physical[0].id must be an integer >= 0, got "1""#),
        (node(json!({"id": -1})), "profile.plan.physical[0].id must be an integer >= 0, got -1"),
        (node(json!({"kind": null})), "profile.plan.physical[0].kind must be a string, got null"),
        (
            node(json!({"inputs": [0, -1]})),
            "profile.plan.physical[0].inputs[1] must be an integer >= 0, got -1",
        ),
        (
            node(json!({"properties": []})),
            "profile.plan.physical[0].properties must be an object or null, got an array",
        ),
        (
            counters(json!({"rows": -1})),
            "profile.plan.physical[0].metrics.rows must be an integer >= 0, got -1",
        ),
        (
            counters(json!({"rows": "x"})),
            r#"profile.plan.physical[0].metrics.rows must be an integer >= 0, got "x""#,
        ),
        (counters(json!({"done": 1})), "profile.plan.physical[0].metrics.done must be true or false, got 1"),
        (
            counters(json!({"custom": [{"key": "k"}]})),
            "profile.plan.physical[0].metrics.custom[0].unit is missing",
        ),
        (
            counters(json!({"custom": [{"key": "k", "unit": "u", "value": "1"}]})),
            "custom[0].value must be a number or null",
        ),
        (finding(json!({"rule": 7})), "profile.insights.findings[0].rule must be a string, got 7"),
        (
            finding(json!({"node_id": 0.5})),
            "profile.insights.findings[0].node_id must be an integer or null, got 0.5",
        ),
        (evidence(json!({"name": "n"})), "profile.insights.findings[0].evidence[0].value is missing"),
        (json!({"insights": {"findings": []}}), "profile.insights.schema is missing"),
        (json!({"insights": {"schema": "s"}}), "profile.insights.findings is missing"),
        (json!({"call_site": {"filepath": "f", "lineno": 1}}), "profile.call_site.function is missing"),
        (
            json!({"trace_id": "ab"}),
            r#"profile.trace_id must be 32 lowercase hex characters or null, got "ab""#,
        ),
        (json!({"span_id": "00F067AA0BA902B7"}), "profile.span_id must be 16 lowercase hex characters"),
        (json!({"diagnostics": []}), "profile.diagnostics must be an object or null, got an array"),
        (json!({"query_metrics": "x"}), r#"profile.query_metrics must be an object or null, got "x""#),
        (
            json!({"query_metrics": {"threads": 1.5}}),
            "profile.query_metrics.threads must be an integer >= 0, got 1.5",
        ),
        (json!({"query_id": query(3)}), "profile.query_id must be the query_id of the event"),
    ] {
        check(&app.post(around(&finished(3, 2, members.clone()))).await, 400, Some(3), says);
        check(&app.post_gzip(gzip(around(&started(3, 2, members)))).await, 400, Some(3), says);
    }
    check_nothing_stored(&app).await;
    let nulls = json!({
        "call_site": null, "diagnostics": null, "insights": null, "query_metrics": null, "trace_id": null,
    });
    let nulls = joined(node(json!({"properties": null, "metrics": null})), nulls);
    app.store(batch(1, [finished(5, 4, nulls)])).await;
}

#[tokio::test]
async fn blank_lines_are_passed_over_and_counted() {
    let app = TestApp::new().await;
    let body = format!("\n{}\r\n\r\n \t\n{}\n\n\n", process(1), done(2, 1));
    app.store(body).await;
    assert_eq!(app.recorded(1).await, [process(1), done(2, 1)]);
    let bad = format!("{}\n\n\n{}\n\n", process(1), done(0, 2));
    check(&app.post(bad).await, 400, Some(4), "seq must be");
    check(&app.post("\n \r\n\t").await, 400, None, "empty");
}

#[tokio::test]
async fn a_batch_must_begin_with_a_process_event() {
    let app = TestApp::new().await;
    let without = |name: &str| {
        let mut event: Value = serde_json::from_str(&process(1)).expect("JSON");
        event.as_object_mut().expect("an object").remove(name);
        event.to_string()
    };
    for (first, says) in [
        (done(1, 1), "process"),
        (event(1, "hello", json!({})), "process"),
        ("{}".into(), "type"),
        (without("id"), "id"),
        (without("host"), "host"),
        (without("seq"), "seq"),
        (without("schema"), "schema"),
        (process_with(1, json!({"id": "57000000"})), "id"),
        (process_with(1, json!({"host": null})), "null"),
        (process_with(1, json!({"seq": 0})), "seq"),
        (process_with(1, json!({"service": 7})), "a string"),
        (process_with(1, json!({"schema": "engine-telemetry/events@2"})), "events@1"),
    ] {
        check(&app.post(format!("{first}\n{}\n", done(2, 1))).await, 400, Some(1), says);
    }
    check_nothing_stored(&app).await;
}

#[tokio::test]
async fn a_body_that_is_no_text_is_blamed_where_it_ends_to_be_text() {
    let app = TestApp::new().await;
    let not_utf8 = [batch(1, [done(2, 1)]).as_bytes(), b"{\"\xff\":1}\n"].concat();
    check(&app.post(not_utf8).await, 400, Some(3), "UTF-8");
    check(&app.post(&b"\xff"[..]).await, 400, Some(1), "UTF-8");
    check(&app.post("").await, 400, None, "empty");
    check(&app.post_gzip(gzip("")).await, 400, None, "empty");
    check_nothing_stored(&app).await;
}

#[tokio::test]
async fn a_body_that_is_no_gzip_is_refused_whole() {
    let app = TestApp::new().await;
    let whole = gzip(batch(1, [done(2, 1)]));
    let flipped = |at: usize| {
        let mut body = whole.clone();
        body[at] ^= 0x40;
        body
    };
    let end = whole.len();
    for body in [
        Vec::new(),
        b"no gzip at all".to_vec(),
        batch(1, [done(2, 1)]).into_bytes(),
        whole[..5].to_vec(),
        whole[..end / 2].to_vec(),
        whole[..end - 1].to_vec(),
        [&whole[..], b"garbage"].concat(),
        [&whole[..], b"\0"].concat(),
        [&whole[..], &whole[..9]].concat(),
        // The checksum, then the size of the footer.
        flipped(end - 8),
        flipped(end - 1),
    ] {
        check(&app.post_gzip(body).await, 400, None, "gzip");
    }
    check_nothing_stored(&app).await;
}

#[tokio::test]
async fn another_content_encoding_is_415() {
    let app = TestApp::new().await;
    for coding in ["br", "zstd", "deflate", "gzip, gzip", "gzip, br", "plain"] {
        let request = post(gzip(batch(1, [done(2, 1)])));
        check(
            &app.send(with_header(request, "content-encoding", coding)).await,
            415,
            None,
            "gzip, identity or absent",
        );
    }
    check_nothing_stored(&app).await;
}

#[tokio::test]
async fn a_stream_belongs_to_the_project_that_first_sent_it() {
    let app = TestApp::new().await;
    app.store(batch(1, [progress(2, 1)])).await;
    let foreign = batch(1, [done(3, 1), done(4, 2)]);
    check(&app.post_as(OTHER_TOKEN, foreign.clone()).await, 403, None, &stream(1));
    assert_eq!((app.ids("").await, app.status(1).await), (vec![query(1)], "running".into()));
    app.store(foreign).await;
}

#[tokio::test]
async fn a_query_belongs_to_the_stream_that_first_reported_it() {
    let app = TestApp::new().await;
    app.store(batch(1, [progress(2, 1)])).await;
    let foreign = batch(2, [done(2, 2), done(3, 1), progress(4, 1)]);
    check(&app.post(foreign.clone()).await, 400, Some(3), &query(1));
    check(&app.post_as(OTHER_TOKEN, foreign).await, 400, Some(3), &query(1));
    assert_eq!((app.ids("").await, app.status(1).await), (vec![query(1)], "running".into()));
    // Neither the stream nor its seqs have been taken.
    let answer = app.post_as(OTHER_TOKEN, batch(2, [done(2, 2), done(3, 3)])).await;
    assert_eq!((answer.status.as_u16(), answer.json()["accepted"].as_u64()), (202, Some(2)));
}
