//! `queryscope deploy`, beside a service that runs.

use std::fs;

use serde_json::{Value, json};

use crate::common::{Service, queryscope};

fn deploys(service: &Service) -> Vec<Value> {
    service.get("/api/deploys").json()["deploys"].as_array().expect("a list").clone()
}

#[test]
fn a_deploy_is_told_once_with_and_without_a_token() {
    let root = tempfile::tempdir().expect("a folder");
    let data = root.path().join("data");
    let service = Service::start(&data);
    let folder = data.to_string_lossy();
    let args = ["deploy", "1.4.2", "--service", "orders-etl", "--environment", "prod", "--commit", "4f2a9c1"];
    let on_folder = |more: &[&str]| {
        queryscope(args.iter().chain(more).copied().chain(["--data", &folder, "--project", "etl"]))
    };
    let said = on_folder(&[]).success();
    assert!(said.ends_with(": version 1.4.2 of orders-etl to prod\n"), "{said}");
    assert_eq!(on_folder(&[]).success(), said, "the same deploy");
    let printed: Value = serde_json::from_str(&on_folder(&["--json"]).success()).expect("JSON");
    let all = deploys(&service);
    assert_eq!(all, std::slice::from_ref(&printed));
    assert_eq!((&printed["project"], &printed["commit"]), (&json!("etl"), &json!("4f2a9c1")));
    let tokens = queryscope(["token", "list", "--data", &folder]).success();
    assert!(!tokens.contains("deploy"), "the token of the call is revoked: {tokens}");

    let url = fs::read_to_string(data.join("address")).expect("an address");
    let token = fs::read_to_string(data.join("token")).expect("a token");
    let elsewhere = ["deploy", "2.0", "--at", "2026-01-02T03:04:05Z", "--link", "https://ci.example/17"];
    let elsewhere = elsewhere.iter().copied().chain(["--url", url.trim(), "--token", token.trim()]);
    let said = queryscope(elsewhere).success();
    assert!(said.ends_with(": version 2.0\n"), "{said}");
    let last = deploys(&service).pop().expect("a deploy");
    assert_eq!(
        (&last["unix_ns"], &last["project"]),
        (&json!(1_767_323_045_000_000_000_i64), &json!("default"))
    );

    let weak = ["deploy", "2.1", "--at", "2026-01-02 03:04:05", "--data", &folder, "--json"];
    let at: Value = serde_json::from_str(&queryscope(weak).success()).expect("JSON");
    assert_eq!(at["unix_ns"], last["unix_ns"], "a time without a zone is UTC");
    let refused = queryscope(["deploy", "3", "--link", "ftp://x", "--data", &folder]).failure(1);
    assert!(refused.contains("url: must begin with https:// or http://"), "{refused}");
    service.stop();
    let refused = queryscope(["deploy", "3", "--data", &folder]).failure(1);
    assert!(refused.contains("no service"), "{refused}");
}

#[test]
fn what_a_deploy_would_pass_over_is_refused() {
    let elsewhere = ["deploy", "3", "--url", "http://127.0.0.1:1", "--token", "t", "--project", "etl"];
    let refused = queryscope(elsewhere).failure(2);
    for part in ["'--project <PROJECT>'", "cannot be used with", "'--token <TOKEN>'"] {
        assert!(refused.contains(part), "{refused}");
    }
    for at in ["yesterday", "2026-11-25", "2026-11-25T02:00:00+01:00"] {
        let refused = queryscope(["deploy", "3", "--at", at]).failure(2);
        assert!(refused.contains("expected UTC, like 2026-11-25T02:00:00Z"), "{at}: {refused}");
    }
}
