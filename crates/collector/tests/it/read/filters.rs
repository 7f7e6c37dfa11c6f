//! Which queries a list keeps.

use serde_json::{Value, json};

use crate::app::{OTHER_TOKEN, TestApp};
use crate::events::{NOW_NS, SECOND_NS, batch, finished, process_with, progress, query, started};

/// Six queries that differ in every field a filter asks for; the n-th started n seconds late.
async fn population() -> TestApp {
    let app = TestApp::new().await;
    let member = |n: u64, members: Value| {
        let mut members = members;
        members["started_unix_ns"] = json!(NOW_NS + n as i64 * SECOND_NS);
        members
    };
    let one = [
        finished(2, 1, member(1, json!({"label": "daily/orders", "fingerprint": "aaa"}))),
        finished(
            3,
            2,
            member(2, json!({"label": "daily/orders", "fingerprint": "bbb", "failed": "Disk FULL: quota"})),
        ),
        finished(4, 3, member(3, json!({"fingerprint": "aaa"}))),
        started(5, 4, member(4, json!({"label": "Größe & mehr"}))),
    ];
    app.store(batch(1, one)).await;
    let nameless = process_with(2, json!({"service": null, "environment": null, "host": "worker-2"}));
    app.store(format!(
        "{nameless}\n{}\n",
        finished(2, 5, member(5, json!({"label": "", "fingerprint": "bbb"})))
    ))
    .await;
    let other = process_with(3, json!({"service": "reports", "environment": "test"}));
    let other = format!("{other}\n{}\n", finished(2, 6, member(6, json!({"label": "daily/orders"}))));
    assert_eq!(app.post_as(OTHER_TOKEN, other).await.status, 202);
    app
}

async fn check(app: &TestApp, params: &str, expected: &[u64]) {
    let expected: Vec<String> = expected.iter().rev().map(|n| query(*n)).collect();
    assert_eq!(app.ids(params).await, expected, "{params}");
}

#[tokio::test]
async fn every_filter_keeps_what_it_names() {
    let app = population().await;
    let at = |n: i64| NOW_NS + n * SECOND_NS;
    for (params, expected) in [
        ("", &[1, 2, 3, 4, 5, 6][..]),
        ("project=default", &[1, 2, 3, 4, 5]),
        ("project=etl", &[6]),
        ("project=nobody", &[]),
        ("project=", &[]),
        ("label=daily/orders", &[1, 2, 6]),
        ("label=daily%2Forders", &[1, 2, 6]),
        ("label=Gr%C3%B6%C3%9Fe+%26%20mehr", &[4]),
        ("label=daily", &[]),
        ("label=DAILY/orders", &[]),
        ("fingerprint=aaa", &[1, 3]),
        ("service=orders-etl", &[1, 2, 3, 4]),
        ("service=reports", &[6]),
        ("environment=prod", &[1, 2, 3, 4]),
        ("environment=test", &[6]),
        ("host=worker-1", &[1, 2, 3, 4, 6]),
        ("host=worker-2", &[5]),
        ("host=", &[]),
        ("status=finished", &[1, 3, 5, 6]),
        ("status=failed", &[2]),
        ("status=running", &[4]),
        ("status=unfinished", &[]),
        (&format!("since={}", at(3)), &[3, 4, 5, 6]),
        (&format!("since={}", at(3) + 1), &[4, 5, 6]),
        (&format!("until={}", at(3)), &[1, 2, 3]),
        (&format!("until={}", at(3) - 1), &[1, 2]),
        (&format!("since={}&until={}", at(3), at(3)), &[3]),
        ("since=-9223372036854775808&until=9223372036854775807", &[1, 2, 3, 4, 5, 6]),
    ] {
        check(&app, params, expected).await;
    }
}

#[tokio::test]
async fn an_empty_value_keeps_queries_without_the_field() {
    let app = population().await;
    for (params, expected) in [
        ("service=", &[5][..]),
        ("environment=", &[5]),
        ("label=", &[3, 5]),
        ("fingerprint=", &[4, 6]),
        ("label=&fingerprint=aaa", &[3]),
    ] {
        check(&app, params, expected).await;
    }
}

