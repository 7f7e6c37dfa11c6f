//! Filters reach each of them.

use super::{entries, five, get};
use crate::app::TestApp;
use crate::events::{DAY_NS, NOW_NS, SECOND_NS};

#[tokio::test]
async fn filters_reach_groups() {
    let app = TestApp::new().await;
    five(&app).await;
    for (params, expected) in [
        // Groups whose last query started at one time stand by key.
        ("", &["daily 4", "nightly 1"][..]),
        ("by=label&project=default", &["daily 3", "nightly 1"]),
        ("project=etl", &["daily 1"]),
        ("by=fingerprint", &["p1 3", "p3 1", "p2 1"]),
        ("by=fingerprint&label=daily&status=finished", &["p1 2", "p2 1"]),
        ("fingerprint=p2", &["daily 1"]),
        ("service=orders-etl&status=failed", &["daily 1"]),
        ("service=", &["nightly 1"]),
        ("environment=", &["nightly 1"]),
        ("environment=prod&host=worker-1", &["daily 3"]),
        ("host=worker-2", &["nightly 1"]),
        ("label=", &[]),
        ("status=running", &["nightly 1"]),
    ] {
        let groups = get(&app, &format!("/api/groups?{params}")).await;
        assert_eq!(entries(&groups, "key"), expected, "{params}");
    }
    for (since, until, expected) in
        [(0, NOW_NS - DAY_NS, &["daily 1"][..]), (NOW_NS, NOW_NS, &["daily 1", "nightly 1"])]
    {
        let groups = get(&app, &format!("/api/groups?since={since}&until={until}")).await;
        assert_eq!(entries(&groups, "key"), expected, "{since} to {until}");
    }
}

#[tokio::test]
async fn filters_reach_facets() {
    let app = TestApp::new().await;
    five(&app).await;
    for (params, service, status) in [
        ("project=etl", &["web 1"][..], &["finished 1"][..]),
        ("label=nightly", &["- 1"], &["running 1"]),
        ("fingerprint=p2", &["orders-etl 1", "- 0", "web 0"], &["finished 1", "failed 0", "running 0"]),
        ("service=", &["orders-etl 3", "- 1", "web 1"], &["running 1", "failed 0", "finished 0"]),
        ("environment=test", &["web 1", "- 0", "orders-etl 0"], &["finished 1", "failed 0", "running 0"]),
        ("host=worker-2", &["- 1", "orders-etl 0", "web 0"], &["running 1", "failed 0", "finished 0"]),
        ("status=failed", &["orders-etl 1", "- 0", "web 0"], &["finished 3", "failed 1", "running 1"]),
    ] {
        let facets = get(&app, &format!("/api/facets?{params}")).await;
        assert_eq!(entries(&facets["service"], "value"), service, "{params}");
        assert_eq!(entries(&facets["status"], "value"), status, "{params}");
    }
    let old = get(&app, &format!("/api/facets?since=0&until={}", NOW_NS - DAY_NS)).await;
    assert_eq!(entries(&old["host"], "value"), ["worker-1 1"]);
}

#[tokio::test]
async fn filters_reach_versions() {
    let app = TestApp::new().await;
    five(&app).await;
    for (params, expected) in [
        ("label=daily", &["p1 3", "p2 1"][..]),
        ("label=nightly", &[]),
        ("label=", &[]),
        ("label=daily&project=default", &["p1 2", "p2 1"]),
        ("label=daily&project=nobody", &[]),
        ("label=daily&service=web", &["p1 1"]),
        ("label=daily&environment=prod&host=worker-1", &["p1 2", "p2 1"]),
        ("label=daily&status=failed", &[]),
        ("label=daily&fingerprint=p2", &["p2 1"]),
    ] {
        let versions = get(&app, &format!("/api/versions?{params}")).await;
        assert_eq!(entries(&versions, "fingerprint"), expected, "{params}");
    }
    let recent = get(&app, &format!("/api/versions?label=daily&since={}", NOW_NS - SECOND_NS)).await;
    assert_eq!(entries(&recent, "fingerprint"), ["p1 2"]);
    let old = get(&app, &format!("/api/versions?label=daily&until={}", NOW_NS - DAY_NS)).await;
    assert_eq!(entries(&old, "fingerprint"), ["p2 1"]);
}

#[tokio::test]
async fn filters_reach_the_overview() {
    let app = TestApp::new().await;
    five(&app).await;
    for (params, expected) in [
        ("", &["daily 4", "nightly 1"][..]),
        ("project=etl", &["daily 1"]),
        ("label=nightly", &["nightly 1"]),
        ("label=", &[]),
        ("service=orders-etl", &["daily 3"]),
        ("service=", &["nightly 1"]),
        ("environment=test", &["daily 1"]),
        ("environment=", &["nightly 1"]),
        ("host=worker-1", &["daily 3"]),
        ("host=worker-1&service=web", &[]),
    ] {
        let overview = get(&app, &format!("/api/overview?{params}")).await;
        assert_eq!(entries(&overview["queries"], "label"), expected, "{params}");
    }
}
