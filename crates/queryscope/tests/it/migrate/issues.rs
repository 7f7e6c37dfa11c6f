//! Issues are moved with what people did to them, once.

use std::fs;

use serde_json::Value;

use super::Target;
use crate::check::issues::acknowledge;
use crate::common::database::Databases;
use crate::common::{Service, wait_for};
use crate::evaluated::{batches, undisturbed};

/// Issues with their transitions and notes, by id. Their changes are the collectors' to find.
fn issues(service: &Service) -> Vec<Value> {
    let list = service.get("/api/issues?limit=1000").json();
    let ids =
        list["issues"].as_array().expect("a list").iter().map(|issue| issue["id"].as_str().expect("an id"));
    let mut all: Vec<Value> = ids
        .map(|id| {
            let mut whole = service.get(&format!("/api/issues/{id}")).json();
            whole.as_object_mut().expect("an object").remove("change");
            whole
        })
        .collect();
    all.sort_by_key(|whole| whole["issue"]["id"].to_string());
    all
}

#[test]
fn issues_arrive_with_their_transitions_and_notes() {
    let root = tempfile::tempdir().expect("a folder");
    let data = root.path().join("data");
    undisturbed(&data, &batches(60));
    let service = Service::start(&data);
    let id = acknowledge(&service);
    let before = issues(&service);
    service.stop();
    assert_eq!(before.len(), 2, "{before:?}");
    let acknowledged = before.iter().find(|whole| whole["issue"]["id"] == id.as_str()).expect("the issue");
    assert_eq!(acknowledged["issue"]["state"], "acknowledged");
    assert_eq!(acknowledged["transitions"].as_array().expect("a list").len(), 2, "{acknowledged}");
    assert_eq!(acknowledged["notes"][0]["text"], "the new join", "{acknowledged}");

    let databases = Databases::start();
    let target = Target::make(root.path(), &databases, "moved");
    let rows = || {
        ["issue", "issue_transition", "issue_note"]
            .map(|table| target.database.sql(&format!("SELECT * FROM {table} ORDER BY 1, 2")))
    };
    let said = target.migrate(&data).success();
    assert!(said.contains(" tokens, 2 issues moved; 0 queries were there\n"), "{said}");
    let moved = rows();
    let said = target.migrate(&data).success();
    assert!(said.contains(" tokens, 0 issues moved; 120 queries were there\n"), "{said}");
    assert_eq!(rows(), moved, "twice is the same as once");
    target.check(&[]);

    // The collectors evaluate the runs anew, which moves nothing.
    let token = fs::read_to_string(data.join("token")).expect("a token");
    let service = target.serve(token.trim());
    wait_for("the evaluation", || {
        (target.database.count("SELECT count(*) FROM pending_run") == 0).then_some(())
    });
    assert_eq!(target.database.count("SELECT count(*) FROM evaluated_run"), 120);
    assert_eq!(issues(&service), before);
    service.stop();
    target.check(&[]);

    // What is done to an issue there is not undone by another move.
    let service = target.serve(token.trim());
    let answer = service.client().ask(&format!("/api/issues/{id}/resolve"), &serde_json::json!({}));
    assert_eq!(answer.expect("an answer").status, 200);
    service.stop();
    let there = rows();
    let said = target.migrate(&data).success();
    assert!(said.contains(" tokens, 0 issues moved; 120 queries were there\n"), "{said}");
    assert_eq!(rows(), there);
    target.check(&[]);
}
