//! `queryscope migrate`: what a folder keeps is the same in a database, whatever interrupts the move.

mod issues;
mod people;
mod refused;

use std::fs;
use std::path::{Path, PathBuf};

use rustix::process::Signal;
use serde_json::Value;
use uuid::Uuid;

use crate::check::folder::Folder;
use crate::common::database::{Database, Databases};
use crate::common::events::{Stream, captures};
use crate::common::{Ended, Running, Service, command, queryscope, wait_for};

/// Running queries of the tests stay so.
const NEVER_SILENT: [&str; 2] = ["--silent-after", "1d"];

/// A database to move to, and where its recordings are.
pub(crate) struct Target<'s> {
    pub(crate) database: Database<'s>,
    pub(crate) recordings: PathBuf,
    node: PathBuf,
}

impl<'s> Target<'s> {
    pub(crate) fn make(root: &Path, databases: &'s Databases, name: &str) -> Self {
        let node = root.join(format!("node-{name}"));
        fs::create_dir(&node).expect("a folder");
        Self { database: databases.make(name), recordings: root.join(format!("recordings-{name}")), node }
    }

    pub(crate) fn arguments(&self, from: &Path) -> Vec<String> {
        let [from, place] = [from, &self.recordings].map(|path| path.to_str().expect("a text").to_owned());
        ["migrate", "--from", &from, "--to", &self.database.address(), "--recordings", &place]
            .map(Into::into)
            .into()
    }

    pub(crate) fn migrate(&self, from: &Path) -> Ended {
        queryscope(self.arguments(from))
    }

    /// Starts a collector, to which is sent with this token.
    fn serve(&self, token: &str) -> Service {
        self.serve_with(token, &[])
    }

    fn serve_with(&self, token: &str, more: &[&str]) -> Service {
        fs::write(self.node.join("token"), token).expect("a file");
        let (database, place) = (self.database.address(), self.recordings.to_string_lossy());
        let shared = ["--database", &database, "--recordings", &place];
        Service::start_with(&self.node, &[&shared[..], &NEVER_SILENT, more].concat())
    }

    /// Judges the database against what was acknowledged; what it comes to.
    fn check(&self, acknowledged: &[PathBuf]) -> String {
        // Before it there are notes of recordings that were written and not made known.
        let said = self.judge(acknowledged).success();
        let total = said.lines().last().expect("a total");
        assert!(total.ends_with(": sound"), "{said}");
        total.to_owned()
    }

    /// Judges the database against what was acknowledged.
    fn judge(&self, acknowledged: &[PathBuf]) -> Ended {
        let mut args: Vec<String> =
            ["check", "--database", &self.database.address(), "--recordings"].map(Into::into).into();
        args.push(self.recordings.to_string_lossy().into());
        for log in acknowledged {
            args.extend(["--acknowledged".into(), log.to_string_lossy().into()]);
        }
        queryscope(args)
    }
}

/// What a service answers that does not depend on the time it is asked.
fn answers(service: &Service) -> Vec<(String, Value)> {
    let queries = service.queries("");
    let mut paths: Vec<String> = [
        "/api/queries?limit=1000&order=oldest",
        "/api/queries?limit=3&offset=2",
        "/api/queries?status=unfinished",
        "/api/queries?search=slow",
        "/api/groups",
        "/api/groups?by=fingerprint",
        "/api/versions",
        "/api/facets",
        "/api/facets?status=finished",
        "/v1/health",
    ]
    .map(Into::into)
    .into();
    for query in &queries {
        let id = query["query_id"].as_str().expect("an id");
        paths.extend(["", "/insights"].map(|what| format!("/api/queries/{id}{what}")));
    }
    let mut answers: Vec<(String, Value)> = paths
        .into_iter()
        .map(|path| {
            let answer = service.get(&path);
            (path, serde_json::json!([answer.status, answer.json()]))
        })
        .collect();
    for query in &queries {
        let id = query["query_id"].as_str().expect("an id").to_owned();
        let recording = service.recording(&id);
        assert_eq!(recording.is_none(), query["status"] == "running", "{query}");
        answers.push((format!("the recording of {id}"), recording.into()));
    }
    answers.push(("the list".into(), queries.into()));
    answers
}

