//! One server for all tests of a run, whichever processes they are in.
//!
//! The first process that needs it starts it; each process that uses it holds a shared lock on a file. A shell that
//! outlives them all ends the server by its process id once it gets the exclusive lock: nobody has used it for some
//! seconds.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::server::{NOT_DURABLE, address, command, free_port, initdb, is_ready, run};

const PATIENCE: Duration = Duration::from_mins(1);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Runs the server and ends it when nobody has held the lock ($1) for a moment.
const KEEPER: &str = r#"
lock=$1; shift
"$@" &
server=$!
while sleep 5; do
    kill -0 "$server" 2>/dev/null || exit
    flock --nonblock --exclusive "$lock" sh -c 'kill -QUIT "$1"; while kill -0 "$1" 2>/dev/null; do sleep 0.1; done' - "$server" && break
done
wait
"#;

/// The address of a new, empty schema on the server all tests share.
///
/// # Panics
/// When PostgreSQL is not installed or does not start.
pub fn shared() -> String {
    static PORT: OnceLock<u16> = OnceLock::new();
    static SCHEMAS: AtomicU32 = AtomicU32::new(0);
    let port = *PORT.get_or_init(start);
    let number = SCHEMAS.fetch_add(1, Ordering::Relaxed);
    let schema = format!("test_{}_{number}", std::process::id());
    run(port, &format!("DROP SCHEMA IF EXISTS {schema} CASCADE"));
    run(port, &format!("CREATE SCHEMA {schema}"));
    address(port, &schema)
}

/// Starts the server, unless it runs; gives back its port.
fn start() -> u16 {
    let folder = folder();
    fs::create_dir_all(&folder).expect("a folder");
    let lock = |name| File::options().create(true).append(true).open(folder.join(name)).expect("a file");
    let gate = lock("gate");
    gate.lock().expect("a turn");
    let in_use = lock("in-use");
    in_use.lock_shared().expect("in use");
    // For as long as this process lives.
    std::mem::forget(in_use);
    let known = fs::read_to_string(folder.join("port")).ok().and_then(|port| port.parse().ok());
    if let Some(port) = known.filter(|port| is_ready(*port)) {
        return port;
    }
    let port = free_port();
    run_apart(&folder, port);
    fs::write(folder.join("port"), port.to_string()).expect("a file");
    port
}

fn run_apart(folder: &Path, port: u16) {
    let cluster = folder.join("cluster");
    // What earlier runs left is worth nothing.
    let _ = fs::remove_dir_all(&cluster);
    initdb(&cluster);
    let server = command(&cluster, port, &NOT_DURABLE.map(str::to_owned));
    let mut keeper = Command::new("setsid");
    keeper.args(["sh", "-c", KEEPER, "keeper"]).arg(folder.join("in-use"));
    keeper.arg(server.get_program()).args(server.get_args());
    keeper.current_dir("/").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    #[expect(clippy::zombie_processes, reason = "it outlives this process")]
    keeper.spawn().expect("started");
    let begun = Instant::now();
    while !is_ready(port) {
        assert!(begun.elapsed() < PATIENCE, "PostgreSQL does not start");
        std::thread::sleep(LOOK_EVERY);
    }
}

/// One for each working copy.
fn folder() -> PathBuf {
    let name: String =
        env!("CARGO_MANIFEST_DIR").chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect();
    std::env::temp_dir().join(format!("queryscope-postgres{name}"))
}
