//! Recordings as people download them: with curl, which decodes one gzip member, from a folder and from a database.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use queryscope_protocol::{Batch, EventKind, QueryId, Seq};
use queryscope_store::unpack;
use uuid::Uuid;

use crate::common::database::Databases;
use crate::common::events::{Stream, captures};
use crate::common::{Service, queryscope, wait_for};
use crate::shared::collector;

/// The lines of every ended query that a real sender posted, its process event first.
fn captured() -> BTreeMap<QueryId, Vec<String>> {
    let mut queries: BTreeMap<QueryId, (String, BTreeMap<Seq, String>)> = BTreeMap::new();
    let mut ended = HashSet::new();
    for file in captures() {
        let text = unpack(&fs::read(file).expect("a capture")).expect("gzip");
        let batch = Batch::open(&text).expect("a batch");
        for event in batch.events {
            let event = event.expect("an event");
            if let EventKind::Finished(id, _) = &event.kind {
                ended.insert(*id);
            }
            if let Some(id) = event.kind.query_id() {
                let (_, lines) =
                    queries.entry(id).or_insert_with(|| (batch.process_line.to_owned(), BTreeMap::new()));
                lines.insert(event.seq, event.line.to_owned());
            }
        }
    }
    let whole = |(process, lines): (String, BTreeMap<_, _>)| {
        [process].into_iter().chain(lines.into_values()).collect()
    };
    queries.retain(|id, _| ended.contains(id));
    queries.into_iter().map(|(id, query)| (id, whole(query))).collect()
}

/// Runs curl in a folder; what it writes to its output.
fn curl(folder: &Path, args: &[&str]) -> Vec<u8> {
    let ended = Command::new("curl").args(["-sS", "--fail"]).args(args).current_dir(folder).output();
    let ended = ended.expect("curl is installed (make test-packages)");
    assert!(ended.status.success(), "{args:?}: {}", String::from_utf8_lossy(&ended.stderr));
    ended.stdout
}

fn check(service: &Service, expected: &BTreeMap<QueryId, Vec<String>>, folder: &Path, when: &str) {
    for (id, lines) in expected {
        let url = format!("{}/api/queries/{id}/recording", service.url);
        let text = String::from_utf8(curl(folder, &["--compressed", &url])).expect("text");
        assert_eq!(text, lines.join("\n") + "\n", "{id} {when}");
    }
}

/// Sends what a real sender posted, and reads it before and after recordings are files.
fn download(service: &Service) {
    let folder = tempfile::tempdir().expect("a folder");
    let expected = captured();
    for file in captures() {
        let answer = service.post(&unpack(&fs::read(file).expect("a capture")).expect("gzip"));
        assert_eq!(answer.status, 202, "{answer:?}");
    }
    check(service, &expected, folder.path(), "soon after it was sent");
    service.wait_until_sealed();
    check(service, &expected, folder.path(), "from a pack");

    // Decoded under the name that the service gives it, and as it is.
    let (id, lines) = expected.iter().max_by_key(|(_, lines)| lines.len()).expect("a query");
    let url = format!("{}/api/queries/{id}/recording", service.url);
    curl(folder.path(), &["--compressed", "-OJ", &url]);
    let saved = folder.path().join(format!("{id}.jsonl"));
    assert_eq!(fs::read_to_string(&saved).expect("saved"), lines.join("\n") + "\n");
    let packed = folder.path().join("packed.jsonl.gz");
    fs::write(&packed, curl(folder.path(), &[&url])).expect("written");
    for (number, file) in [saved, packed].iter().enumerate() {
        let data = folder.path().join(format!("data-{number}"));
        let imported =
            queryscope(["import".as_ref(), "--data".as_ref(), data.as_os_str(), file.as_os_str()]).success();
        assert_eq!(imported, format!("{} events stored, 0 had been stored before\n", lines.len() - 1));
    }
}

#[test]
fn curl_reads_recordings_of_a_folder_whole() {
    let data = tempfile::tempdir().expect("a folder");
    download(&Service::start(data.path()));
}

#[test]
fn curl_reads_recordings_of_a_database_whole() {
    let (databases, folder) = (Databases::start(), tempfile::tempdir().expect("a folder"));
    let database = databases.make("recordings");
    download(&collector(folder.path(), 1, &database.address()));
}

#[test]
fn a_link_out_of_the_folder_is_not_followed() {
    let data = tempfile::tempdir().expect("a folder");
    let service = Service::start(data.path());
    let mut stream = Stream::new();
    let id = &Uuid::now_v7().to_string();
    let finished = stream.finished(id.parse().expect("an id"), "alone");
    service.post(&stream.batch(&[finished])).counts();
    service.wait_until_sealed();
    let query = &service.queries("status=finished")[0];
    let file = data.path().join("recordings").join(query["recording"].as_str().expect("a path"));
    fs::remove_file(&file).expect("there");
    let answers = || {
        let paths = [format!("/api/queries/{id}/recording"), format!("/api/live/{id}")];
        paths
            .map(|path| service.get(&path))
            .map(|answer| (answer.status, String::from_utf8_lossy(&answer.body).into_owned()))
    };
    // A file is written before the store points to it; until then its events are read from the store.
    let missing = |(status, error): &(u16, String)| *status == 410 && error.contains("is missing");
    wait_for("the store to point to it", || answers().iter().all(missing).then_some(()));
    std::os::unix::fs::symlink("/etc/passwd", &file).expect("a link");
    for (status, error) in answers() {
        assert!(status == 503 && error.contains("damaged"), "{status}: {error}");
    }
}

#[test]
fn a_row_that_cannot_be_read_keeps_no_other_from_being_sealed() {
    let data = tempfile::tempdir().expect("a folder");
    let service = Service::start_with(data.path(), &["--seal-within", "60s"]);
    let mut stream = Stream::new();
    let ids = [0; 3].map(|_| Uuid::now_v7());
    let events = ids.map(|id| stream.finished(id, "one of three"));
    assert_eq!(service.post(&stream.batch(&events)).counts(), (3, 0));
    service.kill();
    let database = rusqlite::Connection::open(data.path().join("queryscope.db")).expect("a database");
    let damage = "UPDATE query SET status = 77 WHERE query_id = ?1";
    assert_eq!(database.execute(damage, [ids[1].as_bytes()]).expect("written"), 1);
    drop(database);

    let service = Service::start(data.path());
    let sealed = || service.metric("queryscope_recordings_sealed_total");
    wait_for("the others to be sealed", || (sealed() == 2).then_some(()));
    for id in [ids[0], ids[2]] {
        let lines = service.recording(id).expect("a recording");
        assert!(lines.len() == 2 && lines[1].contains(&id.to_string()), "{lines:?}");
    }
}
