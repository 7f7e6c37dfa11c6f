//! Parts of groups and of the overview: pages, orders, and labels by service.

use axum::body::Body;
use axum::http::Request;
use serde_json::{Value, json};

use super::{NOW_NS, SECOND_NS, five, get, told};
use crate::app::{Answer, TestApp, with_header};
use crate::events::{batch, finished, joined, process_with};

/// The address of the next page.
fn next(answer: &Answer) -> Option<String> {
    let link = answer.header("link")?;
    Some(link.strip_prefix('<').and_then(|link| link.strip_suffix(">; rel=\"next\"")).expect(link).to_owned())
}

/// All pages from an address on.
async fn pages(app: &TestApp, first: &str) -> Vec<Value> {
    let (mut pages, mut at) = (Vec::new(), Some(first.to_owned()));
    while let Some(path) = at {
        let answer = app.get(&path).await;
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        at = next(&answer);
        pages.push(answer.json());
        assert!(pages.len() <= 50, "it does not end");
    }
    pages
}

/// Labels with one run each, of which each took longer than the one before; each in two services.
async fn seven(app: &TestApp) {
    for (stream, service) in [(4, "a"), (5, "b")] {
        let runs = (0..7_u32).map(|n| {
            let number = u64::from(n) + stream * 50;
            let members = json!({"wall_ms": 10 * (n / 2)});
            let start = NOW_NS - SECOND_NS * i64::from(n / 3);
            finished(u64::from(n) + 2, number, told(&format!("label {n}"), "p", start, members))
        });
        let process = process_with(stream, json!({"service": service}));
        app.store(format!("{process}\n{}\n", runs.collect::<Vec<_>>().join("\n"))).await;
    }
}

#[tokio::test]
async fn pages_together_are_the_whole() {
    let app = TestApp::new().await;
    seven(&app).await;
    for path in ["/api/groups?", "/api/groups?by=fingerprint&"] {
        let whole = get(&app, path.trim_end_matches(['?', '&'])).await;
        for limit in [1, 2, 3, 7, 1000] {
            let pages = pages(&app, &format!("{path}limit={limit}")).await;
            let entries: Vec<_> = pages.iter().flat_map(|page| page.as_array().expect("an array")).collect();
            assert_eq!(json!(entries), whole, "{path} {limit}");
        }
    }
    for params in ["", "split=service&", "order=news&", "order=news&split=service&"] {
        let whole = get(&app, &format!("/api/overview?{params}")).await;
        assert_eq!(
            whole["queries"].as_array().map(Vec::len),
            Some(if params.contains("split") { 14 } else { 7 })
        );
        for limit in [1, 2, 3, 7, 14, 1000] {
            let pages = pages(&app, &format!("/api/overview?{params}limit={limit}")).await;
            let entries = pages.iter().flat_map(|page| page["queries"].as_array().expect("an array"));
            assert_eq!(json!(entries.collect::<Vec<_>>()), whole["queries"], "{params} {limit}");
            assert!(pages.iter().all(|page| page["totals"] == whole["totals"]), "{params} {limit}");
        }
    }
}

#[tokio::test]
async fn all_pages_of_an_overview_are_of_one_range() {
    let app = TestApp::new().await;
    seven(&app).await;
    let first = app.get("/api/overview?limit=3&days=1").await;
    app.clock.advance(std::time::Duration::from_hours(120));
    let second = get(&app, &next(&first).expect("more follow")).await;
    assert_eq!(
        (&second["now_unix_ns"], second["queries"].as_array().map(Vec::len)),
        (&json!(NOW_NS), Some(3))
    );
}

#[tokio::test]
async fn a_cursor_of_another_answer_is_400() {
    let app = TestApp::new().await;
    seven(&app).await;
    let cursor = async |path: &str| {
        let next = next(&app.get(path).await).expect("more follow");
        next.rsplit_once("cursor=").expect("a cursor").1.to_owned()
    };
    let of_groups = cursor("/api/groups?limit=1").await;
    let of_overview = cursor("/api/overview?limit=1").await;
    for path in [
        format!("/api/overview?cursor={of_groups}"),
        format!("/api/overview?order=news&cursor={of_overview}"),
        format!("/api/overview?split=service&cursor={of_overview}"),
        format!("/api/groups?cursor={of_overview}"),
        format!("/api/groups?by=fingerprint&cursor={of_groups}"),
        "/api/groups?cursor=".into(),
        "/api/groups?cursor=AAAA".into(),
    ] {
        let answer = app.get(&path).await;
        assert_eq!(answer.status, 400, "{path}: {answer:?}");
        assert!(answer.error().starts_with("cursor: not one from the Link header"), "{path}: {answer:?}");
    }
}

