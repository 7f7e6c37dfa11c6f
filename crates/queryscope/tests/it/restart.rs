//! What lasts across a restart.

use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use queryscope_torture::Client;
use uuid::Uuid;

use crate::common::events::Stream;
use crate::common::{Service, command, queryscope, wait_for};

fn status(service: &Service, query: Uuid) -> String {
    let summary = service.get(&format!("/api/queries/{query}"));
    assert_eq!(summary.status, 200, "{}", summary.json());
    summary.json()["status"].as_str().expect("a status").to_owned()
}

#[test]
fn a_running_query_gets_a_fresh_time_of_silence_then_ends_and_goes_on_when_it_reports_again() {
    // Short, and long enough to look at a query before it ends on any machine.
    const SILENT_AFTER: Duration = Duration::from_secs(3);
    let folder = tempfile::tempdir().expect("a folder");
    let serve = ["--silent-after", "3s"];
    let (query, mut stream) = (Uuid::now_v7(), Stream::new());
    let mut events = vec![stream.started(query, "slow")];
    let service = Service::start_with(folder.path(), &serve);
    let posted = Instant::now();
    assert_eq!(service.post(&stream.batch(&events)).counts(), (1, 0));
    service.kill();

    // Longer than a silence may last, while no service runs.
    wait_for("the silence to last too long", || (posted.elapsed() > SILENT_AFTER).then_some(()));
    let begun = Instant::now();
    let service = Service::start_with(folder.path(), &serve);
    assert_eq!(status(&service, query), "running");
    wait_for("the query to end", || (status(&service, query) == "unfinished").then_some(()));
    assert!(begun.elapsed() >= SILENT_AFTER, "it ended after {:?}", begun.elapsed());
    service.stop();

    let service = Service::start(folder.path());
    assert_eq!(status(&service, query), "unfinished");
    events.push(stream.progress(query));
    assert_eq!(service.post(&stream.batch(&events)).counts(), (1, 1));
    assert_eq!(status(&service, query), "running");
    events.push(stream.finished(query, "slow"));
    assert_eq!(service.post(&stream.batch(&events)).counts(), (1, 2));
    service.kill();

    let service = Service::start(folder.path());
    assert_eq!(status(&service, query), "finished");
    events.insert(0, stream.process());
    assert_eq!(service.recording(query).expect("ended"), events);
    assert_eq!(service.post(&stream.batch(&events[1..])).counts(), (0, 3));
}

#[test]
fn a_folder_is_used_by_one_service_at_a_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    let second = Ending::of(&["serve", "--bind", "127.0.0.1:0", "--data", &service.data.to_string_lossy()]);
    second.fails(1, &[&service.data.to_string_lossy(), "in use by another queryscope", "--data"]);
    assert_eq!(service.get("/v1/health").status, 200);
}

#[test]
fn the_token_is_made_once_printed_once_and_for_its_owner_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("made/on/the/way");
    let service = Service::start(&data);
    let out = service.out();
    assert!(out.contains(&format!("queryscope.install(\n        \"{}\"", service.url)), "{out}");
    assert!(out.contains(&format!("token=\"{}\"", service.token)), "{out}");
    assert!(out.contains(&format!("queryscope demo --data {}", data.display())), "{out}");
    let mode = |path: &std::path::Path| std::fs::metadata(path).expect("there").permissions().mode() & 0o777;
    assert_eq!((mode(&data.join("token")), mode(&data)), (0o600, 0o700));
    let token = service.token.clone();
    service.stop();

    let service = Service::start(&data);
    assert_eq!(service.token, token);
    let out = service.out();
    assert!(!out.contains(&token) && out.contains("token      kept in "), "{out}");
    assert_eq!(service.post(&Stream::new().batch(&[])).counts(), (0, 0));
}

/// How a command ended that should not have begun.
struct Ending {
    code: Option<i32>,
    text: String,
}

impl Ending {
    fn of(args: &[&str]) -> Self {
        let ended = queryscope(args);
        Self { code: ended.status.code(), text: ended.err }
    }

    /// Asserts the exit code and that the text says all of this.
    fn fails(&self, code: i32, says: &[&str]) {
        assert_eq!(self.code, Some(code), "{}", self.text);
        for part in says {
            assert!(self.text.contains(part), "no {part:?} in: {}", self.text);
        }
    }
}

