//! Ranges between two moments: the overview of one, series, places, and what differs in slow runs.

use std::sync::Arc;

use queryscope_delivery::{Config, Secrets};
use serde_json::{Value, json};

use super::{entries, five, get, told};
use crate::app::{Setup, TestApp};
use crate::events::{DAY_NS, NOW_NS, SECOND_NS, batch, finished, process_with};

const MINUTE_NS: i64 = 60 * SECOND_NS;

#[tokio::test]
async fn an_overview_covers_the_time_between_two_moments() {
    let app = TestApp::new().await;
    five(&app).await;
    let (day, second) = (NOW_NS - DAY_NS, NOW_NS - SECOND_NS);
    for (params, since, until, slice_ns, expected) in [
        (format!("since={day}"), day, NOW_NS, 15 * MINUTE_NS, vec!["daily 4", "nightly 1"]),
        (format!("since={day}&until={second}"), day, second, 15 * MINUTE_NS, vec!["daily 3"]),
        (format!("until={second}&days=2"), second - 2 * DAY_NS, second, 60 * MINUTE_NS, vec!["daily 3"]),
        (format!("since={second}"), second, NOW_NS, SECOND_NS, vec!["daily 2", "nightly 1"]),
        // What is later than now is now.
        (
            format!("since={day}&until={}", NOW_NS + DAY_NS),
            day,
            NOW_NS,
            15 * MINUTE_NS,
            vec!["daily 4", "nightly 1"],
        ),
    ] {
        let overview = get(&app, &format!("/api/overview?{params}")).await;
        let range = [&overview["since_unix_ns"], &overview["now_unix_ns"], &overview["slice_ns"]];
        assert_eq!(range, [&json!(since), &json!(until), &json!(slice_ns)], "{params}");
        assert_eq!(entries(&overview["queries"], "label"), expected, "{params}");
    }
    let days = get(&app, "/api/overview?days=2").await;
    assert_eq!(days["slice_ns"], 360 * MINUTE_NS);
}

#[tokio::test]
async fn a_range_that_cannot_be_covered_is_400() {
    let app = TestApp::new().await;
    for (path, said) in [
        ("/api/overview?days=2&since=5".to_owned(), "days: not allowed together with since"),
        (format!("/api/overview?since={}", NOW_NS - 91 * DAY_NS), "by 90 days at most"),
        ("/api/overview?since=9&until=9".to_owned(), "expected a time before 9"),
        (format!("/api/series?label=x&since={NOW_NS}"), "expected a time before"),
        ("/api/series?label=x&since=soon".to_owned(), "since: \"soon\" is not a time in Unix nanoseconds"),
        ("/api/series?filter=timeout".to_owned(), "filter: counts take all conditions but error"),
        ("/api/facets?filter=timeout".to_owned(), "filter: counts take all conditions but error"),
        ("/api/series?filter=error~x".to_owned(), "filter: counts take all conditions but error"),
        ("/api/series?filter=wall%3Esoon".to_owned(), "filter: at character"),
        ("/api/series?status=done".to_owned(), "status: "),
        ("/api/series?label=x&by=day".to_owned(), "by: \"day\" is not"),
        ("/api/series?label=x&most=51".to_owned(), "most: \"51\" is not a whole number from 1 to 50"),
        ("/api/differences?label=x".to_owned(), "service: is needed"),
        ("/api/differences?service=x".to_owned(), "label: is needed"),
        ("/api/differences?label=x&service=&utc_offset=9999".to_owned(), "minutes from -1440 to 1440"),
        ("/api/differences?label=x&service=&first=late".to_owned(), "slow or failed"),
        ("/api/differences?label=x&service=&first=failed&base_since=1".to_owned(), "beside base_since"),
        ("/api/places?status=done".to_owned(), "status"),
    ] {
        let answer = app.get(&path).await;
        let error = answer.json()["error"].as_str().unwrap_or_default().to_owned();
        assert!(answer.status == 400 && error.contains(said), "{path}: {} {error}", answer.status);
    }
}

