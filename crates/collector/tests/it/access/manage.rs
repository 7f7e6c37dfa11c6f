//! Tokens, users and sessions as administrators see and change them.

use axum::body::Body;
use axum::http::{Request, header};
use queryscope_collector::hash_token;
use queryscope_store::{OF_PROVIDER, Role, User};
use serde_json::{Value, json};

use super::{NOW_MS, Says, add_user, ask, bearer, id_of, restricted, session};
use crate::app::{Answer, TestApp, eventually, with_header};
use crate::events::NOW_NS;

const PASSWORD: &str = "correct horse battery";

async fn post(app: &TestApp, says: &Says, path: &str, body: &Value) -> Answer {
    let request = Request::post(path).header(header::HOST, "localhost");
    let request = request.header("content-type", "application/json").body(Body::from(body.to_string()));
    let (name, value) = says.header();
    app.send(with_header(request.expect("a request"), name, value)).await
}

async fn refused(app: &TestApp, path: &str, body: Value, status: u16, reason: &str) {
    let answer = post(app, &session('f'), path, &body).await;
    assert_eq!(answer.status, status, "{path} {body}: {answer:?}");
    assert!(answer.text().contains(reason), "{path} {body}: {answer:?}");
}

fn named<'a>(list: &'a Value, of: &str, name: &str) -> Option<&'a Value> {
    list[of].as_array().expect("a list").iter().find(|entry| entry["name"] == name)
}

async fn log(app: &TestApp, limit: usize) -> Vec<Value> {
    let answer = ask(app, &session('f'), "GET", &format!("/api/audit?limit={limit}")).await.json();
    let entries = answer["entries"].as_array().expect("entries").iter().rev();
    entries.map(|entry| json!([entry["action"], entry["actor"], entry["subject"]])).collect()
}

#[tokio::test]
async fn a_token_is_made_told_once_and_revoked() {
    let (app, ..) = restricted().await;
    let _jobs = app.start_jobs();
    let admin = session('f');
    let expires = NOW_MS * 1_000_000 + 1_000_000_000_000;
    let wanted = json!({"name": "ci", "scope": "read", "project": "etl", "expires_unix_ns": expires});
    let made = post(&app, &admin, "/api/tokens", &wanted).await;
    assert_eq!(made.status, 200, "{made:?}");
    let made = made.json();
    let text = made["token"].as_str().expect("its text").to_owned();
    assert!(text.starts_with("qs_") && text.len() > 30, "{text}");
    let listed = ask(&app, &admin, "GET", "/api/tokens").await;
    assert!(!listed.text().contains(&text) && !listed.text().contains("t-invitation"), "{listed:?}");
    let listed = listed.json();
    let entry = named(&listed, "tokens", "ci").expect("listed");
    let expected = json!({
        "name": "ci", "scope": "read", "project": "etl", "created_unix_ns": NOW_MS * 1_000_000,
        "expires_unix_ns": expires, "used_unix_ns": null,
    });
    assert_eq!(entry, &expected);
    let status = async |says: &Says| ask(&app, says, "GET", "/api/queries").await.status.as_u16();
    let says = bearer(&text);
    eventually("the token to be taken", async || (status(&says).await == 200).then_some(())).await;
    refused(&app, "/api/tokens", wanted, 409, "there is a token").await;
    let left = post(&app, &admin, "/api/tokens/ci/revoke", &json!({})).await.json();
    assert_eq!(named(&left, "tokens", "ci"), None);
    eventually("the token to be refused", async || (status(&says).await == 401).then_some(())).await;
    for (name, scope) in [("send", "ingest"), ("all", "admin")] {
        let made = post(&app, &admin, "/api/tokens", &json!({"name": name, "scope": scope})).await.json();
        let project = &named(&made, "tokens", name).expect("made")["project"];
        assert_eq!(project, &if scope == "ingest" { json!("default") } else { Value::Null });
    }
    let of = |action: &str, name: &str| json!([action, "admin", name]);
    let expected = [
        of("token_added", "ci"),
        of("token_revoked", "ci"),
        of("token_added", "send"),
        of("token_added", "all"),
    ];
    assert_eq!(log(&app, 4).await, expected);
}

