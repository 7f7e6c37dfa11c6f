//! Answers of each route to each kind of asker, where reading is restricted.

mod login;
mod manage;
mod streams;

use axum::body::Body;
use axum::http::{Request, header};
use queryscope_collector::{IDLE, hash_token};
use queryscope_store::{QueryNote, Role, Scope, Session, SharedView, TokenRecord, User};
use serde_json::{Value, json};

use crate::app::{Answer, OTHER_TOKEN, TestApp, with_header};
use crate::changes::changed;
use crate::events::{NOW_NS, SECOND_NS, batch, finished, process_with, query, started};
use crate::issues::issues;

const NOW_MS: i64 = NOW_NS / 1_000_000;

/// What a request says of who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Says(Option<(&'static str, String)>);

impl Says {
    /// The header that says it.
    pub(crate) fn header(&self) -> (&'static str, &str) {
        let (name, value) = self.0.as_ref().expect("somebody");
        (name, value)
    }
}

pub(crate) fn bearer(token: &str) -> Says {
    Says(Some(("authorization", format!("Bearer {token}"))))
}

/// The id of a session of a user; one that begins with another letter is another.
fn id_of(letter: char) -> String {
    letter.to_string().repeat(64)
}

pub(crate) fn session(letter: char) -> Says {
    Says(Some(("cookie", format!("queryscope_session={}", id_of(letter)))))
}

pub(crate) async fn ask(app: &TestApp, says: &Says, method: &str, path: &str) -> Answer {
    let request = Request::builder().method(method).uri(path).header(header::HOST, "localhost");
    let json = match path.rsplit('/').next() {
        _ if method == "PUT" && path.starts_with("/api/notes/") => json!({"text": "y"}).to_string(),
        _ if method == "PUT" => json!({"search": "?view=days"}).to_string(),
        _ if method != "POST" => String::new(),
        Some("notes") => json!({"label": "l", "text": "x"}).to_string(),
        Some("note") => json!({"text": "x"}).to_string(),
        Some("mute") => json!({"until_unix_ns": NOW_NS + SECOND_NS}).to_string(),
        Some("tokens") => json!({"name": MADE, "scope": "read"}).to_string(),
        Some("users") => json!({"name": MADE, "password": "correct horse", "role": "viewer"}).to_string(),
        Some("change") => json!({"role": "viewer"}).to_string(),
        Some("deploys") => json!({"version": "1.4.2"}).to_string(),
        _ => "{}".into(),
    };
    let request = request.header("content-type", "application/json").body(Body::from(json));
    let request = request.expect("a request");
    app.send(match &says.0 {
        Some((name, value)) => with_header(request, name, value),
        None => request,
    })
    .await
}

pub(crate) async fn add_user(app: &TestApp, name: &str, role: Role, project: Option<&str>) {
    let (name, project) = (name.to_owned(), project.map(Into::into));
    let user = User { name, role, project, password: String::new(), created_unix_ms: NOW_MS };
    assert!(app.store.access().add_user(user).await.expect("a store"));
}

async fn add_session(app: &TestApp, letter: char, user: &str, used_unix_ms: i64) {
    let hash = hash_token(&id_of(letter));
    let session = Session { hash, user: user.into(), created_unix_ms: 0, used_unix_ms };
    assert!(app.store.access().begin_session(session).await.expect("a store"));
}

async fn add_token(app: &TestApp, name: &str, scope: Scope, project: &str, expires_unix_ms: Option<i64>) {
    let sender = TokenRecord::of_sender(name, project, hash_token(name), NOW_MS);
    assert!(app.store.add_token(TokenRecord { scope, expires_unix_ms, ..sender }).await.expect("a store"));
}

/// The name of the token and the user that those make who may.
const MADE: &str = "made";
/// The session that those end who may.
const ENDED: char = '2';

/// The id by which administrators see that session.
fn listed_id() -> String {
    let digits: Vec<_> = hash_token(&id_of(ENDED))[..16].iter().map(|byte| format!("{byte:02x}")).collect();
    digits.concat()
}

/// The id of the note that those delete who may.
const NOTE: &str = "note-of-default";