#[tokio::test]
async fn a_series_is_divided_by_a_field() {
    let app = TestApp::new().await;
    five(&app).await;
    let since = NOW_NS - 60 * MINUTE_NS;
    let series = get(&app, &format!("/api/series?label=daily&since={since}")).await;
    assert_eq!((&series["slice_ns"], &series["until_unix_ns"]), (&json!(MINUTE_NS), &json!(NOW_NS)));
    let [all] = &series["groups"].as_array().expect("groups")[..] else { panic!("{series}") };
    assert_eq!(
        (&all["value"], &all["all"]["runs"], &all["all"]["failed"]),
        (&Value::Null, &json!(3), &json!(1))
    );
    let slices = all["slices"].as_array().expect("slices");
    assert_eq!((slices.len(), &slices[59]["runs"], &slices[0]["p50_ms"]), (60, &json!(3), &Value::Null));
    let by = get(&app, &format!("/api/series?label=daily&since={since}&by=host")).await;
    let hosts: Vec<(&str, i64)> = by["groups"]
        .as_array()
        .expect("groups")
        .iter()
        .map(|group| (group["value"].as_str().expect("a host"), group["all"]["runs"].as_i64().expect("runs")))
        .collect();
    assert_eq!(hosts, [("worker-1", 2), ("worker-3", 1)]);
    let of_etl = get(&app, &format!("/api/series?label=daily&since={since}&by=host&project=etl")).await;
    assert_eq!(of_etl["groups"][0]["value"], "worker-3");
    let rest = get(&app, &format!("/api/series?label=daily&since={since}&by=host&most=1")).await;
    assert_eq!((&rest["groups"][0]["values"], &rest["groups"][0]["all"]["runs"]), (&json!(2), &json!(3)));
}

#[tokio::test]
async fn a_series_is_of_all_runs_that_a_filter_keeps() {
    let app = TestApp::new().await;
    five(&app).await;
    let since = NOW_NS - 3 * DAY_NS;
    let counts = async |params: &str| {
        let series = get(&app, &format!("/api/series?since={since}{params}")).await;
        let groups = series["groups"].as_array().expect("groups").clone();
        let counts = groups.iter().map(|group| group["all"]["runs"].as_u64().expect("a number"));
        counts.collect::<Vec<_>>()
    };
    let listed = async |params: &str| {
        let list = get(&app, &format!("/api/queries?since={since}{params}")).await;
        list.as_array().expect("a list").len() as u64
    };
    assert_eq!(counts("").await, [5]);
    for params in [
        "&label=daily",
        "&label=",
        "&status=failed",
        "&filter=status:failed",
        "&filter=-status:failed%20label:daily",
        "&filter=service:web",
        "&filter=wall%3E=2ms",
        "&filter=warnings%3E0",
        "&filter=-warnings%3E0",
        "&filter=label:none",
    ] {
        assert_eq!(counts(params).await.iter().sum::<u64>(), listed(params).await, "{params}");
    }
    assert_eq!(counts("&by=service").await.len(), 3);
}

#[tokio::test]
async fn places_have_their_runs_and_their_time() {
    let app = TestApp::new().await;
    five(&app).await;
    let places = get(&app, "/api/places").await;
    let of = |places: &Value, field: &str| -> Vec<Value> {
        let told = places[field].as_array().expect("places").iter();
        told.map(|one| json!([one["value"], one["runs"], one["running"], one["failed"]])).collect()
    };
    assert_eq!(
        of(&places, "service"),
        [json!(["orders-etl", 3, 0, 1]), json!(["web", 1, 0, 0]), json!([null, 1, 1, 0])]
    );
    assert_eq!(of(&places, "environment")[0], json!(["prod", 3, 0, 1]));
    assert_eq!(places["host"][1]["total_wall_ms"], 1.5);
    let failed = get(&app, "/api/places?status=failed&host=worker-1").await;
    assert_eq!(of(&failed, "host"), [json!(["worker-1", 1, 0, 1])]);
    assert_eq!(get(&app, "/api/places?label=unknown").await["host"], json!([]));
}

