//! Users, and a service that restricts reading.

use std::path::Path;

use serde_json::{Value, json};

use crate::common::logins::{self, PASSWORD, ask_agent, log_in, send_login, set_cookie, status};
use crate::common::{Service, queryscope, wait_for};
use crate::evaluated::{batches, post, until_evaluated};

/// Runs `queryscope user` on a folder.
fn user(data: &Path, args: &[&str], password: &str) -> Result<String, String> {
    logins::user(&["--data", &data.to_string_lossy()], args, password)
}

#[test]
fn users_are_made_listed_changed_and_removed() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path();
    user(data, &["add", "ada", "--role", "admin"], PASSWORD).expect("made");
    user(data, &["add", "bob", "--project", "etl"], PASSWORD).expect("made");
    let list = user(data, &["list"], "").expect("listed");
    let lines: Vec<&str> = list.lines().collect();
    assert!(
        lines[0].starts_with("ada\tadmin\t*\t20") && lines[1].starts_with("bob\tviewer\tetl\t20"),
        "{list}"
    );
    for (args, password, reason) in [
        (&["add", "ada"][..], PASSWORD, "there is a user \"ada\" already"),
        (&["add", "eve"], "short", "10 characters or more"),
        (&["add", "a b"], PASSWORD, "name of a user is of"),
        (&["add", "eve", "--role", "root"], PASSWORD, "expected viewer, editor or admin"),
        (&["remove", "eve"], "", "there is no user \"eve\""),
        (&["password", "eve"], PASSWORD, "there is no user \"eve\""),
    ] {
        let refused = user(data, args, password).expect_err("refused");
        assert!(refused.contains(reason), "{args:?}: {refused}");
    }
    user(data, &["remove", "bob"], "").expect("removed");
    assert_eq!(user(data, &["list"], "").expect("listed").lines().count(), 1);
    let removed = queryscope(["user", "remove", "ada", "--data", &data.to_string_lossy()]);
    assert!(removed.err.contains("no administrator of all projects is left"), "{removed:?}");
    removed.success();
}

#[test]
fn reading_with_a_login_needs_a_session_or_a_token() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path();
    user(data, &["add", "ada"], PASSWORD).expect("made");
    let service = Service::start_with(data, &["--login"]);
    let url = service.url.clone();
    for (path, expected) in
        [("/api/queries", 401), ("/metrics", 401), ("/api/live", 401), ("/", 303), ("/v1/health", 200)]
    {
        assert_eq!(status(&url, path, None), expected, "{path}");
    }
    assert_eq!(log_in(&url, "ada", "wrong").0, 401);
    let (entered, cookie) = log_in(&url, "ada", PASSWORD);
    let cookie = cookie.expect("a session");
    assert_eq!((entered, status(&url, "/api/queries", Some(("cookie", &cookie)))), (303, 200));
    let text = data.to_string_lossy();
    let made = ["token", "create", "ci", "--scope", "read", "--expires", "1h", "--data", &text];
    let bearer = format!("Bearer {}", queryscope(made).success().trim_end());
    wait_for("the token to be taken", || {
        (status(&url, "/api/queries", Some(("authorization", &bearer))) == 200).then_some(())
    });
    let list = queryscope(["token", "list", "--data", &text]).success();
    let columns: Vec<&str> = list.trim_end().split('\t').collect();
    assert_eq!((columns[1], columns[3]), ("*", "read"), "{list}");
    assert!(columns[4].ends_with('Z'), "{list}");
    user(data, &["password", "ada"], "another good password").expect("changed");
    wait_for("the session to end", || {
        (status(&url, "/api/queries", Some(("cookie", &cookie))) == 401).then_some(())
    });
    assert_eq!(log_in(&url, "ada", PASSWORD).0, 401);
    service.stop();
    queryscope(["check", "--data", &text]).success();
}