#[tokio::test]
async fn filters_join() {
    let app = population().await;
    for (params, expected) in [
        ("label=daily/orders&status=finished", &[1, 6][..]),
        ("label=daily/orders&status=finished&project=default", &[1]),
        ("fingerprint=bbb&service=", &[5]),
        ("service=reports&environment=prod", &[]),
        ("q=orders&status=failed", &[2]),
        ("q=orders&project=etl&host=worker-1", &[6]),
    ] {
        check(&app, params, expected).await;
    }
}

#[tokio::test]
async fn q_searches_labels_errors_and_ids() {
    let app = population().await;
    let whole = format!("q={}", query(5));
    let upper = format!("q={}", query(5).to_uppercase());
    for (params, expected) in [
        ("q=orders", &[1, 2, 6][..]),
        ("q=ORDERS", &[1, 2, 6]),
        ("q=gr%C3%B6%C3%9F", &[4]),
        ("q=%26+mehr", &[4]),
        ("q=disk+full", &[2]),
        ("q=quota", &[2]),
        ("q=000000000003", &[3]),
        (whole.as_str(), &[5]),
        (upper.as_str(), &[5]),
        ("q=%25", &[]),
        ("q=_", &[]),
        ("q=aaa", &[]),
        ("q=worker-1", &[]),
        ("q=", &[1, 2, 3, 4, 5, 6]),
    ] {
        check(&app, params, expected).await;
    }
}

#[tokio::test]
async fn another_project_is_not_to_be_seen_under_a_projects_filter() {
    let app = population().await;
    app.store(batch(1, [progress(9, 4)])).await;
    let one = |n: u64, end: &str, project: &str| format!("/api/queries/{}{end}?project={project}", query(n));
    for end in ["", "/recording"] {
        assert_eq!(app.get(&one(6, end, "etl")).await.status, 200);
        assert_eq!(app.get(&one(6, end, "default")).await.status, 404);
        assert_eq!(app.get(&one(1, end, "etl")).await.status, 404);
        assert_eq!(app.get(&one(1, end, "etl&project=default")).await.status, 400);
    }
}

#[tokio::test]
async fn a_filter_in_words_and_its_mistakes() {
    let app = TestApp::new().await;
    let run = |n: u64, members| finished(n + 1, n, members);
    app.store(batch(
        1,
        [
            run(1, json!({"label": "orders/daily", "wall_ms": 12_000, "result_rows": 5})),
            run(
                2,
                json!({"label": "orders/hourly", "wall_ms": 200, "result_rows": 2_000_000,
                "query_metrics": {"bytes_read": 11_000_000_000_u64, "spilled_bytes": 0}}),
            ),
            run(3, json!({"label": "users", "wall_ms": 15_000, "failed": "read timeout"})),
        ],
    ))
    .await;
    let path = |filter: &str| {
        format!("/api/queries?filter={}", filter.replace('<', "%3C").replace('>', "%3E").replace(' ', "+"))
    };
    for (filter, expected) in [
        ("wall>10s", &[1, 3][..]),
        ("wall>10s label:orders/*", &[1]),
        ("rows>1M", &[2]),
        ("read>10GB read<11GiB", &[2]),
        ("-read>10GB", &[1, 3]),
        ("spilled>0", &[]),
        ("spilled=0", &[2]),
        ("error~TIMEOUT", &[3]),
        ("-error~timeout", &[1, 2]),
        ("status:failed", &[3]),
        ("timeout", &[3]),
        ("orders -hourly", &[1]),
        ("", &[1, 2, 3]),
    ] {
        let answer = app.get(&path(filter)).await;
        assert_eq!(answer.status, 200, "{filter}: {answer:?}");
        let mut found = app.ids(path(filter).split_once('?').expect("parameters").1).await;
        found.sort();
        assert_eq!(found, expected.iter().map(|n| query(*n)).collect::<Vec<_>>(), "{filter}");
    }
    let refused = app.get(&path("label:x wall>10")).await;
    assert_eq!(refused.status, 400);
    assert_eq!(
        refused.json()["error"],
        "filter: at character 14: \"10\" is not a duration such as 500ms, 10s, 2m, 1.5h or 1d"
    );
}
