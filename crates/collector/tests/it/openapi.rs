//! The document of the API is what the service does.

use std::path::Path;

use serde_json::{Value, json};

use crate::app::TestApp;
use crate::changes::changed;
use crate::events::{batch, done, query};
use crate::issues::issues;

fn document() -> Value {
    serde_json::to_value(queryscope_collector::openapi()).expect("JSON")
}

/// Every operation: its method, its path and its description.
fn operations(document: &Value) -> Vec<(&str, &str, &Value)> {
    let paths = document["paths"].as_object().expect("paths").iter();
    paths
        .flat_map(|(path, item)| {
            let methods = item.as_object().expect("operations").iter();
            methods.map(move |(method, operation)| (method.as_str(), path.as_str(), operation))
        })
        .collect()
}

fn keys(object: &Value) -> Vec<&str> {
    object.as_object().expect("an object").keys().map(String::as_str).collect()
}

#[test]
fn the_document_in_schemas_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/openapi.json");
    let now = queryscope_collector::openapi().to_pretty_json().expect("JSON") + "\n";
    if std::env::var_os("UPDATE_SCHEMAS").is_some() {
        std::fs::write(&path, &now).expect("written");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == now,
        "schemas/openapi.json is not what the handlers say: run this test with UPDATE_SCHEMAS=1"
    );
}

#[test]
fn it_is_openapi_3_1_and_needs_a_token_for_ingest_alone() {
    let document = document();
    let version = document["openapi"].as_str().expect("a version");
    assert!(version.starts_with("3.1."), "{version}");
    assert_eq!(document["components"]["securitySchemes"]["token"]["scheme"], "bearer");
    for (method, path, operation) in operations(&document) {
        let nobody = json!([{}, {"token": []}]);
        let expected = match path {
            "/v1/deploys" | "/v1/events" => json!([{"token": []}]),
            "/v1/health" => json!(null),
            _ => nobody,
        };
        assert_eq!(operation["security"], expected, "{method} {path}");
        assert!(operation["summary"].is_string(), "{method} {path} says what it is for");
    }
}

#[test]
fn every_parameter_has_an_example() {
    let document = document();
    for (method, path, operation) in operations(&document) {
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            assert!(!parameter["example"].is_null(), "{method} {path}: {}", parameter["name"]);
        }
    }
}

#[test]
fn it_lists_every_route_with_its_parameters_and_answers() {
    let document = document();
    let filters = [
        "project",
        "label",
        "service",
        "environment",
        "host",
        "fingerprint",
        "engine_version",
        "program_version",
        "status",
        "since",
        "until",
    ];
    let page = ["filter", "q", "sort", "order", "limit", "offset", "cursor"];
    let list: Vec<&str> = filters.into_iter().chain(page).collect();
    let filters = filters.join(" ");
    let export = format!("{filters} filter q format");
    let overview = "project label service environment host engine_version program_version days since until utc_offset \
                    order split limit cursor";
    let series = "project label service environment host fingerprint engine_version program_version status since until \
                  by most filter";
    let live = "project label service environment host Last-Event-ID";
    let versions = "label project service environment host fingerprint status since until";
    let differences = "project label service environment host first since until base_since base_until program_version \
                       base_program_version utc_offset";
    let changes = "project label service environment host kind state since until limit cursor";
    let compare = "run base base_fingerprint base_program_version base_host base_since base_until project";
    let deploys = "project service environment since until limit cursor";
    let notes = "project service label since until limit cursor";
    let issues = "project label service kind state owner limit cursor";
    let acts = "200 400 401 403 404 408 409 413 415 503";
    let ended = "200 400 401 403 404 408 413 415 503";
    let mut listed = Vec::new();
    for (method, path, operation) in operations(&document) {
        let none = json!([]);
        let parameters = operation.get("parameters").unwrap_or(&none).as_array().expect("an array");
        let names: Vec<&str> =
            parameters.iter().map(|parameter| parameter["name"].as_str().expect("a name")).collect();
        listed.push((
            method.to_owned(),
            path.to_owned(),
            names.join(" "),
            keys(&operation["responses"]).join(" "),
        ));
    }
    let of = |method: &str, path: &str, names: &str, answers: &str| {
        (method.to_owned(), path.to_owned(), names.to_owned(), answers.to_owned())
    };
    assert_eq!(
        listed,
        [
            of("get", "/api/access", "", "200 401 403"),
            of("get", "/api/audit", "limit before", "200 400 401 403 503"),
            of("get", "/api/changes", changes, "200 400 401 403 503"),
            of("get", "/api/changes/{id}", "id project", "200 400 401 403 404 503"),
            of("get", "/api/compare", compare, "200 400 401 403 404 410 422 503"),
            of("get", "/api/deploys", deploys, "200 400 401 403 503"),
            of("get", "/api/differences", differences, "200 400 401 403 503"),
            of("get", "/api/export/findings", &export, "200 400 401 403 503"),
            of("get", "/api/export/issues", "project label service kind state format", "200 400 401 403 503"),
            of("get", "/api/export/nodes", &export, "200 400 401 403 503"),
            of("get", "/api/export/runs", &export, "200 400 401 403 503"),
            of("get", "/api/facets", &format!("{filters} filter"), "200 400 401 403 503"),
            of("get", "/api/groups", &format!("{filters} by limit cursor"), "200 400 401 403 503"),
            of("get", "/api/issues", issues, "200 400 401 403 503"),
            of("get", "/api/issues/{id}", "id project", "200 400 401 403 404 503"),
            of("post", "/api/issues/{id}/acknowledge", "id project", acts),
            of("post", "/api/issues/{id}/mute", "id project", acts),
            of("post", "/api/issues/{id}/note", "id project", acts),
            of("post", "/api/issues/{id}/reopen", "id project", acts),
            of("post", "/api/issues/{id}/resolve", "id project", acts),
            of("get", "/api/live", live, "200 400 401 403 503"),
            of("get", "/api/live/{id}", "id project Last-Event-ID", "200 204 400 401 403 404 410 503"),
            of("get", "/api/notes", notes, "200 400 401 403 503"),
            of("post", "/api/notes", "project", "200 400 401 403 408 409 413 415 503"),
            of("delete", "/api/notes/{id}", "id project", "204 400 401 403 404 503"),
            of("put", "/api/notes/{id}", "id project", "200 400 401 403 404 408 413 415 503"),
            of("get", "/api/overview", overview, "200 400 401 403 503"),
            of("get", "/api/owners", "project", "200 400 401 403 503"),
            of("get", "/api/places", &filters, "200 400 401 403 503"),
            of("get", "/api/queries", &list.join(" "), "200 400 401 403 503"),
            of("get", "/api/queries/{id}", "id project", "200 400 401 403 404 503"),
            of("get", "/api/queries/{id}/insights", "id project", "200 400 401 403 404 410 422 503"),
            of("get", "/api/queries/{id}/progress", "id project", "200 400 401 403 404 503"),
            of("get", "/api/queries/{id}/recording", "id project", "200 400 401 403 404 410 503"),
            of("get", "/api/routes", "", "200 401 403 503"),
            of("get", "/api/senders", "project limit", "200 400 401 403"),
            of("get", "/api/series", series, "200 400 401 403 503"),
            of("get", "/api/service", "", "200 401 403 503"),
            of("get", "/api/sessions", "", "200 401 403 503"),
            of("post", "/api/sessions/{id}/end", "id", ended),
            of("get", "/api/tokens", "", "200 401 403 503"),
            of("post", "/api/tokens", "", "200 400 401 403 408 409 413 415 503"),
            of("post", "/api/tokens/{name}/revoke", "name", ended),
            of("get", "/api/users", "", "200 401 403 503"),
            of("post", "/api/users", "", "200 400 401 403 408 409 413 415 503"),
            of("post", "/api/users/{name}/change", "name", acts),
            of("post", "/api/users/{name}/remove", "name", acts),
            of("get", "/api/versions", versions, "200 400 401 403 503"),
            of("get", "/api/views", "project", "200 400 401 403 503"),
            of("delete", "/api/views/{name}", "name project", "204 400 401 403 404 503"),
            of("put", "/api/views/{name}", "name project", "200 400 401 403 408 409 413 415 503"),
            of("post", "/v1/deploys", "", "200 201 400 401 403 408 413 415 503"),
            of(
                "post",
                "/v1/events",
                "queryscope-stream queryscope-dropped queryscope-imported",
                "202 400 401 403 408 413 415 503"
            ),
            of("get", "/v1/health", "", "200"),
        ]
    );
}