#[test]
fn settings_that_can_not_be_are_refused_with_what_is_allowed() {
    for (args, says) in [
        (["--silent-after", "soon"], ["--silent-after", "seconds above 0, or a time like 90s or 5m"]),
        (["--silent-after", "0"], ["--silent-after", "seconds above 0, or a time like 90s or 5m"]),
        (["--keep-days", "0"], ["--keep-days", "1..=36500"]),
        (["--bind", "localhost"], ["--bind", "invalid socket address"]),
    ] {
        Ending::of(&args).fails(2, &says);
    }
}

#[test]
fn a_service_that_can_not_begin_says_why_and_leaves_everything_as_it_was() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data").to_string_lossy().into_owned();
    let serve = ["serve", "--bind", "127.0.0.1:0", "--data", &data];
    let query = Uuid::now_v7();
    let mut stream = Stream::new();
    let service = Service::start(data.as_ref());
    let address = service.url.trim_start_matches("http://");
    let other = folder.path().join("other").to_string_lossy().into_owned();
    Ending::of(&["--bind", address, "--data", &other]).fails(1, &["cannot listen on", address, "--bind"]);
    let finished = stream.finished(query, "kept");
    assert_eq!(service.post(&stream.batch(&[finished])).counts(), (1, 0));
    service.stop();

    let in_a_file = format!("{data}/token/sub");
    Ending::of(&["--data", &in_a_file]).fails(1, &["data folder", &in_a_file, "Not a directory"]);

    let database = folder.path().join("data/queryscope.db");
    let sound = std::fs::read(&database).expect("the database");
    let mut damaged = sound.clone();
    damaged[..16].fill(b'x');
    std::fs::write(&database, &damaged).expect("written");
    Ending::of(&serve).fails(1, &["queryscope.db could not be opened", "not a database"]);
    assert!(std::fs::read(&database).expect("kept") == damaged);
    std::fs::write(&database, &sound).expect("written");

    let set_format = |format: i64| {
        let db = rusqlite::Connection::open(&database).expect("a database");
        let before: i64 = db.pragma_query_value(None, "user_version", |row| row.get(0)).expect("a format");
        db.pragma_update(None, "user_version", format).expect("set");
        before
    };
    let format = set_format(99);
    Ending::of(&serve).fails(1, &["has format 99, this version knows up to", "use a newer queryscope"]);
    set_format(format);

    std::fs::write(folder.path().join("data/token"), "\n").expect("written");
    Ending::of(&serve).fails(1, &["data/token is empty", "delete it"]);
    std::fs::remove_file(folder.path().join("data/token")).expect("deleted");

    let service = Service::start(data.as_ref());
    assert_eq!(status(&service, query), "finished");
}

#[test]
fn an_address_for_senders_takes_batches_and_shows_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start_with(folder.path(), &["--ingest-bind", "127.0.0.1:0"]);
    let out = service.out();
    let senders =
        out.lines().find_map(|line| line.trim().strip_prefix("ingest ")).expect("an address").trim();
    let client = Client::new(senders);
    let mut stream = Stream::new();
    let event = stream.finished(Uuid::now_v7(), "sent");
    assert_eq!(client.post(&service.token, &stream.batch(&[event])).expect("an answer").counts(), (1, 0));
    assert_eq!(client.get("/v1/health").expect("an answer").status, 200);
    assert_eq!(client.get("/api/queries").expect("an answer").status, 404);
    assert_eq!(service.queries("").len(), 1);
}

#[test]
fn settings_are_taken_from_the_environment_and_flags_go_first() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut silent = command();
    silent.args(["serve", "--bind", "127.0.0.1:0"]).env("QUERYSCOPE_SILENT_AFTER", "never");
    let refused = crate::common::Running::start(silent.env("QUERYSCOPE_DATA", folder.path())).wait();
    assert!(refused.failure(2).contains("--silent-after"), "named by its flag");
    let mut token = command();
    token.args(["token", "list"]).env("QUERYSCOPE_DATA", folder.path().join("none"));
    let none = crate::common::Running::start(&mut token).wait().failure(1);
    assert!(none.contains("none is no data folder"), "{none}");
}
