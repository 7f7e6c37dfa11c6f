//! Connections that do nothing keep nobody out.

use std::net::TcpStream;
use std::process::Command;
use std::time::{Duration, Instant};

use queryscope_torture::Client;

use super::common::{Running, wait_for};

/// After so long the service closes a connection that asks nothing.
const HEAD_DEADLINE: Duration = Duration::from_secs(30);

/// Starts the service in a shell that has set a limit.
const START: &str = r#"exec "$0" serve --bind 127.0.0.1:0 --data "$1""#;

/// Asks for health beside so many connections that do nothing.
fn check(limit: &str, idle: usize) {
    let folder = tempfile::tempdir().expect("a folder");
    let binary = env!("CARGO_BIN_EXE_queryscope");
    let script = format!("ulimit {limit}; {START}");
    let running = Running::start(Command::new("sh").args(["-c", &script, binary]).arg(folder.path()));
    let url = wait_for("the service", || {
        running.out().lines().find_map(|line| Some(line.trim().strip_prefix("dashboard ")?.trim().to_owned()))
    });
    let address = url.trim_start_matches("http://");
    let idle: Vec<TcpStream> =
        (0..idle).map(|_| TcpStream::connect(address).expect("taken or waiting to be")).collect();
    let begun = Instant::now();
    let health = Client::new(&url).get("/v1/health").expect("an answer");
    assert!(
        begun.elapsed() < HEAD_DEADLINE / 2,
        "not only once the others have been closed for their silence"
    );
    assert_eq!(health.status, 200, "beside {} connections", idle.len());
}

#[test]
fn more_connections_are_served_than_the_usual_limit_of_open_files() {
    check("-S -n 64", 200);
}

/// The service may not raise this one.
#[test]
fn a_low_limit_of_open_files_is_shared_with_those_who_ask() {
    check("-n 256", 400);
}
