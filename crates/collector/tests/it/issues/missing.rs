//! Queries that did not run when they usually do.

use std::time::Duration;

use serde_json::{Value, json};

use super::{act, detail, history, issues};
use crate::app::{TestApp, eventually};
use crate::events::{DAY_NS, NOW_NS, SECOND_NS, finished, process_with};

const MINUTE_NS: i64 = 60 * SECOND_NS;
/// Longer than a collector waits between two looks at its queries.
const LOOK: Duration = Duration::from_secs(7);

/// Runs of a label each minute: the last 20 minutes, and twelve minutes of each of nine days from this time of the day
/// on.
fn regular(stream: u64, service: &str, label: &str) -> String {
    let recent = (0..20).map(|minute| NOW_NS - minute * MINUTE_NS);
    let earlier =
        (1..=9).flat_map(|day| (0..12).map(move |minute| NOW_NS - day * DAY_NS + minute * MINUTE_NS));
    let mut starts: Vec<i64> = recent.chain(earlier).collect();
    starts.sort_unstable();
    let mut batch = process_with(stream, json!({"service": service, "program_version": "7.1"})) + "\n";
    for (at, start) in (2_u64..).zip(starts) {
        let call_site = json!({"filepath": "/srv/orders.py", "lineno": 3, "function": "main"});
        let members = json!({
            "label": label, "wall_ms": 50.0, "started_unix_ns": start, "polars_version": "2.1.0",
            "call_site": call_site,
        });
        batch += &(finished(at, stream * 1_000 + at, members) + "\n");
    }
    batch.replace("engine-telemetry", "polars-telemetry")
}

#[tokio::test]
async fn a_query_that_stops_is_missing_until_it_runs_again() {
    let app = TestApp::new().await;
    let _jobs = app.start_jobs();
    app.store(regular(1, "orders-etl", "l")).await;
    app.store(regular(2, "orders-etl", "ended")).await;
    // Of this one all queries stop: it is not heard of.
    for (stream, label) in (3..).zip(["a", "b", "c", "d"]) {
        app.store(regular(stream, "silent", label)).await;
    }
    app.until_all_evaluated().await;
    tokio::time::sleep(LOOK).await;
    assert_eq!(issues(&app, "kind=missing").await, [] as [Value; 0]);
    // It looks between the two: a longer step would be a pause of the service.
    app.clock.advance(Duration::from_mins(4));
    tokio::time::sleep(LOOK).await;
    app.clock.advance(Duration::from_mins(4));
    let open = eventually("two missing queries", async || {
        let open = issues(&app, "kind=missing&state=open").await;
        (open.len() >= 2).then_some(open)
    })
    .await;
    assert_eq!(open.len(), 2, "{open:?}");
    assert!(open.iter().all(|issue| issue["service"] == "orders-etl"), "{open:?}");
    let of = |label: &str| open.iter().find(|issue| issue["label"] == label).expect("an issue").clone();
    let (missing, ended) = (of("l"), of("ended"));
    assert_eq!((&missing["good_unix_ns"], &missing["change"]), (&json!(NOW_NS), &Value::Null));
    let detail_text = missing["detail"].as_str().expect("a text");
    assert!(
        detail_text.starts_with("no run has started for 8 min; runs usually start every 60.0 s"),
        "{detail_text}"
    );
    assert_eq!(
        (&missing["engine_version"], &missing["program_version"], &missing["call_site"]),
        (&json!("polars 2.1.0"), &json!("7.1"), &json!("/srv/orders.py"))
    );
    let id = |issue: &Value| issue["id"].as_str().expect("an id").to_owned();
    for waits_for in
        [json!({"until_other": "program"}), json!({"until_other": "engine"}), json!({"times_worse": 1.1})]
    {
        assert_eq!(act(&app, &id(&missing), "mute", waits_for).await.status, 200);
    }
    app.clock.advance(Duration::from_mins(1));
    let unmuted = eventually("the end of a mute", async || {
        let detail = detail(&app, &id(&missing)).await;
        (detail["issue"]["state"] == "open").then_some(detail)
    })
    .await;
    let reason = |detail: &Value| {
        detail["transitions"].as_array().expect("some").last().expect("one")["reason"].clone()
    };
    assert_eq!(reason(&unmuted), "it is as much worse as its mute allows");
    assert!(unmuted["issue"]["severity"].as_f64() > missing["severity"].as_f64(), "{unmuted}");
    assert!(
        unmuted["issue"]["detail"].as_str().expect("a text").starts_with("no run has started for 9 min"),
        "{unmuted}"
    );
    // One of them is over for good, as a person says.
    assert_eq!(act(&app, &id(&ended), "resolve", json!({"by": "Ada"})).await.status, 200);
    let members = json!({"label": "l", "wall_ms": 50.0, "started_unix_ns": NOW_NS + 8 * MINUTE_NS});
    let again = process_with(9, json!({})) + "\n" + &finished(2, 99_999, members) + "\n";
    app.store(again).await;
    app.until_all_evaluated().await;
    app.clock.advance(Duration::from_mins(4));
    let resolved = eventually("a query that runs again", async || {
        let detail = detail(&app, &id(&missing)).await;
        (detail["issue"]["state"] == "resolved").then_some(detail)
    })
    .await;
    assert_eq!(reason(&resolved), "it runs again");
    assert_eq!(history(&detail(&app, &id(&ended)).await), ["open by service", "resolved by person"]);
}

#[tokio::test]
async fn what_was_not_watched_is_not_missing() {
    let app = TestApp::new().await;
    let jobs = app.start_jobs();
    app.store(regular(1, "orders-etl", "l")).await;
    app.until_all_evaluated().await;
    drop(jobs);
    // The service was down for an hour, then the machine slept for another.
    app.clock.advance(Duration::from_hours(1));
    let app = app.restarted().await;
    let _jobs = app.start_jobs();
    tokio::time::sleep(LOOK).await;
    app.clock.advance(Duration::from_hours(1));
    tokio::time::sleep(LOOK).await;
    assert_eq!(issues(&app, "kind=missing").await, [] as [Value; 0]);
}