/// Writes again what those delete who may: a note of the project `default`, and a view of each project.
async fn write_again(app: &TestApp) {
    let note = QueryNote {
        id: NOTE.into(),
        project: "default".into(),
        service: Some("secret-service".into()),
        label: "secret-label".into(),
        unix_ns: NOW_NS,
        written_unix_ns: NOW_NS,
        by: None,
        text: "since secret-host came".into(),
        edited_unix_ns: None,
        edited_by: None,
    };
    app.store.notes().adopt_query_notes(vec![note]).await.expect("a store");
    let view = |project: &str, search: &str| SharedView {
        project: project.into(),
        name: MADE.into(),
        search: search.into(),
        by: None,
        unix_ns: NOW_NS,
    };
    let views = vec![view("default", "?host=secret-host"), view("etl", "")];
    app.store.views().adopt_views(views).await.expect("a store");
}

/// What only the project `default` has.
const SECRETS: [&str; 4] = ["secret-label", "secret-host", "secret-service", "secret error"];

/// A service with a login; two projects, of which one has a query, a running one, a change and an issue.
pub(crate) async fn restricted() -> (TestApp, String, String) {
    let app = TestApp::new().await;
    let members = json!({"label": "secret-label", "failed": "secret error", "fingerprint": "f1"});
    let process = process_with(5, json!({"host": "secret-host", "service": "secret-service"}));
    let lines = [process, finished(2, 1, members.clone()), started(3, 2, members)];
    app.store(lines.map(|line| line + "\n").concat()).await;
    let of_etl = batch(6, [finished(2, 3, json!({"label": "open-label", "failed": null}))]);
    assert_eq!(app.post_as(OTHER_TOKEN, of_etl).await.status, 202);
    let change = changed(&app).await;
    let issue = issues(&app, "").await[0]["id"].as_str().expect("an id").to_owned();
    for (letter, name, role, project) in [
        ('a', "viewer of etl", Role::Viewer, Some("etl")),
        ('b', "editor of etl", Role::Editor, Some("etl")),
        ('c', "admin of etl", Role::Admin, Some("etl")),
        ('d', "viewer", Role::Viewer, Some("default")),
        ('e', "editor", Role::Editor, None),
        ('f', "admin", Role::Admin, None),
        ('0', "viewer of all", Role::Viewer, None),
    ] {
        add_user(&app, name, role, project).await;
        add_session(&app, letter, name, NOW_MS).await;
    }
    add_session(&app, '1', "admin", NOW_MS - IDLE.as_millis() as i64 - 1).await;
    for (name, scope, project, expires) in [
        ("t-ingest", Scope::Ingest, "default", None),
        ("t-expired", Scope::Admin, "*", Some(NOW_MS)),
        ("t-invitation", Scope::Invitation, "*", None),
        ("t-etl", Scope::Read, "etl", Some(NOW_MS + 1_000_000)),
        ("t-default", Scope::Read, "default", None),
        ("t-admin", Scope::Admin, "*", None),
    ] {
        add_token(&app, name, scope, project, expires).await;
    }
    (app.restarted_with(|settings| settings.reading.login = true).await, change, issue)
}

/// A kind of asker, and what it may.
struct Asker {
    says: Says,
    /// The status of every answer, where it is one.
    always: Option<u16>,
    role: Role,
    project: Option<&'static str>,
}

fn askers() -> Vec<Asker> {
    let never = |says, status| Asker { says, always: Some(status), role: Role::Viewer, project: None };
    let may = |says, role, project| Asker { says, always: None, role, project };
    vec![
        never(Says(None), 401),
        never(bearer("t-wrong"), 401),
        never(bearer(""), 401),
        never(bearer("t-expired"), 401),
        never(bearer("t-invitation"), 401),
        never(bearer("t-ingest"), 403),
        never(session('9'), 401),
        never(session('1'), 401),
        never(Says(Some(("cookie", "queryscope_session=".into()))), 401),
        may(session('a'), Role::Viewer, Some("etl")),
        may(session('b'), Role::Editor, Some("etl")),
        may(session('c'), Role::Admin, Some("etl")),
        may(bearer("t-etl"), Role::Viewer, Some("etl")),
        may(session('d'), Role::Viewer, Some("default")),
        may(bearer("t-default"), Role::Viewer, Some("default")),
        may(session('0'), Role::Viewer, None),
        may(session('e'), Role::Editor, None),
        may(session('f'), Role::Admin, None),
        may(bearer("t-admin"), Role::Admin, None),
    ]
}