#[test]
fn a_proxy_on_this_machine_names_the_user() {
    let folder = tempfile::tempdir().expect("a folder");
    let flags = ["--trusted-proxy", "127.0.0.0/8", "--proxy-user-header", "X-User"];
    let service = Service::start_with(folder.path(), &flags);
    assert_eq!(status(&service.url, "/api/queries", None), 401);
    assert_eq!(status(&service.url, "/api/queries", Some(("x-user", "ada"))), 200);
    service.stop();
    let other = tempfile::tempdir().expect("a folder");
    let flags = ["--trusted-proxy", "10.0.0.1", "--proxy-user-header", "X-User"];
    let service = Service::start_with(other.path(), &flags);
    assert_eq!(status(&service.url, "/api/queries", Some(("x-user", "ada"))), 401, "not from that address");
    service.stop();
    let text = other.path().to_string_lossy();
    let alone = queryscope(["serve", "--data", &text, "--trusted-proxy", "10.0.0.1"]).failure(1);
    assert!(alone.contains("--proxy-user-header NAME, or --login"), "{alone}");
}

#[test]
fn a_session_is_for_tls_alone_where_a_trusted_proxy_says_that_it_was_asked_so() {
    let folder = tempfile::tempdir().expect("a folder");
    user(folder.path(), &["add", "ada"], PASSWORD).expect("made");
    for (trusted, proto, is_secure) in [
        ("127.0.0.1", Some("https"), true),
        ("127.0.0.1", Some("http"), false),
        ("127.0.0.1", None, false),
        // Whoever asks from another address may say what they like.
        ("10.0.0.1", Some("https"), false),
    ] {
        let service = Service::start_with(folder.path(), &["--login", "--trusted-proxy", trusted]);
        let says = proto.map(|proto| ("x-forwarded-proto", proto));
        let answer = send_login(&service.url, "ada", PASSWORD, says.as_slice());
        let cookie = set_cookie(&answer).expect("a session");
        let parts: Vec<&str> = cookie.split("; ").skip(1).collect();
        let mut expected = vec!["Path=/", "HttpOnly", "SameSite=Lax"];
        expected.extend(is_secure.then_some("Secure"));
        assert_eq!(parts, expected, "{trusted} {proto:?}");
        service.stop();
    }
}

