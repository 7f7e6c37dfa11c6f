//! How a list is ordered and cut into pages.

use serde_json::{Value, json};

use crate::app::{Answer, TestApp};
use crate::events::{NOW_NS, batch, finished, query};

/// Stores queries in this order, each at a start of its own; two queries may start at once.
async fn add(app: &TestApp, stream: u64, queries: &[(u64, i64)]) {
    let events = queries
        .iter()
        .map(|(n, start)| finished(n + 1, *n, json!({"started_unix_ns": NOW_NS + start, "label": "daily"})));
    app.store(batch(stream, events)).await;
}

fn ids(numbers: &[u64]) -> Vec<String> {
    numbers.iter().map(|n| query(*n)).collect()
}

fn page_ids(answer: &Answer) -> Vec<String> {
    let page = answer.json();
    let page = page.as_array().expect("a bare array").iter();
    page.map(|summary| summary["query_id"].as_str().expect("an id").to_owned()).collect()
}

/// The address of the next page.
fn next(answer: &Answer) -> Option<String> {
    let link = answer.header("link")?;
    let address = link.strip_prefix('<').and_then(|link| link.strip_suffix(">; rel=\"next\""));
    Some(address.expect("a link to the next page").to_owned())
}

#[tokio::test]
async fn the_newest_start_comes_first_unless_asked_otherwise() {
    let app = TestApp::new().await;
    add(&app, 1, &[(1, 20), (2, -5), (3, 30), (4, 10)]).await;
    assert_eq!(app.ids("").await, ids(&[3, 1, 4, 2]));
    assert_eq!(app.ids("order=newest").await, ids(&[3, 1, 4, 2]));
    assert_eq!(app.ids("order=oldest").await, ids(&[2, 4, 1, 3]));
}

#[tokio::test]
async fn limit_and_offset_cut_a_page() {
    let app = TestApp::new().await;
    add(&app, 1, &[(1, 1), (2, 2), (3, 3), (4, 4)]).await;
    for (params, expected) in [
        ("limit=2", &[4, 3][..]),
        ("limit=2&offset=1", &[3, 2]),
        ("limit=2&offset=3", &[1]),
        ("offset=4", &[]),
        ("offset=9223372036854775807", &[]),
        ("order=oldest&limit=1&offset=1", &[2]),
        ("q=daily&limit=2&offset=1", &[3, 2]),
        ("q=daily&offset=4", &[]),
        ("q=daily&offset=9223372036854775807", &[]),
    ] {
        assert_eq!(app.ids(params).await, ids(expected), "{params}");
    }
}

#[tokio::test]
async fn a_page_holds_100_queries_and_up_to_1000_when_asked() {
    let app = TestApp::new().await;
    let queries: Vec<(u64, i64)> = (1..=1100).map(|n| (n, n as i64)).collect();
    add(&app, 1, &queries).await;
    assert_eq!(app.ids("").await.len(), 100);
    assert_eq!(app.ids("limit=1000").await.len(), 1000);
    assert_eq!(app.ids("limit=1000&offset=1000").await.len(), 100);
}

#[tokio::test]
async fn the_last_page_has_no_link() {
    let app = TestApp::new().await;
    add(&app, 1, &[(1, 1), (2, 2)]).await;
    for (params, more) in
        [("limit=1", true), ("limit=2", false), ("limit=1&offset=1", false), ("label=x", false), ("", false)]
    {
        assert_eq!(next(&app.get(&format!("/api/queries?{params}")).await).is_some(), more, "{params}");
    }
}

#[tokio::test]
async fn a_link_keeps_what_was_asked() {
    let app = TestApp::new().await;
    add(&app, 1, &[(1, 1), (2, 2), (3, 3), (4, 4)]).await;
    let first = app.get("/api/queries?label=daily&order=oldest&limit=1&offset=1&mood=good").await;
    let address = next(&first).expect("more follow");
    assert!(
        address.starts_with("/api/queries?label=daily&order=oldest&limit=1&mood=good&cursor="),
        "{address}"
    );
    assert_eq!(page_ids(&app.get(&address).await), ids(&[3]));
}

/// Walks a list page by page while new queries arrive, some of them newer, some older, some of the same start.
async fn check_walk(params: &str, backwards: bool) {
    let app = TestApp::new().await;
    let mut present: Vec<(u64, i64)> = (1..=23).map(|n| (n, 10 * (n as i64 / 3))).collect();
    add(&app, 1, &present).await;
    let mut address = Some(format!("/api/queries?limit=4&{params}"));
    let mut walked = Vec::new();
    let mut arriving = 100;
    while let Some(page) = address {
        let answer = app.get(&page).await;
        walked.extend(page_ids(&answer));
        address = next(&answer);
        add(&app, 2, &[(arriving, -7), (arriving + 1, 1000), (arriving + 2, 40)]).await;
        arriving += 10;
    }
    assert!(arriving > 150, "several pages");
    if backwards {
        present.reverse();
    }
    let old: Vec<String> =
        walked.iter().filter(|id| present.iter().any(|(n, _)| query(*n) == **id)).cloned().collect();
    assert_eq!(
        old,
        present.iter().map(|(n, _)| query(*n)).collect::<Vec<_>>(),
        "{params}: none skipped or repeated"
    );
    let mut once = walked.clone();
    once.sort();
    once.dedup();
    assert_eq!(once.len(), walked.len(), "{params}: none repeated");
}