/// Routes that ask nobody for a login, as without one: `what_needs_no_login_stays_as_it_is`.
const WITHOUT_LOGIN: [&str; 2] = ["/v1/events", "/v1/health"];

/// The routes of the document that ask who asks, each with the address of something of the project `default`.
fn routes(change: &str, issue: &str) -> Vec<(String, String, String)> {
    let document = serde_json::to_value(queryscope_collector::openapi()).expect("JSON");
    let mut routes = Vec::new();
    for (path, methods) in document["paths"].as_object().expect("paths") {
        for method in methods.as_object().expect("methods").keys() {
            if WITHOUT_LOGIN.contains(&&**path) {
                continue;
            }
            // A stream of what runs has no end.
            let method = if path.starts_with("/api/live") { "head" } else { method };
            let asked =
                if path.starts_with("/api/export/") { format!("{path}?format=json") } else { path.clone() };
            let asked = asked
                .replace("/sessions/{id}", &format!("/sessions/{}", listed_id()))
                .replace("{name}", MADE)
                .replace("/changes/{id}", &format!("/changes/{change}"))
                .replace("/notes/{id}", &format!("/notes/{NOTE}"))
                .replace("/issues/{id}", &format!("/issues/{issue}"))
                .replace("{id}", &query(1))
                .replace("/compare", &format!("/compare?run={0}&base={0}", query(1)))
                .replace("/differences", "/differences?label=secret-label&service=secret-service")
                .replace("/series", "/series?label=secret-label&by=host")
                .replace("/versions", "/versions?label=secret-label");
            routes.push((method.to_uppercase(), path.clone(), asked));
        }
    }
    for path in ["/api/openapi.json", "/metrics"] {
        routes.push(("GET".into(), path.into(), path.into()));
    }
    routes
}

/// What is for administrators, whatever projects they have.
const MANAGED: [&str; 3] = ["/api/sessions", "/api/tokens", "/api/users"];

/// The status that an asker is to be answered with: what is written down here, not what the service has.
fn expected(asker: &Asker, method: &str, path: &str) -> u16 {
    if path == "/v1/deploys" && asker.says == bearer("t-ingest") {
        return 200;
    }
    if let Some(status) = asker.always {
        return status;
    }
    let least = match (method, path) {
        ("POST", "/v1/deploys" | "/api/notes")
        | ("PUT" | "DELETE", "/api/notes/{id}" | "/api/views/{name}") => Role::Editor,
        ("POST", path) if path.starts_with("/api/issues/{id}/") => Role::Editor,
        (_, "/api/audit") => Role::Admin,
        (_, path) if MANAGED.iter().any(|begin| path.starts_with(begin)) => Role::Admin,
        ("GET" | "HEAD", _) => Role::Viewer,
        _ => panic!("{method} {path}: say here who may"),
    };
    let is_of_all = ["/api/audit", "/api/routes", "/api/service", "/metrics"].contains(&path);
    if asker.role < least || (is_of_all && asker.project.is_some()) {
        return 403;
    }
    let is_of_one = path.contains("{id}") || path == "/api/compare";
    if is_of_one && asker.project == Some("etl") {
        return 404;
    }
    200
}