#[test]
fn every_error_has_the_one_body() {
    let document = document();
    for (method, path, operation) in operations(&document) {
        for (status, answer) in operation["responses"].as_object().expect("answers") {
            if status.starts_with('2') {
                continue;
            }
            let schema = &answer["content"]["application/json"]["schema"]["$ref"];
            assert_eq!(schema, "#/components/schemas/Error", "{method} {path} {status}");
        }
    }
}

#[tokio::test]
async fn every_documented_get_answers_as_documented() {
    let app = TestApp::new().await;
    app.store(batch(1, [done(2, 1)])).await;
    let change = format!("/changes/{}", changed(&app).await);
    let issue = format!("/issues/{}", issues(&app, "").await[0]["id"].as_str().expect("an id"));
    for (method, path, operation) in operations(&document()) {
        // An open service tells nobody without a token who may do what, and who did.
        if method != "get" || ["/api/audit", "/api/sessions", "/api/tokens", "/api/users"].contains(&path) {
            continue;
        }
        // The live streams of what runs have no end.
        let method = if path.starts_with("/api/live") { "HEAD" } else { "GET" };
        let compared = format!("/compare?run={0}&base={0}", query(1));
        let asked = path
            .replace("/changes/{id}", &change)
            .replace("/issues/{id}", &issue)
            .replace("{id}", &query(1))
            .replace("/series", "/series?label=x")
            .replace("/differences", "/differences?label=x&service=")
            .replace("/versions", "/versions?label=x");
        let asked = asked.replace("/compare", &compared);
        let answer = app.call(method, &asked).await;
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        let content = keys(&operation["responses"]["200"]["content"]);
        assert_eq!(answer.header("content-type"), content.first().copied(), "{path}");
    }
}

#[tokio::test]
async fn a_summary_has_the_documented_members() {
    let app = TestApp::new().await;
    app.store(batch(1, [done(2, 1)])).await;
    let document = document();
    let schema = &document["components"]["schemas"]["QuerySummary"];
    assert_eq!(keys(&app.summary(1).await), keys(&schema["properties"]));
    assert_eq!(keys(&schema["example"]), keys(&schema["properties"]), "the example shows all");
}

#[tokio::test]
async fn the_service_serves_the_same_document() {
    let app = TestApp::new().await;
    assert_eq!(app.get("/api/openapi.json").await.json(), document());
}
