//! Parameters.

use serde_json::json;

use super::{entries, five, get, told};
use crate::app::TestApp;
use crate::events::{DAY_NS, NOW_NS, SECOND_NS, batch, finished};

#[tokio::test]
async fn an_overview_covers_the_days_asked_for() {
    let app = TestApp::new().await;
    five(&app).await;
    let midnight = NOW_NS / DAY_NS * DAY_NS;
    let hour = DAY_NS / 24;
    for (params, days, first_day) in [
        ("", 14, midnight - 14 * DAY_NS),
        ("days=1", 1, midnight - DAY_NS),
        ("days=90&utc_offset=0", 90, midnight - 90 * DAY_NS),
        // At 20:31 in UTC it is 22:31 there.
        ("days=2&utc_offset=120", 2, midnight - 2 * DAY_NS - 2 * hour),
        // Four hours on it is the next day.
        ("days=2&utc_offset=240", 2, midnight - DAY_NS - 4 * hour),
        ("days=2&utc_offset=%2B240", 2, midnight - DAY_NS - 4 * hour),
        ("days=2&utc_offset=-480", 2, midnight - 2 * DAY_NS + 8 * hour),
        ("days=2&utc_offset=1440", 2, midnight - 2 * DAY_NS),
        ("days=2&utc_offset=-1440", 2, midnight - 2 * DAY_NS),
    ] {
        let overview = get(&app, &format!("/api/overview?{params}")).await;
        assert_eq!(overview["now_unix_ns"], NOW_NS, "{params}");
        assert_eq!(overview["since_unix_ns"], NOW_NS - days * DAY_NS, "{params}");
        let expected: Vec<i64> = (0..=days).map(|day| first_day + day * DAY_NS).collect();
        assert_eq!(overview["days"], json!(expected), "{params}");
        for query in overview["queries"].as_array().expect("an array") {
            assert_eq!(query["days"].as_array().map(Vec::len), Some(expected.len()), "{params}");
            assert_eq!(query["bins"].as_array().map(|bins| bins.len() as i64), Some(4 * days), "{params}");
        }
        assert_eq!(entries(&overview["queries"], "label"), ["daily 4", "nightly 1"], "{params}");
    }
}

#[tokio::test]
async fn an_invalid_value_is_400_and_says_what_is_allowed() {
    let app = TestApp::new().await;
    let (days, offset) = ("a whole number from 1 to 90", "minutes from -1440 to 1440");
    for (path, parameter, takes) in [
        ("/api/overview?days=0", "days", days),
        ("/api/overview?days=91", "days", days),
        ("/api/overview?days=x", "days", days),
        ("/api/overview?days=", "days", days),
        ("/api/overview?days=1.5", "days", days),
        ("/api/overview?days=-1", "days", days),
        ("/api/overview?days=4294967297", "days", days),
        ("/api/overview?utc_offset=1441", "utc_offset", offset),
        ("/api/overview?utc_offset=-1441", "utc_offset", offset),
        ("/api/overview?utc_offset=CET", "utc_offset", offset),
        ("/api/overview?utc_offset=+60", "utc_offset", offset),
        ("/api/overview?order=label", "order", "time or news"),
        ("/api/overview?split=label", "split", "service"),
        ("/api/overview?limit=0", "limit", "a whole number from 1 to 1000"),
        ("/api/groups?limit=1001", "limit", "a whole number from 1 to 1000"),
        ("/api/groups?by=x", "by", "label or fingerprint"),
        ("/api/groups?by=", "by", "label or fingerprint"),
        ("/api/groups?by=Label", "by", "label or fingerprint"),
        ("/api/groups?status=done", "status", "running, finished, failed or unfinished"),
        ("/api/facets?since=now", "since", "a time in Unix nanoseconds"),
        ("/api/versions?label=daily&until=1.5", "until", "a time in Unix nanoseconds"),
        ("/api/versions", "label", "needed"),
        ("/api/versions?labels=daily", "label", "needed"),
    ] {
        let answer = app.get(path).await;
        assert_eq!(answer.status, 400, "{path}: {answer:?}");
        let error = answer.error();
        assert!(error.starts_with(&format!("{parameter}: ")) && error.contains(takes), "{path}: {error}");
    }
}

#[tokio::test]
async fn a_parameter_given_twice_is_400() {
    let app = TestApp::new().await;
    let common =
        ["project", "label", "fingerprint", "service", "environment", "host", "status", "since", "until"];
    let of_overview = [
        "days",
        "utc_offset",
        "project",
        "label",
        "service",
        "environment",
        "host",
        "order",
        "split",
        "limit",
        "cursor",
    ];
    let endpoints = [
        ("/api/facets", &common[..]),
        ("/api/groups", &common),
        ("/api/groups", &["by", "limit", "cursor"]),
        ("/api/versions", &common),
        ("/api/overview", &of_overview),
    ];
    for (path, names) in endpoints {
        for name in names {
            let answer = app.get(&format!("{path}?{name}=1&x=y&{name}=1")).await;
            assert_eq!(answer.status, 400, "{path} {name}: {answer:?}");
            assert_eq!(answer.error(), format!("{name}: given twice, once is allowed"), "{path}");
        }
    }
}

#[tokio::test]
async fn what_an_endpoint_does_not_take_is_ignored() {
    let app = TestApp::new().await;
    five(&app).await;
    for (path, ignored) in [
        ("/api/facets", "by=x&days=0&q=nothing&limit=0&cursor=x"),
        ("/api/groups", "days=0&q=nothing&order=up"),
        ("/api/versions?label=daily", "by=x&days=0&q=nothing"),
        ("/api/overview?days=1", "status=done&fingerprint=p2&by=x&status=failed"),
    ] {
        let join = if path.contains('?') { '&' } else { '?' };
        assert_eq!(get(&app, &format!("{path}{join}{ignored}")).await, get(&app, path).await, "{path}");
    }
}

#[tokio::test]
async fn a_sender_whose_clock_is_ahead_is_in_the_overview() {
    let app = TestApp::new().await;
    let ahead_by = [5 * SECOND_NS, 3_600 * SECOND_NS, 8 * 3_600 * SECOND_NS, DAY_NS, DAY_NS + 1];
    for (n, ahead_ns) in (1..).zip(ahead_by) {
        app.store(batch(
            1,
            [finished(n + 1, n, told(&format!("by {ahead_ns}"), "p1", NOW_NS + ahead_ns, json!({})))],
        ))
        .await;
    }
    let overview = get(&app, "/api/overview").await;
    let mut expected: Vec<_> = ahead_by[..4].iter().map(|ahead_ns| format!("by {ahead_ns} 1")).collect();
    let mut seen = entries(&overview["queries"], "label");
    expected.sort();
    seen.sort();
    assert_eq!(seen, expected);
    for query in overview["queries"].as_array().expect("an array") {
        let last = |name: &str| query[name].as_array().expect("an array").last().cloned();
        assert_eq!((&query["recent_runs"], last("bins")), (&json!(1), Some(json!(1500.5))), "{query}");
        assert_eq!(last("days").map(|day| day["runs"].clone()), Some(json!(1)));
    }
}