#[tokio::test]
async fn what_is_no_token_is_refused() {
    let (app, ..) = restricted().await;
    for (body, reason) in [
        (json!({"name": "a b", "scope": "read"}), "name: expected"),
        (json!({"name": "a", "scope": "read", "project": "../x"}), "project: expected"),
        (json!({"name": "a", "scope": "root"}), "unknown variant"),
        (json!({"name": "a", "scope": "invitation"}), "scope: expected"),
        (json!({"name": "a", "scope": "read", "expires_unix_ns": NOW_NS}), "must be to come"),
        (json!({"name": "a"}), "scope"),
        (json!({"name": "a", "scope": "read", "more": 1}), "unknown field"),
    ] {
        refused(&app, "/api/tokens", body, 400, reason).await;
    }
    for name in ["gone", "t-invitation"] {
        refused(&app, &format!("/api/tokens/{name}/revoke"), json!({}), 404, "there is no token").await;
    }
    assert_eq!(log(&app, 1).await, Vec::<Value>::new());
}

#[tokio::test]
async fn a_user_is_made_changed_and_removed() {
    let (app, ..) = restricted().await;
    let admin = session('f');
    let wanted = json!({"name": "zoe@x", "password": PASSWORD, "role": "editor", "project": "etl"});
    let made = post(&app, &admin, "/api/users", &wanted).await.json();
    let entry = |role: &str, project: Option<&str>| {
        json!({
            "name": "zoe@x", "role": role, "project": project, "created_unix_ns": NOW_MS * 1_000_000,
            "is_of_provider": false,
        })
    };
    assert_eq!(named(&made, "users", "zoe@x"), Some(&entry("editor", Some("etl"))));
    let stored = async || app.store.access().user("zoe@x").await.expect("a store").expect("there").password;
    let first = stored().await;
    assert!(first.starts_with("$argon2id$"), "{first}");
    refused(&app, "/api/users", wanted, 409, "there is a user").await;
    let change = "/api/users/zoe@x/change";
    let changed = post(&app, &admin, change, &json!({"role": "viewer"})).await.json();
    assert_eq!(named(&changed, "users", "zoe@x"), Some(&entry("viewer", None)));
    post(&app, &admin, change, &json!({"password": "another good password"})).await.json();
    assert_ne!(stored().await, first);
    for body in [
        json!({}),
        json!({"project": "etl"}),
        json!({"role": "viewer", "password": PASSWORD}),
        json!({"password": PASSWORD, "project": "etl"}),
    ] {
        refused(&app, change, body, 400, "one of role").await;
    }
    refused(&app, change, json!({"password": "short"}), 400, "password: a password has 10").await;
    refused(&app, change, json!({"role": "viewer", "project": "a b"}), 400, "project: expected").await;
    refused(&app, "/api/users/eve/change", json!({"role": "viewer"}), 404, "there is no user").await;
    let left = post(&app, &admin, "/api/users/zoe@x/remove", &json!({})).await.json();
    assert_eq!(named(&left, "users", "zoe@x"), None);
    refused(&app, "/api/users/zoe@x/remove", json!({}), 404, "there is no user").await;
    for (name, password, reason) in [("a b", PASSWORD, "name: "), ("a", "short", "password: ")] {
        let body = json!({"name": name, "password": password, "role": "viewer"});
        refused(&app, "/api/users", body, 400, reason).await;
    }
    let expected = ["user_added", "role_changed", "password_changed", "user_removed"];
    assert_eq!(log(&app, 9).await, expected.map(|action| json!([action, "admin", "zoe@x"])));
}

