//! Notes on queries and shared views: copied by a backup, and judged.

use std::fs;
use std::path::Path;

use rusqlite::Connection;
use serde_json::{Value, json};

use super::check;
use crate::common::database::Databases;
use crate::common::logins::agent;
use crate::common::{Service, copy, queryscope};

/// Writes two notes and shares a view.
pub(crate) fn write(service: &Service) {
    for (path, text) in [("/api/notes", "the new join"), ("/api/notes?project=etl", "täglich")] {
        let body = json!({"service": "etl", "label": "orders/daily", "text": text, "by": "Ada"});
        assert_eq!(service.client().ask(path, &body).expect("an answer").status, 200);
    }
    let put = agent().put(format!("{}/api/views/By%20day", service.url));
    let put = put.header("content-type", "application/json").send(r#"{"search": "?view=days"}"#);
    assert_eq!(put.expect("an answer").status().as_u16(), 200);
}

/// What people wrote, as a service answers it.
pub(crate) fn written(service: &Service) -> [Value; 2] {
    let answers = ["/api/notes", "/api/views"].map(|path| service.get(path).json());
    assert_eq!(answers[0]["notes"].as_array().expect("a list").len(), 2, "{answers:?}");
    assert_eq!(answers[1]["views"].as_array().expect("a list").len(), 1, "{answers:?}");
    answers
}

/// What no service writes, and what is said of it.
const DAMAGES: [(&str, &str, &str); 2] = [
    (
        "UPDATE query_note SET label = '' WHERE project = 'etl'",
        "note on a query note-",
        "repaired: 1 notes on queries were such as nobody could have written\n",
    ),
    (
        "UPDATE shared_view SET search = 'view=days'",
        "shared view By day: nobody could have written it\n",
        "repaired: 1 views were such as nobody could have shared\n",
    ),
];

fn sql(data: &Path, sql: &str) {
    let db = Connection::open(data.join("queryscope.db")).expect("the database");
    assert_eq!(db.execute(sql, []).expect("written"), 1, "{sql}");
}

#[test]
fn what_people_wrote_is_copied_and_judged() {
    let root = tempfile::tempdir().expect("a folder");
    let [data, backup] = ["data", "backup"].map(|name| root.path().join(name));
    let service = Service::start(&data);
    write(&service);
    let before = written(&service);
    queryscope(["backup".as_ref(), backup.as_os_str(), "--data".as_ref(), data.as_os_str()]).success();
    service.stop();
    assert!(check(&backup, &[]).success().ends_with(": sound\n"));
    let service = Service::start(&backup);
    assert_eq!(written(&service), before);
    service.stop();
    for (at, (damage, says, repaired)) in DAMAGES.into_iter().enumerate() {
        let broken = root.path().join(at.to_string());
        copy(&data, &broken);
        sql(&broken, damage);
        let found = check(&broken, &[]);
        assert!(found.out.contains(says) && found.out.contains("nobody could have written it"), "{found:?}");
        found.failure(1);
        let said = check(&broken, &["--repair"]).success();
        assert!(said.contains(repaired), "{said}");
        assert!(check(&broken, &[]).success().ends_with(": sound\n"));
    }
}

#[test]
fn a_database_says_what_nobody_could_have_written() {
    let root = tempfile::tempdir().expect("a folder");
    let databases = Databases::start();
    let database = databases.make("people");
    let recordings = root.path().join("recordings");
    let shared = ["--database", &database.address(), "--recordings", &recordings.to_string_lossy()];
    fs::write(root.path().join("token"), "qs_of_this_test").expect("a file");
    let service = Service::start_with(root.path(), &shared);
    write(&service);
    service.stop();
    let check = || queryscope(["check"].iter().chain(&shared));
    assert!(check().success().ends_with(": sound\n"));
    for (damage, says, _) in DAMAGES {
        database.sql(damage);
        let found = check();
        assert!(found.out.contains(says), "{damage}: {found:?}");
        found.failure(1);
    }
}
