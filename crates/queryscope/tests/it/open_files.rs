//! Connections that do nothing keep nobody out.

use std::net::TcpStream;
use std::process::Command;

use queryscope_torture::Client;

use super::common::{Running, wait_for};

/// What a shell gives the service, and more connections than that.
const SCRIPT: &str = r#"ulimit -S -n 64; exec "$0" serve --bind 127.0.0.1:0 --data "$1""#;
const IDLE: usize = 200;

#[test]
fn more_connections_are_served_than_the_usual_limit_of_open_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let binary = env!("CARGO_BIN_EXE_queryscope");
    let running = Running::start(Command::new("sh").args(["-c", SCRIPT, binary]).arg(folder.path()));
    let url = wait_for("the service", || {
        running.out().lines().find_map(|line| Some(line.trim().strip_prefix("dashboard ")?.trim().to_owned()))
    });
    let address = url.trim_start_matches("http://");
    let idle: Vec<TcpStream> =
        (0..IDLE).map(|_| TcpStream::connect(address).expect("taken or waiting to be")).collect();
    let health = Client::new(&url).get("/v1/health").expect("an answer");
    assert_eq!(health.status, 200, "beside {} connections", idle.len());
}