#[tokio::test]
async fn places_have_their_cpu_time_its_price_and_their_bytes() {
    let file = r#"
        [[owners]]
        label = "**"
        owner = "data"
        [[owners]]
        label = "nightly"
        owner = "ops"
        [[owners]]
        path = "**"
        owner = "somebody"
        [cost]
        per_core_hour = 0.05
        currency = "EUR"
    "#;
    let config = Config::parse(file, Secrets::Read).expect("a file");
    let app = Setup::with(|settings| settings.delivery = Some(Arc::new(config))).start().await;
    five(&app).await;
    let more = [
        finished(
            5,
            6,
            told("nightly", "p3", NOW_NS, json!({"cpu_ms": 1.024, "query_metrics": {"bytes_read": 3_001}})),
        ),
        finished(
            6,
            7,
            told(
                "nightly",
                "p4",
                NOW_NS,
                json!({"cpu_ms": 0.0, "failed": "boom", "query_metrics": {"bytes_read": 0}}),
            ),
        ),
        finished(7, 8, json!({"started_unix_ns": NOW_NS, "wall_ms": 1.0})),
    ];
    app.store(batch(1, more)).await;
    let places = get(&app, "/api/places").await;
    let of = |places: &Value, field: &str| -> Vec<Value> {
        let told = places[field].as_array().expect("places").iter();
        told.map(|one| json!([one["value"], one["runs"], one["total_cpu_ms"], one["cpu_runs"]])).collect()
    };
    assert_eq!(
        of(&places, "owner"),
        [json!(["data", 4, null, 0]), json!(["ops", 3, 1.024, 2]), json!([null, 1, null, 0])]
    );
    assert_eq!(of(&places, "service")[0], json!(["orders-etl", 6, 1.024, 2]));
    // Of each run they are rounded to 11 binary digits.
    let bytes = |place: &Value| json!([place["total_bytes_read"], place["bytes_read_runs"]]);
    assert_eq!(bytes(&places["owner"][0]), json!([null, 0]));
    assert_eq!(bytes(&places["owner"][1]), json!([3_002, 2]));
    assert_eq!(bytes(&places["host"][0]), json!([3_002, 2]));
    assert_eq!(places["price"], json!({"per_core_hour": 0.05, "currency": "EUR"}));
    // Of each run it is rounded to 11 binary digits of nanoseconds.
    app.store(batch(1, [finished(8, 9, told("nightly", "p3", NOW_NS, json!({"cpu_ms": 4_001.0})))])).await;
    let of_one = get(&app, "/api/places?label=nightly&fingerprint=p3").await;
    assert_eq!(of_one["owner"][0]["total_cpu_ms"], 4_002.390_016);

    let app = app.restarted_with(|settings| settings.delivery = None).await;
    let places = get(&app, "/api/places").await;
    assert_eq!((&places["owner"], &places["price"]), (&json!([]), &Value::Null));
    assert_eq!(of(&places, "host")[0], json!(["worker-1", 7, 4_002.390_016, 3]));
    let of_paths = Config::parse("[[owners]]\npath = \"**\"\nowner = \"x\"", Secrets::Read).expect("a file");
    let app = app.restarted_with(|settings| settings.delivery = Some(Arc::new(of_paths))).await;
    assert_eq!(get(&app, "/api/places").await["owner"], json!([]));
}

/// Twenty runs of a query, one a minute; those on the second host take three times as long.
async fn two_hosts(app: &TestApp) {
    for (stream, host, wall_ms) in [(1_u64, "worker-1", 100.0), (2, "worker-2", 300.0)] {
        let runs = (0..10_u64).map(|at| {
            let number = stream * 100 + at;
            let started = NOW_NS - (at.cast_signed() + 1) * 2 * MINUTE_NS;
            let members = json!({"wall_ms": wall_ms + at as f64});
            finished(at + 2, number, told("report", "p1", started, members))
        });
        let lines: String = runs.map(|line| line + "\n").collect();
        let process = process_with(stream, json!({"service": "etl", "host": host, "environment": "prod"}));
        app.store(format!("{process}\n{lines}")).await;
    }
}