#[tokio::test]
async fn an_administrator_of_a_project_manages_that_one() {
    let (app, ..) = restricted().await;
    let admin = session('c');
    let names = async |path: &str, of: &str, name: &str| -> Vec<String> {
        let listed = ask(&app, &admin, "GET", path).await.json();
        let all = listed[of].as_array().expect("a list").iter();
        all.map(|entry| entry[name].as_str().expect("a name").to_owned()).collect()
    };
    let users = ["admin of etl", "editor of etl", "viewer of etl"];
    assert_eq!(names("/api/users", "users", "name").await, users);
    assert_eq!(names("/api/sessions", "sessions", "user").await.len(), 3);
    assert!(names("/api/tokens", "tokens", "name").await.contains(&"t-etl".to_owned()));
    assert!(!names("/api/tokens", "tokens", "name").await.contains(&"t-admin".to_owned()));
    // What is made is of the project, whether it is named or not.
    for (path, of, mut body) in [
        ("/api/tokens", "tokens", json!({"name": "mine", "scope": "admin"})),
        ("/api/users", "users", json!({"name": "zoe", "password": PASSWORD, "role": "admin"})),
    ] {
        let made = post(&app, &admin, path, &body).await;
        assert_eq!(made.status, 200, "{made:?}");
        let name = body["name"].as_str().expect("a name").to_owned();
        assert_eq!(named(&made.json(), of, &name).expect("made")["project"], "etl");
        (body["name"], body["project"]) = (json!("other"), json!("default"));
        let refused = post(&app, &admin, path, &body).await;
        assert_eq!(refused.status, 403, "{refused:?}");
    }
    let wider = json!({"role": "admin", "project": "default"});
    assert_eq!(post(&app, &admin, "/api/users/zoe/change", &wider).await.status, 403);
    let changed = post(&app, &admin, "/api/users/zoe/change", &json!({"role": "editor"})).await.json();
    assert_eq!(named(&changed, "users", "zoe").expect("there")["project"], "etl");
    // Those of others are not there.
    for (path, body) in [
        ("/api/tokens/t-admin/revoke", json!({})),
        ("/api/users/viewer/change", json!({"role": "admin"})),
        ("/api/users/viewer/remove", json!({})),
        ("/api/users/admin/change", json!({"password": PASSWORD})),
    ] {
        assert_eq!(post(&app, &admin, path, &body).await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn one_administrator_stays() {
    let (app, ..) = restricted().await;
    for (path, body) in [
        ("/api/users/admin/remove", json!({})),
        ("/api/users/admin/change", json!({"role": "editor"})),
        ("/api/users/admin/change", json!({"role": "admin", "project": "etl"})),
    ] {
        refused(&app, path, body, 409, "last administrator").await;
    }
    add_user(&app, "second", Role::Admin, None).await;
    let answer = post(&app, &session('f'), "/api/users/admin/change", &json!({"role": "editor"})).await;
    assert_eq!(answer.status, 200, "{answer:?}");
}

#[tokio::test]
async fn a_user_of_a_provider_has_no_password() {
    let (app, ..) = restricted().await;
    let user = User {
        name: "kim".into(),
        role: Role::Viewer,
        project: None,
        password: format!("{OF_PROVIDER}https://id.example 1"),
        created_unix_ms: NOW_MS,
    };
    assert!(app.store.access().add_user(user).await.expect("a store"));
    let listed = ask(&app, &session('f'), "GET", "/api/users").await.json();
    assert_eq!(named(&listed, "users", "kim").expect("listed")["is_of_provider"], true);
    refused(&app, "/api/users/kim/change", json!({"password": PASSWORD}), 409, "logs in at a provider").await;
    let answer = post(&app, &session('f'), "/api/users/kim/change", &json!({"role": "editor"})).await;
    assert_eq!(answer.status, 200, "{answer:?}");
}

#[tokio::test]
async fn a_session_of_a_provider_ends_after_half_a_day_however_it_is_used() {
    let (app, ..) = restricted().await;
    let user = |name: &str, password: &str| User {
        name: name.into(),
        role: Role::Viewer,
        project: None,
        password: password.into(),
        created_unix_ms: NOW_MS,
    };
    let half_a_day_ms = 12 * 3_600_000;
    for (letter, name, password, created_unix_ms, status) in [
        ('5', "kim", "openid:https://id.example 1", NOW_MS - half_a_day_ms, 401),
        ('6', "lee", "openid:https://id.example 2", NOW_MS - half_a_day_ms + 1, 200),
        ('7', "sam", "$argon2id$", NOW_MS - half_a_day_ms, 200),
    ] {
        let access = app.store.access();
        assert!(access.add_user(user(name, password)).await.expect("a store"));
        let hash = hash_token(&id_of(letter));
        let begun =
            queryscope_store::Session { hash, user: name.into(), created_unix_ms, used_unix_ms: NOW_MS };
        assert!(access.begin_session(begun).await.expect("a store"));
        assert_eq!(ask(&app, &session(letter), "GET", "/api/queries").await.status, status, "{name}");
    }
}

#[tokio::test]
async fn a_session_is_listed_and_ended() {
    let (app, ..) = restricted().await;
    let listed = ask(&app, &session('f'), "GET", "/api/sessions").await.json();
    let all = listed["sessions"].as_array().expect("a list");
    let of = |user: &str| all.iter().find(|session| session["user"] == user).expect("listed");
    assert_eq!((&of("admin")["is_yours"], &of("viewer")["is_yours"]), (&json!(true), &json!(false)));
    let id = of("viewer")["id"].as_str().expect("an id");
    assert_eq!(ask(&app, &session('d'), "GET", "/api/queries").await.status, 200);
    let left = post(&app, &session('f'), &format!("/api/sessions/{id}/end"), &json!({})).await.json();
    assert_eq!(left["sessions"].as_array().expect("a list").len(), all.len() - 1);
    assert_eq!(
        ask(&app, &session('d'), "GET", "/api/queries").await.status,
        401,
        "at once on this collector"
    );
    refused(&app, &format!("/api/sessions/{id}/end"), json!({}), 404, "there is no session").await;
    assert_eq!(log(&app, 1).await, [json!(["session_ended", "admin", "viewer"])]);
}

#[tokio::test]
async fn another_site_manages_nothing() {
    let (app, ..) = restricted().await;
    let paths = ["/api/tokens", "/api/tokens/t-etl/revoke", "/api/users", "/api/users/viewer/remove"];
    for path in paths {
        let request = || {
            let request =
                Request::post(path).header(header::HOST, "localhost").header("content-type", "text/plain");
            let admin = session('f');
            let (name, value) = admin.header();
            with_header(request.body(Body::from("{}")).expect("a request"), name, value)
        };
        assert_eq!(app.send(request()).await.status, 415, "{path}");
        for (name, value) in [("sec-fetch-site", "cross-site"), ("origin", "https://evil.example")] {
            assert_eq!(app.send(with_header(request(), name, value)).await.status, 403, "{path} {name}");
        }
    }
}

#[tokio::test]
async fn an_open_service_is_managed_with_a_token_alone() {
    let app = TestApp::new().await;
    super::add_token(&app, "t-admin", queryscope_store::Scope::Admin, "*", None).await;
    let app = app.restarted().await;
    for path in ["/api/tokens", "/api/users", "/api/sessions"] {
        assert_eq!(app.get(path).await.status, 403, "{path}");
        assert_eq!(ask(&app, &bearer("t-admin"), "GET", path).await.status, 200, "{path}");
    }
    let service = app.get("/api/service").await.json();
    assert_eq!((&service["is_open"], &service["has_login"]), (&json!(true), &json!(false)), "{service}");
    assert_eq!((&service["keep_days"], &service["silent_after_s"]), (&Value::Null, &json!(60)), "{service}");
}

#[tokio::test]
async fn a_provider_that_is_away_leaves_the_password() {
    let app = crate::app::Setup::with(|settings| {
        settings.reading.login = true;
        let provider =
            queryscope_collector::OpenIdOptions::new("http://127.0.0.1:9/realm", "queryscope".into());
        settings.reading.openid = Some(provider.expect("a provider"));
    })
    .start()
    .await;
    let page = app.get("/login?next=/now").await.text();
    assert!(
        page.contains("<a class=\"instead\" href=\"/login/openid?next=%2Fnow\">Sign in with 127.0.0.1</a>"),
        "{page}"
    );
    let away = app.get("/login/openid?next=/now").await;
    assert_eq!(away.status, 502, "{away:?}");
    let text = away.text();
    assert!(text.contains("the provider http://127.0.0.1:9/realm cannot be asked"), "{text}");
    assert!(
        text.contains("<form method=\"post\" action=\"/login\">") && text.contains("value=\"/now\""),
        "{text}"
    );
    for query in ["", "?code=x&state=y", "?error=access_denied&state="] {
        let answer = app.get(&format!("/login/openid/callback{query}")).await;
        assert_eq!(answer.status, 400, "{query}: {answer:?}");
        assert!(answer.text().contains("not begun here"), "{answer:?}");
    }
    // What the provider says is shown as text.
    let cookie = "queryscope_openid=cw.bg.dg.Lw";
    let request =
        Request::get("/login/openid/callback?state=s&error=%3Cb%3E").header(header::HOST, "localhost");
    let request = with_header(request.body(Body::empty()).expect("a request"), "cookie", cookie);
    let answer = app.send(request).await;
    assert_eq!(answer.status, 403);
    assert!(answer.text().contains("the provider refused: &lt;b&gt;"), "{answer:?}");
    let gone = answer.header("set-cookie").expect("taken back");
    assert!(gone.starts_with("queryscope_openid=;") && gone.contains("Max-Age=0"), "{gone}");
    let none = TestApp::new().await;
    assert_eq!(none.get("/login/openid").await.status, 404);
}