#[test]
fn agents_are_told_and_may_change_what_those_may_who_ask() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path();
    for (name, role, project) in
        [("viewer", "viewer", None), ("editor", "editor", None), ("etl-editor", "editor", Some("etl"))]
    {
        let mut args = vec!["add", name, "--role", role];
        args.extend(project.map(|project| ["--project", project]).into_iter().flatten());
        user(data, &args, PASSWORD).expect("made");
    }
    let text = data.to_string_lossy();
    let sending = queryscope(["token", "create", "etl", "--scope", "ingest", "--data", &text]).success();
    let service = Service::start_with(data, &["--login", "--mcp-actions"]);
    let url = &service.url;
    post(&service, &batches(60));
    until_evaluated(data);
    let session = |user: &str| log_in(url, user, PASSWORD).1.expect("a session");
    let [viewer, editor, of_etl] = ["viewer", "editor", "etl-editor"].map(session);

    let listed = |header: Option<logins::Header>| ask_agent(url, header.as_slice(), "tools/list", &json!({}));
    assert_eq!(listed(None).0, 401);
    assert_eq!(listed(Some(("cookie", "queryscope_session=made-up"))).0, 401);
    assert_eq!(listed(Some(("authorization", "Bearer made-up"))).0, 401);
    assert_eq!(listed(Some(("authorization", &format!("Bearer {}", sending.trim())))).0, 403);
    let (status, tools) = listed(Some(("cookie", &viewer)));
    assert_eq!((status, tools.contains("why_slower")), (200, true), "{tools}");

    let call = |cookie: &str, tool: &str, arguments: Value| {
        let (status, told) = ask_agent(
            url,
            &[("cookie", cookie)],
            "tools/call",
            &json!({"name": tool, "arguments": arguments}),
        );
        assert_eq!(status, 200, "{told}");
        let told: Value = serde_json::from_str(&told).expect("JSON");
        told["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{told}")).to_owned()
    };
    let open = call(&viewer, "issues", json!({}));
    assert!(open.contains("orders/daily"), "{open}");
    for tool in ["issues", "what_got_worse", "running", "findings"] {
        let told = call(&of_etl, tool, json!({}));
        assert!(!told.contains("orders/daily"), "{tool} tells of another project: {told}");
    }
    let get = ureq::get(format!("{url}/api/issues?state=open,regressed")).header("cookie", &viewer).call();
    let issues = get.expect("an answer").body_mut().read_to_string().expect("text");
    let issues: Value = serde_json::from_str(&issues).expect("JSON");
    let id = issues["issues"][0]["id"].as_str().expect("an issue");
    let resolve = |cookie: &str| call(cookie, "resolve", json!({"id": id, "comment": "over"}));
    let refused = resolve(&viewer);
    assert!(refused.contains("403") && refused.contains("editor"), "{refused}");
    let refused = resolve(&of_etl);
    assert!(refused.contains("no issue"), "{refused}");
    let resolved = resolve(&editor);
    assert!(resolved.contains("resolved by editor"), "{resolved}");
    // As if 13 hours had passed, and the time of the token were over.
    let reading =
        queryscope(["token", "create", "ci", "--scope", "read", "--expires", "1h", "--data", &text])
            .success();
    let reading = format!("Bearer {}", reading.trim());
    let by_token = Some(("authorization", &*reading));
    wait_for("the token to be taken", || (listed(by_token).0 == 200).then_some(()));
    let db = rusqlite::Connection::open(data.join("queryscope.db")).expect("the database");
    db.execute_batch(
        "UPDATE login_session SET used_unix_ms = used_unix_ms - 13 * 3600000;
         UPDATE token SET expires_unix_ms = 1 WHERE name = 'ci'",
    )
    .expect("aged");
    for says in [Some(("cookie", &*viewer)), by_token] {
        wait_for("it to be refused", || (listed(says).0 == 401).then_some(()));
    }
    service.stop();
}

#[test]
fn agents_of_users_of_a_proxy_are_told_what_those_may_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let flags = [
        "--trusted-proxy",
        "127.0.0.1",
        "--proxy-user-header",
        "X-User",
        "--proxy-groups-header",
        "X-Groups",
        "--mcp-actions",
    ];
    let service = Service::start_with(folder.path(), &flags);
    post(&service, &batches(60));
    until_evaluated(folder.path());
    let call = |groups: &str, tool: &str, arguments: Value| {
        let headers = [("x-user", "ada"), ("x-groups", groups)];
        let params = json!({"name": tool, "arguments": arguments});
        let (status, told) = ask_agent(&service.url, &headers, "tools/call", &params);
        assert_eq!(status, 200, "{told}");
        let told: Value = serde_json::from_str(&told).expect("JSON");
        told["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{told}")).to_owned()
    };
    assert!(call("queryscope-viewer", "issues", json!({})).contains("orders/daily"));
    assert!(call("queryscope-viewer", "running", json!({})).contains("Nothing runs now"));
    assert!(!call("queryscope-viewer:etl", "issues", json!({})).contains("orders/daily"));
    let headers = [("x-user", "ada"), ("x-groups", "queryscope-viewer")];
    let get = logins::agent().get(format!("{}/api/issues", service.url));
    let get = headers.iter().fold(get, |get, (name, value)| get.header(*name, *value)).call();
    let issues = get.expect("an answer").body_mut().read_to_string().expect("text");
    let issues: Value = serde_json::from_str(&issues).expect("JSON");
    let id = issues["issues"][0]["id"].as_str().expect("an issue");
    let resolve = |groups: &str| call(groups, "resolve", json!({"id": id, "comment": "over"}));
    assert!(resolve("queryscope-viewer").contains("403"));
    assert!(resolve("queryscope-editor").contains("resolved by ada"));
    let (status, _) = ask_agent(&service.url, &[], "tools/list", &json!({}));
    assert_eq!(status, 401);
    service.stop();
}

