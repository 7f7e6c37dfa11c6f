//! A data folder that is taken away under the service: nothing may be acknowledged that no later start finds.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use uuid::Uuid;

use crate::common::database::Databases;
use crate::common::events::Stream;
use crate::common::{Running, Service, below, command, copy, wait_for};
use crate::shared::collector;

/// How soon the service must refuse batches.
const NOTICED_WITHIN: Duration = Duration::from_secs(2);
/// How soon it must have ended, also on a busy machine.
const ENDED_WITHIN: Duration = Duration::from_secs(20);

/// What a sender and a probe saw after the folder was gone.
struct Seen {
    noticed_after: Duration,
    reasons: String,
    code: Option<i32>,
    log: String,
}

fn new_batch() -> Vec<u8> {
    let mut stream = Stream::new();
    let event = stream.finished(Uuid::now_v7(), "x");
    stream.batch(&[event])
}

/// Takes the folder away from a service that acknowledges batches. `busy` says whether a sender goes on meanwhile.
fn displace(take_away: impl Fn(&Path), busy: bool) -> Seen {
    let root = tempfile::tempdir().expect("a folder");
    let data = root.path().join("data");
    let service = Service::start(&data);
    service.post(&new_batch()).counts();
    let (client, token) = (service.client(), service.token.clone());
    take_away(&data);
    let begun = Instant::now();
    let (mut noticed_after, mut reasons) = (None, String::new());
    let log = loop {
        assert!(begun.elapsed() < ENDED_WITHIN, "it goes on; it says {reasons:?}");
        if let Ok(health) = client.get("/v1/health")
            && health.json()["state"] == "degraded"
        {
            reasons = health.json()["reasons"].to_string();
        }
        // An idle service has to find out by itself.
        if busy || !reasons.is_empty() {
            match client.post(&token, &new_batch()) {
                Ok(answer) if answer.status == 202 => {
                    assert!(noticed_after.is_none(), "it acknowledges again");
                    assert!(begun.elapsed() < NOTICED_WITHIN, "it still acknowledges");
                }
                Ok(answer) => {
                    assert_eq!(answer.status, 503);
                    noticed_after.get_or_insert(begun.elapsed());
                }
                Err(_) => break service.log_when_ended(),
            }
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let ended = service.wait();
    let noticed_after = noticed_after.unwrap_or_else(|| begun.elapsed());
    Seen { noticed_after, reasons, code: ended.status.code(), log }
}

#[test]
fn a_data_folder_that_is_taken_away_ends_the_service_with_an_error() {
    type TakeAway = fn(&Path);
    let cases: [(&str, TakeAway); 7] = [
        ("deleted", |data| fs::remove_dir_all(data).expect("deleted")),
        ("renamed", |data| fs::rename(data, data.with_extension("away")).expect("renamed")),
        ("replaced by a copy of itself", |data| {
            fs::rename(data, data.with_extension("away")).expect("renamed");
            copy(&data.with_extension("away"), data);
        }),
        ("the database deleted", |data| fs::remove_file(data.join("queryscope.db")).expect("deleted")),
        ("the database renamed", |data| {
            fs::rename(data.join("queryscope.db"), data.join("old.db")).expect("renamed");
        }),
        ("the database replaced by a copy", |data| {
            fs::copy(data.join("queryscope.db"), data.join("copy.db")).expect("copied");
            fs::rename(data.join("copy.db"), data.join("queryscope.db")).expect("renamed");
        }),
        ("the log of the database deleted", |data| {
            fs::remove_file(data.join("queryscope.db-wal")).expect("deleted");
        }),
    ];
    for (at, (what, take_away)) in cases.into_iter().enumerate() {
        let seen = displace(take_away, at % 2 == 0);
        assert!(seen.noticed_after <= NOTICED_WITHIN, "{what}: noticed after {:?}", seen.noticed_after);
        assert_eq!(seen.code, Some(1), "{what}: {}", seen.log);
        let says = "was deleted, moved or replaced";
        assert!(seen.reasons.contains(says), "{what}: {}", seen.reasons);
        assert!(seen.log.contains(says) && seen.log.contains("queryscope.db"), "{what}: {}", seen.log);
        assert!(!seen.reasons.contains('/'), "{what}: paths are for the log: {}", seen.reasons);
    }
}

#[test]
fn a_folder_whose_lock_another_service_may_take_is_given_up() {
    let seen = displace(|data| fs::remove_file(data.join("lock")).expect("deleted"), true);
    assert_eq!(seen.code, Some(1), "{}", seen.log);
    assert!(seen.log.contains("was deleted, moved or replaced"), "{}", seen.log);
}

#[test]
fn a_service_in_a_folder_that_took_the_place_is_left_alone() {
    let root = tempfile::tempdir().expect("a folder");
    let data = root.path().join("data");
    let service = Service::start(&data);
    service.post(&new_batch()).counts();
    fs::rename(&data, data.with_extension("away")).expect("renamed");
    let other = Service::start(&data);
    other.post(&new_batch()).counts();
    assert_eq!(service.wait().status.code(), Some(1));
    assert!(data.join("address").exists(), "the note of the other's address");
    assert!(data.join("queryscope.db-wal").exists(), "the log of the other's database");
    other.post(&new_batch()).counts();
    other.kill();
    let other = Service::start(&data);
    assert_eq!(other.queries("").len(), 2);
}

#[test]
fn recordings_that_are_taken_away_are_said_to_be_gone_and_events_are_kept() {
    let root = tempfile::tempdir().expect("a folder");
    let data = root.path().join("data");
    let service = Service::start(&data);
    let (recordings, away) = (data.join("recordings"), data.join("away"));
    for replaced in [false, true] {
        fs::rename(&recordings, &away).expect("renamed");
        if replaced {
            fs::create_dir(&recordings).expect("made");
        }
        let reason = wait_for("health to say so", || service.reason("the recordings"));
        assert!(reason.contains("events are kept in the store meanwhile"), "{reason}");
        service.post(&new_batch()).counts();
        std::thread::sleep(Duration::from_secs(1));
        if replaced {
            assert_eq!(fs::read_dir(&recordings).expect("a folder").count(), 0, "nothing is written there");
            fs::remove_dir(&recordings).expect("empty");
        }
        assert!(!recordings.exists(), "nothing is written there");
        fs::rename(&away, &recordings).expect("renamed");
        wait_for("health to say that they are back", || service.reason("").is_none().then_some(()));
    }
    service.wait_until_sealed();
    assert!(below(&recordings).0 > 0, "both were kept");
    service.stop();
}

#[test]
fn with_a_shared_database_nothing_is_lost_with_the_folder_and_the_service_goes_on() {
    let root = tempfile::tempdir().expect("a folder");
    let databases = Databases::start();
    let database = databases.make("shared");
    let service = collector(root.path(), 1, &database.address());
    service.post(&new_batch()).counts();
    let recordings = root.path().join("recordings");
    wait_for("its recording", || (below(&recordings).0 == 1).then_some(()));
    for gone in [service.data.clone(), recordings] {
        fs::rename(&gone, gone.with_extension("away")).expect("renamed");
        let reason = wait_for("health to say so", || service.reason("the recordings"));
        assert!(reason.contains("events are kept in the store meanwhile"), "{reason}");
        service.post(&new_batch()).counts();
        fs::rename(gone.with_extension("away"), &gone).expect("renamed");
        wait_for("health to say that it is back", || service.reason("").is_none().then_some(()));
    }
    assert_eq!(service.queries("").len(), 3);
    service.stop();
}

#[test]
fn a_line_that_repeats_is_logged_once_a_minute() {
    let root = tempfile::tempdir().expect("a folder");
    let data = root.path().join("data");
    let mut running = Running::start(command().args(["serve", "--bind", "127.0.0.1:0", "--data"]).arg(&data));
    wait_for("the service", || running.out().contains("dashboard").then_some(()));
    // A folder cannot be locked as a file is.
    let lock = data.join("recordings.lock");
    wait_for("its first turn", || lock.exists().then_some(()));
    fs::remove_file(&lock).expect("deleted");
    fs::create_dir(&lock).expect("made");
    let client = crate::common::client_of(&running);
    let token = fs::read_to_string(data.join("token")).expect("a token");
    client.post(token.trim(), &new_batch()).expect("an answer").counts();
    let lines =
        |log: &str| log.lines().filter(|line| line.contains("be locked and stay as they are")).count();
    wait_for("the first line", || (lines(&running.err()) > 0).then_some(()));
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(lines(&running.err()), 1, "{}", running.err());
    assert!(running.status().is_none());
}