#[tokio::test]
async fn following_links_skips_and_repeats_nothing_while_queries_arrive() {
    check_walk("", true).await;
    check_walk("q=daily", true).await;
    check_walk("status=finished&label=daily", true).await;
}

#[tokio::test]
async fn the_oldest_first_walk_ends_with_the_newest() {
    let app = TestApp::new().await;
    let present: Vec<(u64, i64)> = (1..=11).map(|n| (n, n as i64 / 3)).collect();
    add(&app, 1, &present).await;
    let mut address = Some("/api/queries?limit=3&order=oldest".to_owned());
    let mut walked = Vec::new();
    while let Some(page) = address {
        let answer = app.get(&page).await;
        walked.extend(page_ids(&answer));
        address = next(&answer);
        if walked.len() == 3 {
            add(&app, 2, &[(50, 60), (51, -60)]).await;
        }
    }
    assert_eq!(walked, ids(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 50]));
}

#[tokio::test]
async fn a_cursor_goes_on_after_a_query_that_is_gone() {
    let app = TestApp::new().await;
    add(&app, 1, &[(1, 1), (2, 2), (3, 3)]).await;
    let first = app.get("/api/queries?limit=1&order=oldest").await;
    app.store.delete_before(NOW_NS + 2, 10).await.expect("deleted");
    assert_eq!(page_ids(&app.get(&next(&first).expect("more")).await), ids(&[2]));
}

#[tokio::test]
async fn a_list_is_sorted_by_any_figure_and_paged_through() {
    let app = TestApp::new().await;
    let run = |n: u64, figures: [Option<u32>; 3], bytes: Value| {
        let [wall, cpu, rows] = figures;
        let started = NOW_NS + n as i64;
        finished(
            n + 1,
            n,
            json!({
                "started_unix_ns": started, "wall_ms": wall, "cpu_ms": cpu, "result_rows": rows,
                "query_metrics": bytes,
            }),
        )
    };
    let runs = [
        run(1, [Some(5), Some(1), None], json!({"bytes_read": 9, "spilled_bytes": 0})),
        run(2, [Some(9), None, Some(3)], json!(null)),
        run(3, [Some(5), Some(7), Some(3)], json!({"bytes_read": 9_000_000_000_u64, "peak_memory_bytes": 1})),
        run(
            4,
            [Some(1), Some(7), Some(8)],
            json!({"bytes_read": 0, "spilled_bytes": 4, "peak_memory_bytes": 2}),
        ),
    ];
    app.store(batch(1, runs)).await;
    for (params, expected) in [
        ("sort=wall", [2, 3, 1, 4]),
        ("sort=wall&order=asc", [4, 1, 3, 2]),
        ("sort=cpu&order=desc", [4, 3, 1, 2]),
        ("sort=cpu&order=asc", [1, 3, 4, 2]),
        ("sort=rows", [4, 3, 2, 1]),
        ("sort=rows&order=oldest", [2, 3, 4, 1]),
        ("sort=read", [3, 1, 4, 2]),
        ("sort=read&order=asc", [4, 1, 3, 2]),
        ("sort=spilled", [4, 1, 3, 2]),
        ("sort=spilled&order=asc", [1, 4, 2, 3]),
        ("sort=memory", [4, 3, 2, 1]),
        ("sort=memory&order=asc", [3, 4, 1, 2]),
        ("sort=warnings", [4, 3, 2, 1]),
        ("sort=started&order=asc", [1, 2, 3, 4]),
    ] {
        assert_eq!(app.ids(params).await, ids(&expected), "{params}");
        let (mut found, mut address) = (Vec::new(), Some(format!("/api/queries?{params}&limit=1")));
        while let Some(at) = address {
            let page = app.get(&at).await;
            found.extend(page_ids(&page));
            address = next(&page);
        }
        assert_eq!(found, ids(&expected), "{params}, page by page");
    }
    let first = app.get("/api/queries?sort=wall&limit=1").await;
    let cursor = next(&first).expect("more");
    let other = app.get(&cursor.replace("sort=wall", "sort=cpu")).await;
    assert_eq!(other.status, 400, "{other:?}");
}
