//! Users, and a service that restricts reading.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::{Service, queryscope, wait_for};
use crate::evaluated::{batches, post, until_evaluated};

const PASSWORD: &str = "correct horse battery";

/// Runs `queryscope user` with a password on standard input; standard output, or else standard error.
fn user(data: &Path, args: &[&str], password: &str) -> Result<String, String> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_queryscope"))
        .arg("user")
        .args(args)
        .args(["--data".as_ref(), data.as_os_str()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("started");
    // A command that refuses its arguments reads nothing.
    let _ = writeln!(child.stdin.take().expect("a pipe"), "{password}");
    let output = child.wait_with_output().expect("ended");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    if output.status.success() { Ok(text(output.stdout)) } else { Err(text(output.stderr)) }
}

/// The status and the cookie of a login.
fn log_in(url: &str, user: &str, password: &str) -> (u16, Option<String>) {
    let config = ureq::Agent::config_builder().max_redirects(0).http_status_as_error(false).build();
    let form = [("user", user), ("password", password)];
    let answer = ureq::Agent::from(config).post(format!("{url}/login")).send_form(form).expect("an answer");
    let cookie = answer.headers().get("set-cookie").and_then(|cookie| cookie.to_str().ok());
    (answer.status().as_u16(), cookie.and_then(|cookie| cookie.split(';').next()).map(Into::into))
}

/// The status of a read with a header.
fn status(url: &str, path: &str, header: Option<(&str, &str)>) -> u16 {
    let config = ureq::Agent::config_builder().max_redirects(0).http_status_as_error(false).build();
    let mut request = ureq::Agent::from(config).get(format!("{url}{path}"));
    if let Some((name, value)) = header {
        request = request.header(name, value);
    }
    request.call().expect("an answer").status().as_u16()
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
fn guessing_from_one_address_ends() {
    let folder = tempfile::tempdir().expect("a folder");
    user(folder.path(), &["add", "ada"], PASSWORD).expect("made");
    let service = Service::start_with(folder.path(), &["--login", "--trusted-proxy", "127.0.0.1"]);
    let guess = |address: &str, user: &str, password: &str| {
        let config = ureq::Agent::config_builder().max_redirects(0).http_status_as_error(false).build();
        let form = [("user", user), ("password", password)];
        let request = ureq::Agent::from(config).post(format!("{}/login", service.url));
        let answer = request.header("x-forwarded-for", address).send_form(form).expect("an answer");
        answer.status().as_u16()
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
    let audit: serde_json::Value = serde_json::from_str(&audit).expect("JSON");
    let entries = audit["entries"].as_array().expect("entries").iter();
    let muted = entries.map(|entry| [&entry["action"], &entry["actor"], &entry["address"]]);
    let expected = ["issue_muted", "Ada", "127.0.0.1"];
    assert!(muted.into_iter().any(|entry| entry == expected), "{audit}");
    service.stop();
}
