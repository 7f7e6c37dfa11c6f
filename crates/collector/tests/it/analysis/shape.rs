//! What they say, and in which form.

use std::time::Duration;

use serde_json::{Value, json};

use super::{entries, five, get, told, warns};
use crate::app::TestApp;
use crate::events::{DAY_NS, NOW_NS, SECOND_NS, batch, finished};
use crate::faulty::Fault;

const ENDPOINTS: [&str; 4] =
    ["/api/facets", "/api/groups", "/api/versions?label=daily", "/api/overview?days=1"];

#[tokio::test]
async fn facets_count_six_fields() {
    let app = TestApp::new().await;
    five(&app).await;
    insta::assert_json_snapshot!(get(&app, "/api/facets?service=orders-etl").await, @r#"
    {
      "cancelled": 0,
      "engine_version": [
        {
          "runs": 3,
          "value": null
        }
      ],
      "environment": [
        {
          "runs": 3,
          "value": "prod"
        },
        {
          "runs": 0,
          "value": null
        },
        {
          "runs": 0,
          "value": "test"
        }
      ],
      "host": [
        {
          "runs": 3,
          "value": "worker-1"
        },
        {
          "runs": 0,
          "value": "worker-2"
        },
        {
          "runs": 0,
          "value": "worker-3"
        }
      ],
      "program_version": [
        {
          "runs": 3,
          "value": null
        }
      ],
      "service": [
        {
          "runs": 3,
          "value": "orders-etl"
        },
        {
          "runs": 1,
          "value": null
        },
        {
          "runs": 1,
          "value": "web"
        }
      ],
      "status": [
        {
          "runs": 2,
          "value": "finished"
        },
        {
          "runs": 1,
          "value": "failed"
        },
        {
          "runs": 0,
          "value": "running"
        }
      ]
    }
    "#);
}

#[tokio::test]
async fn a_group_has_every_field() {
    let app = TestApp::new().await;
    five(&app).await;
    insta::assert_json_snapshot!(get(&app, "/api/groups").await, @r#"
    [
      {
        "cancelled": 0,
        "failed": 1,
        "key": "daily",
        "last_started_unix_ns": 1795206683609778763,
        "recent_wall_ms": [
          20.25,
          1.5,
          1500.5
        ],
        "rules": [
          "skew"
        ],
        "runs": 4,
        "total_wall_ms": 1522.25,
        "unfinished": 0,
        "usual_wall_ms": 20.25
      },
      {
        "cancelled": 0,
        "failed": 0,
        "key": "nightly",
        "last_started_unix_ns": 1795206683609778763,
        "recent_wall_ms": [],
        "rules": [],
        "runs": 1,
        "total_wall_ms": 0.0,
        "unfinished": 0,
        "usual_wall_ms": null
      }
    ]
    "#);
}

#[tokio::test]
async fn a_version_has_every_field() {
    let app = TestApp::new().await;
    five(&app).await;
    insta::assert_json_snapshot!(get(&app, "/api/versions?label=daily").await, @r#"
    [
      {
        "cancelled": 0,
        "failed": 1,
        "fingerprint": "p1",
        "first_started_unix_ns": 1795206681609778763,
        "last_started_unix_ns": 1795206683609778763,
        "latest_query_id": "e0000000-0000-4000-8000-000000000001",
        "rules": [
          "skew"
        ],
        "runs": 3,
        "unfinished": 0,
        "usual_wall_ms": 751.0
      },
      {
        "cancelled": 0,
        "failed": 0,
        "fingerprint": "p2",
        "first_started_unix_ns": 1795120283609778763,
        "last_started_unix_ns": 1795120283609778763,
        "latest_query_id": "e0000000-0000-4000-8000-000000000003",
        "rules": [],
        "runs": 1,
        "unfinished": 0,
        "usual_wall_ms": 20.25
      }
    ]
    "#);
}

#[tokio::test]
async fn an_overview_says_when_it_is_and_has_every_field() {
    let app = TestApp::new().await;
    five(&app).await;
    insta::assert_json_snapshot!(get(&app, "/api/overview?days=1").await, @r#"
    {
      "change_runs_min": 8,
      "days": [
        1795046400000000000,
        1795132800000000000
      ],
      "now_unix_ns": 1795206683609778763,
      "queries": [
        {
          "bins": [
            20.25,
            null,
            null,
            751.0
          ],
          "cancelled": 0,
          "change": null,
          "days": [
            {
              "cancelled": 0,
              "failed": 0,
              "median_wall_ms": 20.25,
              "runs": 1,
              "unfinished": 0
            },
            {
              "cancelled": 0,
              "failed": 1,
              "median_wall_ms": 751.0,
              "runs": 3,
              "unfinished": 0
            }
          ],
          "failed": 1,
          "failed_before": 0,
          "judged": false,
          "label": "daily",
          "new_rules": [],
          "plan_changed_unix_ns": null,
          "ratio": null,
          "recent_failed": 1,
          "recent_runs": 4,
          "recent_spread_ms": null,
          "recent_wall_ms": 20.25,
          "rules": [
            "skew"
          ],
          "runs": 4,
          "service": "orders-etl",
          "services": 2,
          "total_wall_ms": 1522.25,
          "unfinished": 0,
          "usual_band_ms": null,
          "usual_wall_ms": null,
          "verdict": null
        },
        {
          "bins": [
            null,
            null,
            null,
            null
          ],
          "cancelled": 0,
          "change": null,
          "days": [
            {
              "cancelled": 0,
              "failed": 0,
              "median_wall_ms": null,
              "runs": 0,
              "unfinished": 0
            },
            {
              "cancelled": 0,
              "failed": 0,
              "median_wall_ms": null,
              "runs": 1,
              "unfinished": 0
            }
          ],
          "failed": 0,
          "failed_before": 0,
          "judged": false,
          "label": "nightly",
          "new_rules": [],
          "plan_changed_unix_ns": null,
          "ratio": null,
          "recent_failed": 0,
          "recent_runs": 1,
          "recent_spread_ms": null,
          "recent_wall_ms": null,
          "rules": [],
          "runs": 1,
          "service": null,
          "services": 1,
          "total_wall_ms": 0.0,
          "unfinished": 0,
          "usual_band_ms": null,
          "usual_wall_ms": null,
          "verdict": null
        }
      ],
      "since_unix_ns": 1795120283609778763,
      "slice_ns": 21600000000000,
      "totals": {
        "cancelled": 0,
        "failed": 1,
        "faster": 0,
        "judged": 0,
        "labels": 2,
        "runs": 5,
        "slower": 0,
        "total_wall_ms": 1522.25,
        "unfinished": 0
      }
    }
    "#);
}

#[tokio::test]
async fn cancelled_runs_are_counted_among_the_failed_and_apart() {
    let app = TestApp::new().await;
    let ended = |n: u64, failed: Value| {
        finished(n + 1, n, told("daily", "p1", NOW_NS - n as i64, json!({"wall_ms": 100, "failed": failed})))
    };
    let errors = [json!(null), json!("KeyboardInterrupt"), json!("division by zero")];
    app.store(batch(1, (1..).zip(errors).map(|(n, error)| ended(n, error)))).await;
    for (path, at) in [
        ("/api/groups", "/0"),
        ("/api/versions?label=daily", "/0"),
        ("/api/overview", "/queries/0"),
        ("/api/overview", "/queries/0/days/14"),
        ("/api/overview", "/totals"),
        ("/api/places", "/host/0"),
        ("/api/series", "/groups/0/all"),
    ] {
        let answer = get(&app, path).await;
        let counted = answer.pointer(at).unwrap_or_else(|| panic!("{path} has no {at}: {answer}"));
        let counts = ["runs", "failed", "cancelled"].map(|count| counted[count].as_u64());
        assert_eq!(counts, [Some(3), Some(2), Some(1)], "{path}{at}");
    }
    let facets = get(&app, "/api/facets").await;
    assert_eq!(
        (&facets["status"][0], &facets["cancelled"]),
        (&json!({"value": "failed", "runs": 2}), &json!(1))
    );
    let failed = get(&app, "/api/queries?status=failed").await;
    assert_eq!(failed.as_array().map(Vec::len), Some(2), "a cancelled run has the status failed");
}

#[tokio::test]
async fn an_overview_says_what_changed() {
    let app = TestApp::new().await;
    let usual = (0..8_u32).map(|n| {
        let start = NOW_NS - 8 * DAY_NS - i64::from(n);
        finished(u64::from(n) + 2, u64::from(n) + 1, told("daily", "p1", start, json!({"wall_ms": 100 + n})))
    });
    app.store(batch(1, usual)).await;
    let lately = (0..3_u32).map(|n| {
        let mut members = warns("skew");
        members["wall_ms"] = json!(207);
        finished(u64::from(n) + 20, u64::from(n) + 20, told("daily", "p2", NOW_NS - i64::from(n), members))
    });
    app.store(batch(1, lately)).await;
    let overview = get(&app, "/api/overview").await;
    let daily = &overview["queries"][0];
    let fields = ["verdict", "ratio", "usual_wall_ms", "usual_band_ms", "recent_wall_ms", "new_rules"];
    let expected = json!(["slower", 2.0, 103.5, [101.75, 105.25], 207.0, ["skew"]]);
    assert_eq!(json!(fields.map(|field| &daily[field])), expected);
    assert_eq!(daily["plan_changed_unix_ns"], NOW_NS - 2);
    assert_eq!(daily["bins"].as_array().map(Vec::len), Some(14 * 4));
}

#[tokio::test]
async fn an_overview_moves_with_the_clock() {
    let app = TestApp::new().await;
    five(&app).await;
    app.clock.advance(Duration::from_secs(86_400 + 1));
    let overview = get(&app, "/api/overview?days=1").await;
    assert_eq!(overview["now_unix_ns"], NOW_NS + DAY_NS + SECOND_NS);
    assert_eq!(overview["queries"], json!([]));
    let overview = get(&app, "/api/overview?days=2").await;
    assert_eq!(entries(&overview["queries"], "label"), ["daily 3", "nightly 1"]);
}

#[tokio::test]
async fn they_answer_503_while_the_store_fails_and_head_at_all_times() {
    let app = TestApp::new().await;
    five(&app).await;
    for path in ENDPOINTS {
        let (get, head) = (app.get(path).await, app.call("HEAD", path).await);
        assert_eq!((head.status.as_u16(), head.body.len()), (200, 0), "{path}: {get:?}");
        assert_eq!(head.header("content-type"), Some("application/json"), "{path}");
        app.faults.set(Fault::Unavailable);
        let answer = app.get(path).await;
        assert_eq!(answer.status, 503, "{path}: {answer:?}");
        assert!(!answer.error().contains("secret"), "{path}: {answer:?}");
        app.faults.set(Fault::None);
        assert_eq!(app.get(path).await.body, get.body, "{path}");
    }
}