#[tokio::test]
async fn slow_runs_have_their_host_in_common() {
    let app = TestApp::new().await;
    let _jobs = app.start_jobs();
    two_hosts(&app).await;
    app.until_all_evaluated().await;
    let told = get(&app, "/api/differences?label=report&service=etl").await;
    assert_eq!(
        (&told["known_runs"], &told["first"]["runs"], &told["second"]["runs"]),
        (&json!(20), &json!(10), &json!(10))
    );
    let first = &told["differences"][0];
    assert_eq!(
        (&first["name"], &first["value"], &first["delta"]),
        (&json!("host"), &json!("worker-2"), &json!(1.0))
    );
    assert_eq!((&first["first_runs"], &first["second_runs"]), (&json!(10), &json!(0)));
    assert!(first["probability"].as_f64().expect("a probability") < 1e-3, "{first}");
    // Nothing is said of fewer than five, of another host, or of a query that is not there.
    for params in
        [format!("label=report&service=etl&since={}", NOW_NS - 9 * MINUTE_NS), "label=x&service=".into()]
    {
        let told = get(&app, &format!("/api/differences?{params}")).await;
        assert_eq!((&told["differences"], &told["delta"]), (&json!([]), &Value::Null), "{params}");
    }
    // One time against another: the same hosts ran in both.
    let middle = NOW_NS - 11 * MINUTE_NS;
    let params = format!("label=report&service=etl&since={middle}&base_since={}", NOW_NS - DAY_NS);
    let two = get(&app, &format!("/api/differences?{params}")).await;
    assert_eq!(
        (&two["first"]["runs"], &two["second"]["runs"], &two["differences"]),
        (&json!(10), &json!(10), &json!([]))
    );
    assert!(two["probability"].as_f64().expect("a probability") > 0.05, "{two}");
    // The service says whether they are slower; of slow runs, which were chosen by their time, it does not.
    assert_eq!((&two["judgement"], &told["judgement"]), (&json!("alike"), &Value::Null));
}

#[tokio::test]
async fn failed_runs_have_their_host_in_common() {
    let app = TestApp::new().await;
    let _jobs = app.start_jobs();
    for (stream, host, failed) in [
        (1_u64, "worker-1", Value::Null),
        (2, "worker-2", json!("disk full")),
        (3, "worker-3", json!("cancelled")),
    ] {
        let runs = (0..6_u64).map(|at| {
            let started = NOW_NS - (at.cast_signed() + 1) * 2 * MINUTE_NS;
            finished(at + 2, stream * 100 + at, told("report", "p1", started, json!({"failed": failed})))
        });
        let lines: String = runs.map(|line| line + "\n").collect();
        app.store(format!("{}\n{lines}", process_with(stream, json!({"service": "etl", "host": host}))))
            .await;
    }
    app.until_all_evaluated().await;
    let told = get(&app, "/api/differences?label=report&service=etl&first=failed").await;
    assert_eq!(
        (&told["known_runs"], &told["first"]["runs"], &told["second"]["runs"]),
        (&json!(18), &json!(6), &json!(6)),
        "cancelled runs are in neither group"
    );
    let [host] = &told["differences"].as_array().expect("differences")[..] else { panic!("{told}") };
    assert_eq!(
        (&host["name"], &host["value"], &host["first_runs"]),
        (&json!("host"), &json!("worker-2"), &json!(6))
    );
    assert_eq!((&told["delta"], &told["judgement"]), (&Value::Null, &Value::Null), "their times say nothing");
}

#[tokio::test]
async fn nothing_is_told_of_runs_that_were_not_evaluated() {
    let app = TestApp::new().await;
    app.store(batch(1, [finished(2, 1, told("daily", "p1", NOW_NS, json!({})))])).await;
    let told = get(&app, "/api/differences?label=daily&service=").await;
    assert_eq!((&told["known_runs"], &told["runs_min"]), (&json!(0), &json!(5)));
}
