//! Input that grows is an issue, until it has shrunk again.

use queryscope_diagnosis::Quantity;
use queryscope_histories::{Noise, Poster, Spec, generate};
use queryscope_protocol::QueryId;
use serde_json::json;
use uuid::Uuid;

use super::{detail, history, issues};
use crate::app::TestApp;
use crate::events::{NOW_NS, SECOND_NS};

const MINUTE_NS: i64 = 60 * SECOND_NS;
const RUNS_MAX: i64 = 1_000;

/// Runs of a query over input of some size, twenty minutes apart. Their time is in proportion to their rows, and
/// differs by 3 % besides.
struct Runs {
    poster: Poster,
    made: i64,
}

impl Runs {
    async fn post(&mut self, app: &TestApp, sizes: impl IntoIterator<Item = f64>) {
        let spec = Spec { seed: 1, noise: Noise::Plain, change: None, young: true };
        let first = generate(spec).runs.swap_remove(0);
        for size in sizes {
            let mut run = first.clone();
            let times = |value: Quantity, by: f64| {
                value.get().map_or(Quantity::NONE, |value| Quantity::new((value as f64 * by) as u64))
            };
            let wobble = 1.0 + 0.03 * ((self.made * 7 % 11) as f64 / 5.0 - 1.0) + self.made as f64 * 1e-6;
            for node in &mut run.nodes {
                for rows in [&mut node.rows_in, &mut node.rows_out, &mut node.rows_scanned] {
                    *rows = times(*rows, size);
                }
                node.busy_ns = times(node.busy_ns, size * wobble);
            }
            run.wall_ns = (1e9 * size * wobble) as u64;
            run.cpu_ns = Some(run.wall_ns / 10 * 9);
            run.started_unix_ns = NOW_NS - (RUNS_MAX - self.made) * 20 * MINUTE_NS;
            run.query_id = QueryId::new(Uuid::from_u128((0x9e37 << 112) + self.made as u128));
            run.sum_up();
            self.made += 1;
            app.store(self.poster.ended("grows", &run)).await;
        }
        app.until_all_evaluated().await;
    }
}

#[tokio::test]
async fn input_that_grows_is_an_issue_until_it_has_shrunk() {
    let app = TestApp::new().await;
    let _jobs = app.start_jobs();
    let mut runs = Runs { poster: Poster::new(Some("orders-etl"), 1), made: 0 };
    runs.post(&app, (0..150).map(|n| 1.004_f64.powi(n))).await;
    let open = issues(&app, "").await;
    let [issue] = &open[..] else { panic!("{open:?}, {:?}", app.changes("").await) };
    assert_eq!((&issue["kind"], &issue["state"]), (&json!("data_grew"), &json!("open")), "{issue}");
    let id = issue["id"].as_str().expect("an id");
    let whole = detail(&app, id).await;
    let change = &whole["change"];
    assert_eq!((&change["kind"], &change["state"]), (&json!("data_grew"), &json!("open")), "{whole}");
    assert_eq!((&issue["label"], &change["causes"][0]["cause"]), (&json!("grows"), &json!("more_rows")));
    assert_eq!(issue["severity"], change["factor"]);
    // 72 runs a day take as much longer as the input is larger.
    let median = |side: &str| change[side]["median_wall_ms"].as_f64().expect("known");
    let extra = 72.0 * (median("after") - median("before"));
    let stake = issue["wall_ms_a_day"].as_f64().expect("known");
    assert!((stake / extra - 1.0).abs() < 0.05, "{stake} of {extra}: {whole}");
    assert_eq!(app.metric(r#"queryscope_issues{kind="data_grew",state="open"}"#).await, 1);

    runs.post(&app, [1.0; 64]).await;
    let whole = detail(&app, id).await;
    assert_eq!(history(&whole), ["open by service", "resolved by service"], "{whole}");
    assert_eq!(whole["change"]["state"], "recovered", "{whole}");
}