#[tokio::test]
async fn every_route_answers_each_asker_as_it_is_to() {
    let (app, change, issue) = restricted().await;
    for asker in askers() {
        for (method, path, asked) in routes(&change, &issue) {
            if path.ends_with("/end") {
                let hash = hash_token(&id_of(ENDED));
                if app.store.access().session(hash, 0).await.expect("a store").is_none() {
                    add_session(&app, ENDED, "viewer", NOW_MS).await;
                }
            }
            write_again(&app).await;
            let answer = ask(&app, &asker.says, &method, &asked).await;
            let (mut status, says) = (answer.status.as_u16(), &asker.says);
            // An issue moves once, and a deploy is made once.
            if method == "POST" && [201, 409].contains(&status) {
                status = 200;
            }
            if method == "DELETE" && status == 204 {
                status = 200;
            }
            assert_eq!(status, expected(&asker, &method, &path), "{method} {asked} of {says:?}: {answer:?}");
            if asker.project != Some("default") && asker.project.is_some() || asker.always.is_some() {
                let body = String::from_utf8_lossy(&answer.body);
                for secret in SECRETS.iter().copied().chain([&*query(1)]) {
                    // What was asked for may be named again.
                    let is_told = body.contains(secret) && !asked.contains(secret);
                    assert!(!is_told, "{method} {asked} tells {secret:?} to {says:?}: {body}");
                }
            }
        }
    }
}

#[tokio::test]
async fn a_project_is_a_wall() {
    let (app, ..) = restricted().await;
    let (etl, default, all) = (session('a'), session('d'), session('f'));
    for (says, expected) in [(&etl, &["open-label"][..]), (&default, &["secret-label"])] {
        for path in ["/api/queries", "/api/groups", "/api/overview?days=90", "/api/queries?q=label"] {
            let body = ask(&app, says, "GET", path).await.text();
            for label in ["open-label", "secret-label"] {
                assert_eq!(body.contains(label), expected.contains(&label), "{path} {says:?}: {body}");
            }
        }
    }
    // Naming one's own project changes nothing; naming another finds nothing.
    let ids = async |says: &Says, path: &str| {
        let listed = ask(&app, says, "GET", path).await.json();
        listed.as_array().expect("a list").iter().map(|run| run["query_id"].clone()).collect::<Vec<Value>>()
    };
    assert_eq!(ids(&etl, "/api/queries").await, [json!(query(3))]);
    assert_eq!(ids(&etl, "/api/queries?project=etl").await, [json!(query(3))]);
    for path in [
        "/api/queries?project=default",
        "/api/queries?project=default&project=etl",
        "/api/queries?%70roject=default",
        "/api/queries?project=",
        "/api/live?project=default",
    ] {
        assert_eq!(ask(&app, &etl, "GET", path).await.status, 404, "{path}");
    }
    assert_eq!(ask(&app, &all, "GET", "/api/queries?project=default").await.status, 200);
    // Pages go on within the wall.
    let first = ask(&app, &default, "GET", "/api/queries?limit=1").await;
    assert!(first.header("link").expect("more").contains("project=default"));
    // A run of another project is nothing to compare with.
    let compared = format!("/api/compare?run={}&base={}", query(3), query(1));
    assert_eq!(ask(&app, &etl, "GET", &compared).await.status, 404);
    assert_eq!(ask(&app, &all, "GET", &compared).await.status, 200);
    for (says, id, status) in [(&etl, 1, 404), (&etl, 3, 200), (&default, 1, 200), (&default, 3, 404)] {
        let answer = ask(&app, says, "GET", &format!("/api/queries/{}/recording", query(id))).await;
        assert_eq!(answer.status, status, "{says:?} {id}");
    }
}

#[tokio::test]
async fn what_needs_no_login_stays_as_it_is() {
    let (app, ..) = restricted().await;
    assert_eq!(app.get("/v1/health").await.status, 200);
    assert_eq!(app.post(batch(9, [finished(2, 9, json!({"failed": null}))])).await.status, 202);
    let sent = app.post_as("t-ingest", batch(10, [finished(2, 10, json!({"failed": null}))])).await;
    assert_eq!(sent.status, 202);
    for token in ["t-default", "t-admin", "t-invitation", "t-expired"] {
        assert_eq!(app.post_as(token, batch(11, [finished(2, 11, json!({}))])).await.status, 401, "{token}");
    }
    for path in ["/login", "/login.css", "/favicon.svg"] {
        assert_eq!(app.get(path).await.status, 200, "{path}");
    }
    for (path, to) in [("/", "/login"), ("/queries?label=a%20b", "/login?next=%2Fqueries%3Flabel%3Da%2520b")]
    {
        let answer = app.get(path).await;
        assert_eq!((answer.status.as_u16(), answer.header("location")), (303, Some(to)), "{path}");
    }
}

