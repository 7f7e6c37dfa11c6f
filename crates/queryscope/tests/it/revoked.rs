//! What is revoked ends within seconds on every collector, also for streams that are open.

use std::io::Read;
use std::path::Path;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use queryscope_postgres_server::Server;

use crate::common::logins::{self, PASSWORD, agent};
use crate::common::{Service, command, queryscope, wait_for};

/// Within this, what is revoked has ended everywhere.
const BOUND: Duration = Duration::from_secs(5);
/// On a busy machine one of so many tries is within the bound.
const TRIES: usize = 3;

/// A header that says who asks.
type Says = (&'static str, String);

/// Runs a command of `queryscope user`.
fn user(place: &[&str], args: &[&str]) {
    logins::user(place, args, PASSWORD).expect("done");
}

fn log_in(url: &str) -> Says {
    ("cookie", logins::log_in(url, "ada", PASSWORD).1.expect("a cookie"))
}

fn status(url: &str, (name, value): &Says) -> u16 {
    logins::status(url, "/api/queries", Some((name, value)))
}

/// Opens a live stream and hears its first message; the moment it ends.
fn stream(url: &str, (name, value): &Says) -> JoinHandle<Instant> {
    let answer = agent().get(format!("{url}/api/live")).header(*name, value).call().expect("an answer");
    assert_eq!(answer.status(), 200);
    let mut body = answer.into_body().into_reader();
    let mut bytes = [0; 4096];
    assert!(body.read(&mut bytes).expect("a message") > 0);
    std::thread::spawn(move || {
        while body.read(&mut bytes).is_ok_and(|read| read > 0) {}
        Instant::now()
    })
}

/// Opens streams on each collector, revokes, and gives back how long the last of them and the last answer took.
fn time_to_end(collectors: &[Service], says: &Says, revoke: impl FnOnce()) -> Duration {
    for collector in collectors {
        wait_for("it to be taken", || (status(&collector.url, says) == 200).then_some(()));
    }
    let streams: Vec<_> = collectors.iter().map(|collector| stream(&collector.url, says)).collect();
    revoke();
    let revoked = Instant::now();
    for collector in collectors {
        wait_for("it to be refused", || (status(&collector.url, says) == 401).then_some(()));
    }
    let answers = revoked.elapsed();
    let ends = streams.into_iter().map(|stream| stream.join().expect("it ends"));
    ends.map(|end| end.saturating_duration_since(revoked)).max().unwrap_or_default().max(answers)
}

fn what_is_revoked_ends(collectors: &[Service], place: &[&str]) {
    user(place, &["add", "ada"]);
    let mut of_sessions = Vec::new();
    let mut of_tokens = Vec::new();
    for turn in 0..TRIES {
        if of_sessions.iter().min().is_none_or(|least| *least > BOUND) {
            let says = log_in(&collectors[0].url);
            of_sessions.push(time_to_end(collectors, &says, || user(place, &["password", "ada"])));
        }
        if of_tokens.iter().min().is_none_or(|least| *least > BOUND) {
            let name = format!("ci-{turn}");
            let made =
                queryscope([&["token", "create", &name, "--scope", "read"][..], place].concat()).success();
            let says = ("authorization", format!("Bearer {}", made.trim_end()));
            let revoke = || drop(queryscope([&["token", "revoke", &name][..], place].concat()).success());
            of_tokens.push(time_to_end(collectors, &says, revoke));
        }
    }
    println!("sessions end after {of_sessions:?}, tokens after {of_tokens:?}");
    for took in [of_sessions, of_tokens] {
        assert!(took.iter().any(|took| *took <= BOUND), "{took:?}");
    }
}

#[test]
fn what_is_revoked_ends_on_the_embedded_store() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start_with(folder.path(), &["--login"]);
    let data = folder.path().to_string_lossy();
    what_is_revoked_ends(std::slice::from_ref(&service), &["--data", &data]);
    service.stop();
}

#[test]
fn what_is_revoked_ends_on_every_collector() {
    let folder = tempfile::tempdir().expect("a folder");
    let postgres = Server::start(&[]);
    postgres.run("CREATE SCHEMA shared");
    let database = postgres.address("shared");
    let collectors = [0, 1].map(|number| collector(folder.path(), number, &database));
    what_is_revoked_ends(&collectors, &["--database", &database]);
    for collector in collectors {
        collector.stop();
    }
}

fn collector(folder: &Path, number: usize, database: &str) -> Service {
    let data = folder.join(format!("node-{number}"));
    std::fs::create_dir_all(&data).expect("a folder");
    std::fs::write(data.join("token"), crate::shared::TOKEN).expect("a file");
    let recordings = folder.join("recordings");
    let recordings = recordings.to_str().expect("a text");
    let shared =
        ["--database", database, "--recordings", recordings, "--token", crate::shared::TOKEN, "--login"];
    Service::start_as(&mut command(), &data, &shared)
}
