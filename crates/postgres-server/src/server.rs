//! One server.

use std::fs::{self, File, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use tempfile::TempDir;

use crate::installed::{give, program};

/// Ports servers listen on.
const PORTS: std::ops::Range<u16> = 17_900..32_000;
/// How long a server may take to start or end.
const PATIENCE: Duration = Duration::from_mins(1);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// What a server does without where nothing is to survive the machine.
pub(crate) const NOT_DURABLE: [&str; 3] = ["fsync=off", "synchronous_commit=off", "full_page_writes=off"];

/// A server that lives as long as this.
#[derive(Debug)]
pub struct Server {
    _home: TempDir,
    folder: PathBuf,
    port: u16,
    settings: Vec<String>,
    process: Option<Child>,
}

impl Server {
    /// Makes a cluster in a folder of its own and starts a server on it, with settings (`name=value`).
    ///
    /// # Panics
    /// When PostgreSQL is not installed or does not start.
    pub fn start(settings: &[&str]) -> Self {
        Self::start_in(&std::env::temp_dir(), settings)
    }

    /// The same, in a folder that its user may enter.
    ///
    /// # Panics
    /// Those of [`Server::start`].
    pub fn start_in(folder: &Path, settings: &[&str]) -> Self {
        let mut server = Self::made_in(folder, settings);
        server.resume();
        server
    }

    /// Starts a server that takes connections over TLS alone, with a certificate and its key (PEM).
    ///
    /// # Panics
    /// Those of [`Server::start`].
    pub fn start_with_tls(certificate: &str, key: &str) -> Self {
        let mut server = Self::made_in(&std::env::temp_dir(), &["ssl=on"]);
        let files = [
            ("server.crt", certificate),
            ("server.key", key),
            ("pg_hba.conf", "hostssl all all 127.0.0.1/32 trust\n"),
        ];
        for (name, text) in files {
            let path = server.folder.join(name);
            fs::write(&path, text).expect("a file");
            fs::set_permissions(&path, Permissions::from_mode(0o600)).expect("ours");
            give(&path);
        }
        server.resume();
        server
    }

    fn made_in(folder: &Path, settings: &[&str]) -> Self {
        let home = tempfile::tempdir_in(folder).expect("a folder");
        // The server may run as another user.
        fs::set_permissions(home.path(), Permissions::from_mode(0o755)).expect("ours");
        let folder = home.path().join("postgres");
        initdb(&folder);
        let settings = settings.iter().map(|&setting| setting.to_owned()).collect();
        Self { _home: home, folder, port: free_port(), settings, process: None }
    }

    /// The id of its first process, the parent of all others.
    ///
    /// # Panics
    /// When it does not run.
    pub fn pid(&self) -> u32 {
        self.process.as_ref().expect("it runs").id()
    }

    /// The address of a schema in it.
    pub fn address(&self, schema: &str) -> String {
        address(self.port, schema)
    }

    /// Runs statements.
    ///
    /// # Panics
    /// When they fail.
    pub fn run(&self, sql: &str) -> String {
        run(self.port, sql)
    }

    /// Ends it as a crash does; what it had not written to its log is lost.
    ///
    /// # Panics
    /// When it does not end.
    pub fn crash(&mut self) {
        let Some(mut process) = self.process.take() else { return };
        // Its children end when they find it gone; they must have, before it can start anew.
        process.kill().expect("a process");
        process.wait().expect("ended");
    }

    /// Starts it again.
    ///
    /// # Panics
    /// When it does not start.
    pub fn resume(&mut self) {
        let begun = Instant::now();
        while !is_ready(self.port) {
            assert!(begun.elapsed() < PATIENCE, "PostgreSQL does not start: {}", log(&self.folder));
            // What is left of the one before may still hold its memory: then it ends, and is tried again.
            let ended = match &mut self.process {
                None => true,
                Some(process) => process.try_wait().expect("a process").is_some(),
            };
            if ended {
                let mut server = command(&self.folder, self.port, &self.settings);
                self.process = Some(server.spawn().expect("started"));
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(process) = &mut self.process {
            // SIGQUIT: at once, without a last checkpoint.
            if let Some(pid) = rustix::process::Pid::from_raw(process.id().cast_signed()) {
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::QUIT);
            }
            let _ = process.wait();
        }
    }
}

/// Makes a cluster, unless there is one.
pub(crate) fn initdb(folder: &Path) {
    if folder.join("PG_VERSION").exists() {
        return;
    }
    fs::create_dir_all(folder).expect("a folder");
    give(folder);
    let mut initdb = program("initdb");
    initdb.args([
        "--no-sync",
        "--auth=trust",
        "--username=queryscope",
        "--encoding=UTF8",
        "--locale=C",
        "-D",
    ]);
    let done = initdb.arg(folder).current_dir("/").output().expect("initdb runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// The command that runs a server.
pub(crate) fn command(folder: &Path, port: u16, settings: &[String]) -> Command {
    let mut command = program("postgres");
    command.arg("-D").arg(folder).args(["-p", &port.to_string()]);
    let ours = ["listen_addresses=127.0.0.1", "unix_socket_directories=", "max_connections=300"];
    for setting in ours.into_iter().chain(settings.iter().map(String::as_str)) {
        command.args(["-c", setting]);
    }
    let log = File::options().create(true).append(true).open(folder.with_extension("log")).expect("a log");
    command.current_dir("/").stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
    command
}

fn log(folder: &Path) -> String {
    fs::read_to_string(folder.with_extension("log")).unwrap_or_default()
}

pub(crate) fn address(port: u16, schema: &str) -> String {
    format!("postgres://queryscope@127.0.0.1:{port}/postgres?options=-csearch_path%3D{schema}")
}

/// Runs statements with `psql`.
pub(crate) fn run(port: u16, sql: &str) -> String {
    let mut psql = program("psql");
    psql.args([
        "-XAtq",
        "-v",
        "ON_ERROR_STOP=1",
        "-h",
        "127.0.0.1",
        "-U",
        "queryscope",
        "-p",
        &port.to_string(),
    ]);
    // Certificates of whoever runs this are none of its.
    let psql = psql.args(["-c", sql, "postgres"]).current_dir("/").env("HOME", "/");
    let done = psql.output().expect("psql runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).trim().to_owned()
}

pub(crate) fn is_ready(port: u16) -> bool {
    let mut ready = program("pg_isready");
    ready.args(["-q", "-h", "127.0.0.1", "-p", &port.to_string()]).current_dir("/");
    ready.status().is_ok_and(|status| status.success())
}

/// A port nobody listens on.
pub(crate) fn free_port() -> u16 {
    let now = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.subsec_nanos());
    let (first, count) = (PORTS.start, u32::from(PORTS.end - PORTS.start));
    let ports = (0..count).map(|step| first + ((now.wrapping_add(step)) % count) as u16);
    ports.into_iter().find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok()).expect("a free port")
}