#[test]
fn the_log_has_tokens_of_commands_and_how_reading_is_restricted() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path();
    let text = data.to_string_lossy();
    let service = Service::start(data);
    queryscope(["deploy", "1.4.2", "--service", "etl", "--data", &text]).success();
    service.stop();
    for flags in [&["--login", "--mcp-actions"][..], &["--login", "--mcp-actions"], &[]] {
        Service::start_with(data, flags).stop();
    }
    let db = rusqlite::Connection::open(data.join("queryscope.db")).expect("the database");
    let sql = "SELECT action || ' ' || actor || ' ' || substr(subject, 1, instr(subject || '-', '-') - 1) \
               FROM access_log ORDER BY number";
    let mut statement = db.prepare(sql).expect("a statement");
    let rows = statement.query_map([], |row| row.get::<_, String>(0)).expect("rows");
    let log: Vec<String> = rows.map(|row| row.expect("a row")).collect();
    let expected = [
        "token_added command line deploy",
        "token_revoked command line deploy",
        "settings_changed service login, agents may act",
        "token_added service invitation",
        "token_added service invitation",
        "settings_changed service open",
    ];
    assert_eq!(log, expected);
}

#[test]
fn guessing_from_one_address_ends() {
    let folder = tempfile::tempdir().expect("a folder");
    user(folder.path(), &["add", "ada"], PASSWORD).expect("made");
    let service = Service::start_with(folder.path(), &["--login", "--trusted-proxy", "127.0.0.1"]);
    let guess = |address: &str, user: &str, password: &str| {
        send_login(&service.url, user, password, &[("x-forwarded-for", address)]).status().as_u16()
    };
    // Another name each time: the limit is that of the address, a /64 of IPv6.
    for n in 0..20 {
        assert_eq!(guess(&format!("2001:db8::{n}"), &format!("user-{n}"), "guess"), 401, "{n}");
    }
    assert_eq!(guess("2001:db8::ffff", "ada", PASSWORD), 429);
    assert_eq!(guess("2001:db8:0:1::1", "ada", "guess"), 401, "others go on");
    assert_eq!(guess("203.0.113.7", "ada", PASSWORD), 303);
    service.stop();
}

#[test]
fn the_log_says_from_where_an_issue_was_muted() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path();
    let service = Service::start(data);
    post(&service, &batches(60));
    until_evaluated(data);
    let known = service.get("/api/issues?state=open,regressed").json();
    let id = known["issues"][0]["id"].as_str().expect("an issue");
    let url = format!("{}/api/issues/{id}/mute", service.url);
    let mute = ureq::post(&url).header("content-type", "application/json");
    let muted = mute.send(r#"{"until_other": "engine", "by": "Ada"}"#).expect("an answer");
    assert_eq!(muted.status(), 200);
    let data = data.to_string_lossy();
    let token = queryscope(["token", "create", "ops", "--scope", "admin", "--data", &data]).success();
    let token = format!("Bearer {}", token.trim());
    let audit = wait_for("the token to be taken", || {
        let asked = ureq::get(format!("{}/api/audit?limit=2", service.url)).header("authorization", &token);
        asked.call().ok()?.body_mut().read_to_string().ok()
    });
    let audit: Value = serde_json::from_str(&audit).expect("JSON");
    let entries = audit["entries"].as_array().expect("entries").iter();
    let muted = entries.map(|entry| [&entry["action"], &entry["actor"], &entry["address"]]);
    let expected = ["issue_muted", "Ada", "127.0.0.1"];
    assert!(muted.into_iter().any(|entry| entry == expected), "{audit}");
    service.stop();
}