#[tokio::test]
async fn news_come_first() {
    let app = TestApp::new().await;
    five(&app).await;
    let quiet = told("quiet", "p1", NOW_NS - SECOND_NS, json!({"wall_ms": 900_000}));
    app.store(batch(7, [finished(2, 70, quiet)])).await;
    let labels = async |params: &str| {
        let overview = get(&app, &format!("/api/overview?days=1{params}")).await;
        let entries = overview["queries"].as_array().expect("an array").iter();
        entries.map(|entry| entry["label"].as_str().expect("a label").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(labels("").await, ["quiet", "daily", "nightly"]);
    assert_eq!(labels("&order=time").await, ["quiet", "daily", "nightly"]);
    assert_eq!(labels("&order=news").await, ["daily", "quiet", "nightly"], "a run of daily failed");
    assert_eq!(labels("&order=news&limit=1").await, ["daily"]);
}

#[tokio::test]
async fn a_label_is_split_by_service() {
    let app = TestApp::new().await;
    seven(&app).await;
    let whole = get(&app, "/api/overview").await;
    let split = get(&app, "/api/overview?split=service").await;
    let told = |overview: &Value| {
        let entries = overview["queries"].as_array().expect("an array").iter().take(2);
        entries.map(|of| json!([of["label"], of["service"], of["services"], of["runs"]])).collect::<Vec<_>>()
    };
    assert_eq!(told(&whole)[0], json!(["label 6", "b", 2, 2]));
    assert_eq!(told(&split), [json!(["label 6", "a", 1, 1]), json!(["label 6", "b", 1, 1])]);
    let totals = |labels| {
        let none =
            json!({"failed": 0, "cancelled": 0, "unfinished": 0, "slower": 0, "faster": 0, "judged": 0});
        joined(none, json!({"labels": labels, "runs": 14, "total_wall_ms": 180.0}))
    };
    assert_eq!((&whole["totals"], &split["totals"]), (&totals(7), &totals(14)));
    assert_eq!(get(&app, "/api/overview?limit=1").await["totals"], totals(7));
}

#[tokio::test]
async fn an_answer_of_many_entries_comes_whole_and_keeps_its_tag() {
    let app = TestApp::new().await;
    for first in [0_u64, 1_000] {
        let runs = (0..1_000).map(|n| {
            let name = format!("label {}", first + n);
            let start = NOW_NS - i64::try_from(n).expect("small");
            finished(n + 2, first + n + 1_000, told(&name, "p", start, json!({"wall_ms": 5})))
        });
        app.store(batch(first + 1, runs)).await;
    }
    let overview = app.get("/api/overview?days=90").await;
    assert!(overview.body.len() > 4_000_000, "{}", overview.body.len());
    let overview = overview.json();
    assert_eq!(overview["queries"].as_array().map(Vec::len), Some(2_000));
    let groups = app.get("/api/groups").await;
    let tag = groups.header("etag").expect("a tag").to_owned();
    assert_eq!(groups.json().as_array().map(Vec::len), Some(2_000));
    let request = Request::get("/api/groups").header("host", "localhost").body(Body::empty()).expect("valid");
    let again = app.send(with_header(request, "if-none-match", &tag)).await;
    assert_eq!((again.status.as_u16(), again.body.len()), (304, 0));
}

#[tokio::test]
async fn totals_count_what_could_be_judged() {
    let app = TestApp::new().await;
    // So many runs before the last day, and so many on it: it takes 5 and 3 that finished.
    for (at, (label, before, lately, failed)) in [
        ("judged", 5, 3, 0),
        ("few before", 4, 3, 0),
        ("few lately", 9, 0, 2),
        ("failing", 9, 2, 1),
        ("new", 0, 9, 0),
    ]
    .into_iter()
    .enumerate()
    {
        let ago = |days: i64, n: i64| NOW_NS - days * 86_400 * SECOND_NS - n * SECOND_NS;
        let starts = (0..before).map(|n| ago(3, n)).chain((0..lately + failed).map(|n| ago(0, n)));
        let runs = starts.enumerate().map(|(n, start)| {
            let ended = if n < (before + lately) as usize { Value::Null } else { json!("boom") };
            let number = at as u64 * 50 + n as u64;
            finished(
                n as u64 + 2,
                number,
                told(label, "p", start, json!({"wall_ms": 100 + n, "failed": ended})),
            )
        });
        app.store(batch(at as u64 + 10, runs)).await;
    }
    for params in ["", "?split=service", "?limit=1", "?split=service&order=news&limit=2"] {
        let overview = get(&app, &format!("/api/overview{params}")).await;
        assert_eq!(
            (&overview["totals"]["labels"], &overview["totals"]["judged"]),
            (&json!(5), &json!(1)),
            "{params}"
        );
    }
    let overview = get(&app, "/api/overview").await;
    let entries = overview["queries"].as_array().expect("an array");
    let judged: Vec<_> = entries.iter().filter(|of| of["judged"] == true).map(|of| &of["label"]).collect();
    assert_eq!(judged, ["judged"]);
    assert!(entries.iter().all(|of| of["judged"].is_boolean()));
}
