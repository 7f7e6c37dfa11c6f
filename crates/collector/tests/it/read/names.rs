//! Names that are longer than a summary keeps, and those that are empty.

use serde_json::{Value, json};

use crate::app::TestApp;
use crate::events::{finished, process_with, query};

/// Two labels that differ behind what is kept, as SQL does.
fn long(end: &str) -> String {
    format!("SELECT {} FROM orders WHERE day = '{end}'", "äcolumn, ".repeat(70))
}

fn encoded(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

/// Two queries with long names that differ at their ends, and one with empty ones.
async fn population() -> TestApp {
    let app = TestApp::new().await;
    for (n, end) in [(1, "monday"), (2, "tuesday")] {
        let name = json!(long(end));
        let process = process_with(n, json!({"service": name, "environment": name, "host": name}));
        let event = finished(2, n, json!({"label": name, "fingerprint": name}));
        app.store(format!("{process}\n{event}\n")).await;
    }
    let process = process_with(3, json!({"service": "", "environment": "", "host": ""}));
    app.store(format!("{process}\n{}\n", finished(2, 3, json!({"label": "", "fingerprint": ""})))).await;
    app
}

#[tokio::test]
async fn long_names_stay_two_and_are_found_by_the_whole_and_by_what_is_shown() {
    let app = population().await;
    for (n, end) in [(1, "monday"), (2, "tuesday")] {
        let summary = app.summary(n).await;
        for field in ["label", "fingerprint", "service", "environment", "host"] {
            let shown = summary[field].as_str().expect("a name");
            assert_eq!(shown.chars().count(), 512, "{shown}");
            for value in [&long(end), shown] {
                let params = format!("{field}={}", encoded(value));
                assert_eq!(app.ids(&params).await, [query(n)], "{field} {end}");
                let groups = app.get(&format!("/api/groups?{params}")).await.json();
                assert_eq!(groups.as_array().map(Vec::len), Some(1), "{field} {end}");
            }
        }
        let label = encoded(&long(end));
        let versions = app.get(&format!("/api/versions?label={label}")).await.json();
        assert_eq!(versions[0]["latest_query_id"], query(n));
        let overview = app.get(&format!("/api/overview?label={label}")).await.json();
        assert_eq!(overview["queries"][0]["label"], summary["label"]);
        assert!(app.recorded(n).await[1].contains(&long(end)), "the recording has it whole");
    }
    let mut keys: Vec<Value> = app.get("/api/groups").await.json().as_array().expect("groups").clone();
    keys.retain(|group| group["runs"] == 1);
    assert_eq!(keys.len(), 2, "two labels are two groups");
    assert_eq!(app.ids("q=select%20%C3%A4col").await.len(), 2, "what is kept is searched");
}

#[tokio::test]
async fn an_empty_name_is_none() {
    let app = population().await;
    let summary = app.summary(3).await;
    for field in ["label", "fingerprint", "service", "environment"] {
        assert_eq!(summary[field], Value::Null, "{field}");
        assert_eq!(app.ids(&format!("{field}=")).await, [query(3)], "{field}");
    }
    assert_eq!(summary["host"], "", "a process always has a host");
    assert_eq!(app.ids("host=").await, [query(3)]);
    let facets = app.get("/api/facets").await.json();
    let none =
        |field: &str| facets[field].as_array().expect("values").iter().any(|each| each["value"].is_null());
    assert!(none("service") && none("environment"), "{facets}");
    let recorded = app.recorded(3).await;
    assert!(
        recorded[0].contains(r#""service":"""#) && recorded[1].contains(r#""label":"""#),
        "as it was sent"
    );
}