#[test]
fn the_read_api_answers_the_same_before_and_after() {
    let root = tempfile::tempdir().expect("a folder");
    let folder = Folder::make(root.path());
    let mut import = vec!["import".into(), "--data".into(), folder.data.clone()];
    import.extend(captures());
    queryscope(&import).success();
    // Two ends of one query: the first to arrive has the higher seq, and counts.
    let mut twice = Stream::new();
    let (query, mut ends) = (Uuid::now_v7(), Vec::new());
    ends.extend(["first", "second"].map(|label| twice.finished(query, label)));
    // Of no query, and of one whose start nobody said.
    let loose = twice.event("note", r#""text":"x""#);
    let guess = twice.progress(Uuid::now_v7());
    let service = Service::start_with(&folder.data, &NEVER_SILENT);
    for sent in [&ends[1..], &ends[..1], &[loose.clone(), guess.clone()]] {
        service.post(&twice.batch(sent)).counts();
    }
    let token = service.token.clone();
    let before = answers(&service);
    assert!(before.len() > 30, "{}", before.len());
    service.stop();

    let databases = Databases::start();
    let target = Target::make(root.path(), &databases, "moved");
    let said = target.migrate(&folder.data).success();
    assert!(said.contains("; 0 queries were there\n"), "{said}");
    target.check(&[]);
    let service = target.serve(&token);
    let after = answers(&service);
    for (before, after) in before.iter().zip(&after) {
        assert_eq!(before, after);
    }
    assert_eq!(before.len(), after.len());

    // What had been seen of each stream is seen, and its token is taken.
    let sent = twice.batch(&[ends.remove(0), ends.remove(0), loose, guess]);
    assert_eq!(service.post(&sent).counts(), (0, 4));
    assert_eq!(service.post(&folder.stream.batch(&folder.events)).counts(), (0, 9));
    // What it had not is new: the late query goes on where it was.
    let mut stream = folder.stream.clone();
    let end = stream.finished(folder.id("$R"), "slow");
    assert_eq!(service.post(&stream.batch(std::slice::from_ref(&end))).counts(), (1, 0));
    let recording = service.recording(folder.id("$R")).expect("ended");
    assert_eq!(recording, [stream.process(), folder.events[6].clone(), end]);
    service.stop();
    target.check(&[]);
}

#[test]
fn what_a_repair_found_lost_is_lost_in_the_database_too() {
    let root = tempfile::tempdir().expect("a folder");
    let folder = Folder::make(root.path());
    let data = folder.data.to_string_lossy();
    // All of one query, some of another, and one that nobody knows.
    fs::remove_file(folder.recording("$B")).expect("deleted");
    folder.sql(
        "DELETE FROM chunk WHERE query = $A;
         DELETE FROM chunk WHERE query = $R; DELETE FROM running; DELETE FROM query WHERE id = $R",
    );
    queryscope(["check", "--repair", "--data", &data]).failure(1);
    let databases = Databases::start();
    let target = Target::make(root.path(), &databases, "moved");
    for _ in ["moved", "moved again"] {
        target.migrate(&folder.data).success();
    }
    let acknowledged = root.path().join("acknowledged.jsonl");
    fs::write(&acknowledged, folder.stream.batch(&folder.events)).expect("written");
    let judged = target.judge(&[acknowledged]);
    let says = "9 acknowledged events (3 lost, recorded by the repair of ";
    assert!(judged.out.contains(says) && judged.out.ends_with("): sound but for these\n"), "{judged:?}");
    assert!(!judged.out.contains("deleted"), "{judged:?}");
    judged.failure(1);
    let judged = target.judge(&[]).success();
    assert!(
        judged.contains("of its events are lost, as the repair of "),
        "it is known, and no damage: {judged}"
    );
}

#[test]
fn what_retention_took_does_not_come_back() {
    let root = tempfile::tempdir().expect("a folder");
    let folder = Folder::make(root.path());
    folder.sql(
        "UPDATE stream SET unkept = 1; DELETE FROM chunk WHERE query = $D; DELETE FROM pending_run WHERE query = $D;
         DELETE FROM query WHERE id = $D",
    );
    let databases = Databases::start();
    let target = Target::make(root.path(), &databases, "moved");
    let said = target.migrate(&folder.data).success();
    assert!(said.starts_with("5 queries, 9 events, 1 streams, 1 tokens, 0 issues moved;"), "{said}");
    let acknowledged = root.path().join("acknowledged.jsonl");
    fs::write(&acknowledged, folder.stream.batch(&folder.events)).expect("written");
    let said = target.check(&[acknowledged]);
    assert!(said.contains("9 acknowledged events (1 deleted since)"), "{said}");
    let token = fs::read_to_string(folder.data.join("token")).expect("a token");
    let service = target.serve(token.trim());
    assert_eq!(service.post(&folder.stream.batch(&folder.events)).counts(), (0, 9));
}

/// A folder with what a stream sent, and the file of it.
fn imported(root: &Path, stream: &Stream, events: &[String]) -> (PathBuf, PathBuf) {
    let [data, sent] = ["data", "sent.jsonl"].map(|name| root.join(name));
    fs::write(&sent, stream.batch(events)).expect("written");
    let [to, file] = [&data, &sent].map(|path| path.to_str().expect("a text"));
    queryscope(["import", "--data", to, file]).success();
    (data, sent)
}

#[test]
fn a_run_from_before_its_version_of_the_program_and_its_bytes_were_kept_is_moved() {
    let root = tempfile::tempdir().expect("a folder");
    let mut stream = Stream::new();
    let finished = stream.finished(Uuid::now_v7(), "old");
    let (data, sent) = ["data", "sent.jsonl"].map(|name| root.path().join(name)).into();
    let process = stream.process().replacen('{', r#"{"program_version":"1.2","#, 1);
    fs::write(&sent, format!("{process}\n{finished}\n")).expect("written");
    let [to, file] = [&data, &sent].map(|path| path.to_str().expect("a text"));
    queryscope(["import", "--data", to, file]).success();
    let database = rusqlite::Connection::open(data.join("queryscope.db")).expect("a database");
    let changed = database.execute(
        "UPDATE query SET program_version = NULL, bytes_read = NULL, spilled_bytes = NULL, peak_memory_bytes = NULL
         WHERE program_version IS NOT NULL AND bytes_read = 1024 AND spilled_bytes = 0 AND peak_memory_bytes = 4096",
        [],
    );
    assert_eq!(changed.expect("changed"), 1);
    drop(database);
    let checked = queryscope(["check", "--data", data.to_str().expect("a text")]).success();
    assert!(checked.ends_with(": sound\n"), "{checked}");
    let databases = Databases::start();
    let target = Target::make(root.path(), &databases, "moved");
    target.migrate(&data).success();
    assert!(target.check(&[sent]).contains("1 queries"));
    assert_eq!(target.database.count("SELECT count(*) FROM query WHERE bytes_read IS NULL"), 1, "as it was");
}

#[test]
fn killed_again_and_again_it_ends_the_same() {
    // A run commits 256 at once: each kill comes one or two of these after the one before, the last before the end.
    const QUERIES: u64 = 1_100;
    const KILLED_AT: [u64; 3] = [1, 300, 600];
    let root = tempfile::tempdir().expect("a folder");
    let mut stream = Stream::new();
    let events: Vec<String> = (0..QUERIES)
        .flat_map(|_| {
            let query = Uuid::now_v7();
            [stream.started(query, "many"), stream.progress(query), stream.finished(query, "many")]
        })
        .collect();
    let (data, acknowledged) = imported(root.path(), &stream, &events);

    let databases = Databases::start();
    let target = Target::make(root.path(), &databases, "moved");
    queryscope(["token", "add", "made", "--database", &target.database.address()]).success();
    let moved = || target.database.count("SELECT count(*) FROM query");
    for killed_at in KILLED_AT {
        let migration = Running::start(command().args(target.arguments(&data)));
        wait_for("a part of it", || (moved() >= killed_at).then_some(()));
        migration.signal(Signal::KILL);
        let ended = migration.wait();
        assert!(!ended.status.success() && ended.out.is_empty(), "{ended:?}");
        let all = moved();
        assert!((killed_at..QUERIES).contains(&all), "{all} moved when it was killed at {killed_at}");
        target.check(&[]);
    }
    let there = moved();
    let mut migration = Running::start(command().args(target.arguments(&data)));
    // What is not known to be committed is sent again, and found to be there.
    wait_for("some more", || (moved() > there || migration.status().is_some()).then_some(()));
    assert!(target.database.cut_connections() > 0, "{}", migration.err());
    let said = migration.wait().success();
    let left = QUERIES - there;
    assert!(said.contains(&format!("{left} queries, ")), "{there} were there: {said}");
    assert!(said.contains(&format!("; {there} queries were there\n")), "{there} were there: {said}");
    let sound = format!(
        "{QUERIES} queries, {} events, 1 streams, {} acknowledged events: sound",
        3 * QUERIES,
        3 * QUERIES
    );
    assert_eq!(target.check(&[acknowledged]), sound);
    let again = target.migrate(&data).success();
    assert!(
        again.starts_with(
            "0 queries, 0 events, 1 streams, 0 tokens, 0 issues moved; 1100 queries were there\n"
        ),
        "{again}"
    );
}

#[test]
fn a_query_the_database_refuses_at_first_is_not_overtaken_by_what_its_stream_has_seen() {
    let root = tempfile::tempdir().expect("a folder");
    let mut stream = Stream::new();
    let query = Uuid::now_v7();
    let events = [stream.started(query, "one"), stream.finished(query, "one")];
    let (data, acknowledged) = imported(root.path(), &stream, &events);
    let databases = Databases::start();
    let target = Target::make(root.path(), &databases, "moved");
    queryscope(["token", "add", "made", "--database", &target.database.address()]).success();
    // With others, and then alone.
    target.database.sql(
        "CREATE SEQUENCE tries;
         CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
             IF nextval('tries') <= 2 THEN RAISE check_violation; END IF;
             RETURN new;
         END $$;
         CREATE TRIGGER refuse BEFORE INSERT ON query FOR EACH ROW EXECUTE FUNCTION refuse()",
    );
    let said = target.migrate(&data).success();
    assert!(said.starts_with("1 queries, 2 events, 1 streams, "), "{said}");
    assert_eq!(target.check(&[acknowledged]), "1 queries, 2 events, 1 streams, 2 acknowledged events: sound");
}

/// A sender, and everything it was answered for.
struct Sender {
    stream: Stream,
    /// In both places: it goes on while it is moved.
    long: Uuid,
    events: Vec<(Uuid, String)>,
}

impl Sender {
    fn new() -> Self {
        Self { stream: Stream::new(), long: Uuid::now_v7(), events: Vec::new() }
    }

    /// Makes the next events: of the long query, and of one that is over.
    fn go_on(&mut self) -> Vec<String> {
        let short = Uuid::now_v7();
        let event = if self.events.is_empty() {
            self.stream.started(self.long, "long")
        } else {
            self.stream.progress(self.long)
        };
        let new = [(self.long, event), (short, self.stream.finished(short, "short"))];
        self.events.extend(new.clone());
        new.map(|(_, event)| event).into()
    }

    /// Sends events, of which so many are new there.
    fn send(&self, service: &Service, events: &[String], new: u64) {
        assert_eq!(service.post(&self.stream.batch(events)).counts(), (new, events.len() as u64 - new));
    }
}

#[test]
fn senders_may_use_the_database_before_the_folder_is_moved() {
    const SENDERS: usize = 8;
    let root = tempfile::tempdir().expect("a folder");
    let data = root.path().join("data");
    let service = Service::start_with(&data, &NEVER_SILENT);
    let mut senders: Vec<Sender> = std::iter::repeat_with(Sender::new).take(SENDERS).collect();
    let mut unanswered = Vec::new();
    for sender in &mut senders {
        for _ in 0..3 {
            let events = sender.go_on();
            sender.send(&service, &events, 2);
            unanswered = events;
        }
    }
    let token = service.token.clone();
    service.stop();

    let databases = Databases::start();
    let target = Target::make(root.path(), &databases, "moved");
    let collector = target.serve_with(&token, &["--token", &token]);
    // The answer to what was sent last was lost: it is sent again, with what comes next.
    let last = &mut senders[SENDERS - 1];
    unanswered.extend(last.go_on());
    last.send(&collector, &unanswered, 4);
    let moving = Running::start(command().args(target.arguments(&data)));
    let ended = std::thread::scope(|scope| {
        let ended = scope.spawn(|| moving.wait());
        while !ended.is_finished() {
            for sender in &mut senders {
                let events = sender.go_on();
                sender.send(&collector, &events, 2);
            }
        }
        ended.join().expect("no panic").success()
    });
    // Of the last sender, a query was there as it is; the rest was moved, or found to be there in part.
    let moved = ended.lines().next().expect("a total");
    assert!(
        moved.starts_with("31 queries, 46 events, ") && moved.ends_with("; 1 queries were there"),
        "{ended}"
    );
    let mut logs = Vec::new();
    for (number, sender) in senders.iter_mut().enumerate() {
        let end = sender.stream.finished(sender.long, "long");
        sender.send(&collector, std::slice::from_ref(&end), 1);
        sender.events.push((sender.long, end));
        let all: Vec<String> = sender.events.iter().map(|(_, event)| event.clone()).collect();
        sender.send(&collector, &all, 0);
        let log = root.path().join(format!("sent-{number}.jsonl"));
        fs::write(&log, sender.stream.batch(&all)).expect("written");
        logs.push(log);
        let of_long = sender.events.iter().filter(|(query, _)| *query == sender.long);
        let expected: Vec<String> =
            std::iter::once(sender.stream.process()).chain(of_long.map(|(_, event)| event.clone())).collect();
        assert_eq!(collector.recording(sender.long).expect("ended"), expected);
    }
    let events: usize = senders.iter().map(|sender| sender.events.len()).sum();
    let queries = SENDERS + (events - SENDERS) / 2;
    let stored =
        format!("{queries} queries, {events} events, {SENDERS} streams, {events} acknowledged events: sound");
    assert_eq!(target.check(&logs), stored);
    assert_eq!(collector.queries("label=long&status=finished").len(), SENDERS);
    collector.stop();
    assert_eq!(target.check(&logs), stored);
}

#[test]
fn a_long_query_is_moved_to_where_its_end_is_already() {
    // A batch of a move holds 4 MiB.
    const NOTES: usize = 9;
    let root = tempfile::tempdir().expect("a folder");
    let (mut stream, query) = (Stream::new(), Uuid::now_v7());
    let note = format!(r#""query_id":"{query}","text":"{}""#, "x".repeat(1 << 20));
    let mut events = vec![stream.started(query, "long")];
    events.extend((0..NOTES).map(|_| stream.event("query.note", &note)));
    events.push(stream.finished(query, "long"));
    let (data, acknowledged) = imported(root.path(), &stream, &events);

    let databases = Databases::start();
    let target = Target::make(root.path(), &databases, "moved");
    let collector = target.serve_with("unused", &["--token", "sender"]);
    // So the database's row of it is the same as the folder's.
    let end = stream.batch(&events[NOTES + 1..]);
    assert_eq!(collector.post_as("sender", &end).counts(), (1, 0));
    let said = target.migrate(&data).success();
    assert!(said.starts_with(&format!("1 queries, {} events, 1 streams,", NOTES + 1)), "{said}");
    let all: Vec<String> = std::iter::once(stream.process()).chain(events).collect();
    assert!(collector.recording(query).expect("ended") == all);
    collector.stop();
    let sound = format!("1 queries, {0} events, 1 streams, {0} acknowledged events: sound", NOTES + 2);
    assert_eq!(target.check(&[acknowledged]), sound);
    let again = target.migrate(&data).success();
    assert!(
        again.starts_with("0 queries, 0 events,") && again.ends_with("; 1 queries were there\n"),
        "{again}"
    );
}

#[test]
fn without_a_place_recordings_wait_in_the_database() {
    let root = tempfile::tempdir().expect("a folder");
    let folder = Folder::make(root.path());
    let databases = Databases::start();
    let target = Target::make(root.path(), &databases, "moved");
    let args = target.arguments(&folder.data);
    let said = queryscope(&args[..5]).success();
    assert!(
        said.ends_with("5 recordings are still to be written from the database, by the collectors\n"),
        "{said}"
    );
    assert!(queryscope(&args[..5]).success().starts_with("2 queries, 0 events,"), "compared with chunks");
    target.check(&[]);
    let service = target.serve("unused");
    service.wait_until_sealed();
    service.stop();
    // Then it cannot be compared without them.
    let refused = queryscope(&args[..5]).failure(1);
    assert!(refused.contains("say with --recordings where that is"), "{refused}");
    assert!(target.migrate(&folder.data).success().starts_with("2 queries, 0 events,"));
    target.check(&[]);
}
