use serde_json::json;

use super::*;
use crate::compose::{Made, compose};
use crate::config::Config;
use crate::facts::Account;
use crate::secret::Secrets;

const FILE: &str = r#"
base_url = "https://q.example.com"
[receivers.slack]
type = "slack"
url = "https://hooks.slack.com/x"
[[routes]]
name = "slack"
receiver = "slack"
"#;

/// The payload for issues of these labels.
fn of(labels: &[String], account: &Account) -> Value {
    let config = Config::parse(FILE, Secrets::Read).expect("a file");
    let notices: Vec<_> = labels
        .iter()
        .map(|label| (crate::compose::tests::notice(label, None, json!({"host": "h"})), account.clone()))
        .collect();
    let made: Vec<Made> = compose(&config, &notices, &[], 5);
    assert_eq!(made.len(), 1);
    payload(&made[0].message)
}

/// Holds a payload against the limits that Slack publishes.
fn is_within_limits(payload: &Value) {
    let chars = |text: &Value| text.as_str().expect("a text").chars().count();
    assert!(chars(&payload["text"]) <= 40_000);
    let blocks = payload["blocks"].as_array().expect("blocks");
    assert!((1..=50).contains(&blocks.len()), "{} blocks", blocks.len());
    for block in blocks {
        match block["type"].as_str().expect("a type") {
            "header" => {
                assert_eq!(block["text"]["type"], "plain_text");
                assert!((1..=150).contains(&chars(&block["text"]["text"])));
            }
            "section" => {
                assert_eq!(block["text"]["type"], "plain_text");
                assert!((1..=3_000).contains(&chars(&block["text"]["text"])));
                if let Some(button) = block.get("accessory") {
                    assert!(chars(&button["text"]["text"]) <= 75 && chars(&button["url"]) <= 3_000);
                }
            }
            "context" => {
                let elements = block["elements"].as_array().expect("elements");
                assert!((1..=10).contains(&elements.len()));
                assert!(elements.iter().all(|element| (1..=2_000).contains(&chars(&element["text"]))));
                assert!(elements.iter().all(|element| element["type"] == "plain_text"));
            }
            "actions" => {
                let elements = block["elements"].as_array().expect("elements");
                assert!((1..=25).contains(&elements.len()));
                for element in elements {
                    assert!(chars(&element["text"]["text"]) <= 75 && chars(&element["url"]) <= 3_000);
                }
            }
            other => panic!("{other} is no block that was asked for"),
        }
    }
}

#[test]
fn one_issue_is_a_sentence_its_account_and_a_link() {
    let account = Account { sentences: vec!["more rows: 2 < 4 & *so* on".into()], ..Account::default() };
    let payload = of(&["orders/daily".into()], &account);
    is_within_limits(&payload);
    has_blocks(
        &payload,
        &json!([
            {"type": "header", "text": {
                "type": "plain_text", "text": "🔴 orders/daily takes 2.3 times as long on h", "emoji": true,
            }},
            {"type": "section", "text": {"type": "plain_text", "text": "• more rows: 2 < 4 & *so* on"}},
            {"type": "context", "elements": [{"type": "plain_text", "text": "project default · service etl · host h"}]},
            {"type": "actions", "elements": [{
                "type": "button", "text": {"type": "plain_text", "text": "Open in queryscope"},
                "url": "https://q.example.com/issues/issue-slower-orders%2Fdaily",
            }]},
        ]),
    );
}

fn has_blocks(payload: &Value, blocks: &Value) {
    assert_eq!(payload["blocks"], *blocks, "{payload:#}");
}

#[test]
fn many_issues_are_listed_and_counted() {
    let labels: Vec<String> = (0..120).map(|n| format!("orders/{n:03}")).collect();
    let payload = of(&labels, &Account::default());
    is_within_limits(&payload);
    let text = payload.to_string();
    assert!(text.contains("120 queries slower on h") && text.contains("and 110 more"), "{text}");
    assert!(
        text.contains("• orders/009 takes 2.3 times as long") && !text.contains("• orders/010 "),
        "{text}"
    );
    assert!(text.contains(r#""url":"https://q.example.com/issues/issue-slower-orders%2F009""#), "{text}");
}

#[test]
fn whatever_labels_hold_the_limits_are_kept() {
    let signs = ["&", "<", ">", "|", "\n", "ä", "`", "\u{0}", "🔴"];
    for length in [1, 149, 150, 151, 3_000, 20_000] {
        for sign in signs {
            let sentences = vec![sign.repeat(length); 30];
            let account = Account { sentences, ..Account::default() };
            let labels: Vec<String> = (0..12).map(|n| sign.repeat(length) + &n.to_string()).collect();
            is_within_limits(&of(&labels[..1], &account));
            is_within_limits(&of(&labels, &account));
        }
    }
}

#[test]
fn a_cut_text_ends_with_no_part_of_an_escape() {
    assert_eq!(escaped("a<b>&c", 100), "a&lt;b&gt;&amp;c");
    for chars_max in 2..40 {
        let cut = escaped("<<<<<<<<<<<<", chars_max);
        assert!(cut.chars().count() <= chars_max, "{cut}");
        assert_eq!(cut.trim_end_matches('…').replace("&lt;", ""), "", "{cut}");
    }
}

#[test]
fn a_test_says_so() {
    let payload = payload(&Message::test("r", 5, "x", Some("https://q.example.com/".into())));
    is_within_limits(&payload);
    assert!(payload["text"].as_str().expect("a text").contains("tests the route r"));
}
