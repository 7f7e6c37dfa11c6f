//! `queryscope backup`: a copy under load, and what it restores.

use std::fs::{self, File};
use std::path::PathBuf;
use std::time::Duration;

use queryscope_torture::Traffic;
use uuid::Uuid;

use crate::common::events::{Stream, captures};
use crate::common::logins::{PASSWORD, log_in, status, user};
use crate::common::{Running, Service, command, queryscope, wait_for};

/// Requests that are answered before the copy is made, and again while or after it.
const LOAD: u64 = 50;

#[test]
fn a_copy_under_load_has_all_that_was_acknowledged_before() {
    let folder = tempfile::tempdir().expect("a folder");
    let [data, copy] = ["data", "copy"].map(|name| folder.path().join(name));
    let mut import = vec!["import".into(), "--data".into(), data.clone()];
    import.extend(captures());
    queryscope(&import).success();
    let service = Service::start_with(&data, &["--silent-after", "200ms"]);
    wait_for("queries to end", || service.queries("status=running").is_empty().then_some(()));
    service.wait_until_sealed();

    let traffic = Traffic::new(folder.path(), rand::random());
    let mut check: Vec<PathBuf> = ["check".into(), "--data".into(), copy.clone()].into();
    std::thread::scope(|scope| {
        traffic.send(scope, &service.address(), rand::random(), Duration::ZERO);
        wait_for("some load", || (traffic.answered() > LOAD).then_some(()));
        for log in traffic.acknowledged() {
            // What has been acknowledged by now.
            let before = log.with_extension("before");
            fs::copy(&log, &before).expect("copied");
            check.extend(["--acknowledged".into(), before]);
        }
        let said = queryscope(["backup".as_ref(), copy.as_os_str(), "--data".as_ref(), data.as_os_str()]);
        let said = said.success();
        assert!(said.contains(": the store and "), "{said}");
        let so_far = traffic.answered();
        wait_for("more load", || (traffic.answered() > so_far + LOAD).then_some(()));
        service.terminate();
        service.wait().success();
    });
    let checked = queryscope(&check).success();
    assert!(checked.ends_with(": sound\n"), "{checked}");

    // The service went on.
    check[2].clone_from(&data);
    check.truncate(3);
    for log in traffic.acknowledged() {
        check.extend(["--acknowledged".into(), log]);
    }
    assert!(queryscope(&check).success().ends_with(": sound\n"));
}

#[test]
fn a_copy_waits_for_who_moves_recordings() {
    let folder = tempfile::tempdir().expect("a folder");
    let [data, copy] = ["data", "copy"].map(|name| folder.path().join(name));
    let service = Service::start(&data);
    let (query, mut stream) = (Uuid::now_v7(), Stream::new());
    let finished = stream.finished(query, "kept");
    service.post(&stream.batch(std::slice::from_ref(&finished)));
    service.stop();
    let turn = File::options().append(true).create(true).open(data.join("recordings.lock")).expect("a file");
    turn.lock().expect("nobody's turn");

    let args = ["backup".as_ref(), copy.as_os_str(), "--data".as_ref(), data.as_os_str()];
    let mut backup = Running::start(command().args(args));
    wait_for("the begin of the copy", || copy.exists().then_some(()));
    // Were it not to wait, it would be done by the end of a check, which reads more.
    queryscope(["check".as_ref(), "--data".as_ref(), data.as_os_str()]).success();
    assert!(!copy.join("queryscope.db").exists() && backup.status().is_none());
    drop(turn);
    backup.wait().success();
    let check = queryscope(["check".as_ref(), "--data".as_ref(), copy.as_os_str()]).success();
    assert!(check.starts_with("1 queries, 1 events"), "{check}");
}

#[test]
fn a_copy_is_served_like_any_data_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let [data, copy] = ["data", "copy"].map(|name| folder.path().join(name));
    let (query, mut stream) = (Uuid::now_v7(), Stream::new());
    let service = Service::start(&data);
    let finished = stream.finished(query, "kept");
    assert_eq!(service.post(&stream.batch(std::slice::from_ref(&finished))).counts(), (1, 0));
    let token = service.token.clone();
    let args = ["backup".as_ref(), copy.as_os_str(), "--data".as_ref(), data.as_os_str()];
    queryscope(args).success();
    let again = queryscope(args);
    assert!(again.err.contains("is not empty: name a folder that is new"), "{}", again.err);
    service.stop();

    let restored = Service::start(&copy);
    assert_eq!(restored.token, token);
    assert_eq!(restored.recording(query).expect("ended"), [stream.process(), finished.clone()]);
    assert_eq!(restored.post(&stream.batch(&[finished])).counts(), (0, 1), "what was seen is seen");
}

#[test]
fn a_copy_has_who_may_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let [data, copy] = ["data", "copy"].map(|name| folder.path().join(name));
    let text = data.to_string_lossy();
    let place = ["--data", &text];
    user(&place, &["add", "ada"], PASSWORD).expect("made");
    let token = queryscope(["token", "create", "ci", "--scope", "read", "--data", &text]).success();
    let token = format!("Bearer {}", token.trim());
    let service = Service::start_with(&data, &["--login"]);
    let cookie = log_in(&service.url, "ada", PASSWORD).1.expect("a session");
    queryscope(["backup".as_ref(), copy.as_os_str(), "--data".as_ref(), data.as_os_str()]).success();
    // What comes after the copy is not in it.
    user(&place, &["add", "eve"], PASSWORD).expect("made");
    service.stop();

    let restored = Service::start_with(&copy, &["--login"]);
    let url = &restored.url;
    assert_eq!(["ada", "eve"].map(|name| log_in(url, name, PASSWORD).0), [303, 401]);
    for (header, expected) in [
        (Some(("cookie", &*cookie)), 200),
        (Some(("authorization", &*token)), 200),
        (Some(("authorization", "Bearer qs_made_up")), 401),
        (None, 401),
    ] {
        assert_eq!(status(url, "/api/queries", header), expected, "{header:?}");
    }
    let log = queryscope(["check".as_ref(), "--data".as_ref(), copy.as_os_str()]).success();
    assert!(log.ends_with(": sound\n"), "{log}");
    restored.stop();
}