#[tokio::test]
async fn an_answer_is_for_who_asked() {
    let (app, ..) = restricted().await;
    let answer = ask(&app, &session('d'), "GET", "/api/queries").await;
    assert_eq!(answer.header("cache-control"), Some("private, no-cache"));
    let vary: Vec<_> = answer.headers.get_all("vary").iter().collect();
    assert!(vary.iter().any(|names| *names == "authorization, cookie"), "{vary:?}");
    assert_eq!(
        ask(&app, &Says(None), "GET", "/api/queries").await.header("www-authenticate"),
        Some("Bearer")
    );
}

#[tokio::test]
async fn an_open_service_answers_everybody_and_walls_tokens() {
    let app = TestApp::new().await;
    app.store(batch(1, [finished(2, 1, json!({"failed": null}))])).await;
    for (name, scope, project) in [("t-etl", Scope::Read, "etl"), ("t-admin", Scope::Admin, "*")] {
        add_token(&app, name, scope, project, None).await;
    }
    let app = app.restarted_with(|settings| settings.reading.is_reachable = true).await;
    for says in [Says(None), bearer("wrong"), bearer("qs_default"), session('a')] {
        assert_eq!(ask(&app, &says, "GET", "/api/queries").await.json()[0]["query_id"], query(1), "{says:?}");
        assert_eq!(ask(&app, &says, "GET", "/api/audit").await.status, 403, "{says:?}");
        let access = ask(&app, &says, "GET", "/api/access").await.json();
        let expected = json!({
            "name": null, "role": "editor", "project": null,
            "is_session": false, "is_open": true, "is_reachable": true,
        });
        assert_eq!(access, expected);
    }
    assert_eq!(ask(&app, &bearer("t-etl"), "GET", "/api/queries").await.json(), json!([]));
    assert_eq!(ask(&app, &bearer("t-admin"), "GET", "/api/audit").await.status, 200);
    assert_eq!(app.get("/login").await.status, 404);
    assert_eq!(app.get("/").await.status, 200);
}

#[tokio::test]
async fn what_users_do_is_signed_with_their_names() {
    let (app, _, issue) = restricted().await;
    let act = async |says: &Says, action: &str, body: Value| {
        let request = Request::post(format!("/api/issues/{issue}/{action}")).header("host", "localhost");
        let request = request.header("content-type", "application/json").body(Body::from(body.to_string()));
        let (name, value) = says.header();
        let answer = app.send(with_header(request.expect("a request"), name, value)).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()
    };
    act(&session('e'), "note", json!({"text": "one", "by": "somebody else"})).await;
    act(&bearer("t-admin"), "note", json!({"text": "two"})).await;
    act(&bearer("t-admin"), "note", json!({"text": "three", "by": "ci"})).await;
    let until = NOW_NS + 60 * SECOND_NS;
    let muted = act(&session('e'), "mute", json!({"until_unix_ns": until})).await;
    let names: Vec<_> = muted["notes"].as_array().expect("notes").iter().map(|note| &note["by"]).collect();
    assert_eq!(names, ["editor", "t-admin", "ci"]);
    let audit = ask(&app, &session('f'), "GET", "/api/audit?limit=1").await.json();
    let expected = json!({
        "entries": [{
            "unix_ns": NOW_MS * 1_000_000, "action": "issue_muted", "actor": "editor", "subject": issue,
            "address": null,
        }],
        "next": null,
    });
    assert_eq!(audit, expected);
}

#[tokio::test]
async fn uses_of_tokens_are_written() {
    let (app, ..) = restricted().await;
    assert_eq!(ask(&app, &bearer("t-default"), "GET", "/api/queries").await.status, 200);
    app.post_as("t-ingest", batch(10, [finished(2, 10, json!({"failed": null}))])).await;
    let _jobs = app.start_jobs();
    let used = crate::app::eventually("uses to be written", async || {
        let tokens = app.store.tokens().await.expect("a store");
        let used = tokens.into_iter().filter(|token| token.used_unix_ms.is_some());
        let names: Vec<String> = used.map(|token| token.name).collect();
        (names.len() >= 2).then_some(names)
    });
    assert_eq!(used.await, ["t-default", "t-ingest"]);
}
