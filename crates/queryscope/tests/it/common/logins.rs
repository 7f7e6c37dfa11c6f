//! Users of a service that restricts reading: made by commands, logged in as by a browser.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use ureq::http::Response;
use ureq::{Agent, Body};

pub(crate) const PASSWORD: &str = "correct horse battery";

/// A header that says who asks, or how.
pub(crate) type Header<'a> = (&'a str, &'a str);

/// Runs `queryscope user` on a store with a password on standard input; standard output, or else standard error.
pub(crate) fn user(place: &[&str], args: &[&str], password: &str) -> Result<String, String> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_queryscope"))
        .arg("user")
        .args(args)
        .args(place)
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

/// As a browser asks that follows no redirection by itself.
pub(crate) fn agent() -> Agent {
    Agent::config_builder().max_redirects(0).http_status_as_error(false).build().into()
}

/// The answer to the form of a login.
pub(crate) fn send_login(url: &str, user: &str, password: &str, headers: &[Header]) -> Response<Body> {
    let request = agent().post(format!("{url}/login"));
    let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
    request.send_form([("user", user), ("password", password)]).expect("an answer")
}

/// What an answer tells a browser to keep.
pub(crate) fn set_cookie(answer: &Response<Body>) -> Option<&str> {
    answer.headers().get("set-cookie").and_then(|cookie| cookie.to_str().ok())
}

/// The status and the cookie of a login.
pub(crate) fn log_in(url: &str, user: &str, password: &str) -> (u16, Option<String>) {
    let answer = send_login(url, user, password, &[]);
    let cookie = set_cookie(&answer).and_then(|cookie| cookie.split(';').next());
    (answer.status().as_u16(), cookie.map(Into::into))
}

/// The status of a read with a header.
pub(crate) fn status(url: &str, path: &str, header: Option<Header>) -> u16 {
    let request = agent().get(format!("{url}{path}"));
    let request = header.iter().fold(request, |request, (name, value)| request.header(*name, *value));
    request.call().expect("an answer").status().as_u16()
}

/// Asks a method of `/mcp`; the status, and the answer as text.
pub(crate) fn ask_agent(url: &str, headers: &[Header], method: &str, params: &Value) -> (u16, String) {
    let request = agent().post(format!("{url}/mcp")).header("accept", "application/json, text/event-stream");
    let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let mut answer =
        request.header("content-type", "application/json").send(body.to_string()).expect("an answer");
    (answer.status().as_u16(), answer.body_mut().read_to_string().expect("text"))
}
