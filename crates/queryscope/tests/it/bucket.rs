//! The service with its recordings in a bucket that is away at times.

use std::path::Path;
use std::process::Command;

use queryscope_bucket_server::{BUCKET, BucketServer, Fault};
use queryscope_store::{named_by, recording_path};
use serde_json::json;
use uuid::Uuid;

use crate::common::events::Stream;
use crate::common::{Running, Service, below, command, wait_for};

const PREFIX: &str = "of/a/service";

/// `queryscope`, which may use the bucket.
fn allowed(server: &BucketServer) -> Command {
    let mut command = command();
    command.envs(server.variables());
    command
}

fn place() -> String {
    format!("s3://{BUCKET}/{PREFIX}")
}

fn start(server: &BucketServer, data: &Path) -> Service {
    Service::start_as(&mut allowed(server), data, &["--recordings", &place()])
}

/// How many queries have a recording in the bucket.
fn sealed(server: &BucketServer) -> usize {
    let names = server.names();
    let below = names.iter().filter_map(|name| name.strip_prefix(PREFIX));
    let mut ids: Vec<String> = below.filter_map(|name| Some(named_by(name)?.0.to_string())).collect();
    ids.dedup();
    ids.len()
}

#[test]
fn it_lives_through_the_absence_of_its_bucket() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let mut server = BucketServer::start();
    let [early, late] = [Uuid::now_v7(), Uuid::now_v7()];
    let mut stream = Stream::new();
    let service = start(&server, &data);
    let finished = stream.finished(early, "early");
    assert_eq!(service.post(&stream.batch(std::slice::from_ref(&finished))).counts(), (1, 0));
    wait_for("a recording in the bucket", || (sealed(&server) == 1).then_some(()));
    let unsealed = "queryscope_recordings_unsealed";
    wait_for("the store to know", || (service.metric(unsealed) == 0).then_some(()));
    assert_eq!(service.recording(early).expect("ended"), [stream.process(), finished.clone()]);
    assert_eq!(service.get("/v1/health").json()["state"], json!("ready"));

    server.stop();
    let kept = stream.finished(late, "late");
    assert_eq!(service.post(&stream.batch(std::slice::from_ref(&kept))).counts(), (1, 0), "ingest goes on");
    let health = wait_for("the absence to be known", || {
        let health = service.get("/v1/health");
        assert_eq!(health.status, 200, "it lives");
        (health.json()["state"] == json!("degraded")).then(|| health.json())
    });
    let reason = health["reasons"][0].as_str().expect("a sentence");
    assert!(reason.starts_with("the recordings cannot be reached"), "{reason}");
    let answer = service.get(&format!("/api/queries/{early}/recording"));
    assert_eq!(answer.status, 503);
    let reason = answer.json()["error"].clone();
    assert!(reason.as_str().expect("a sentence").contains("cannot be reached at the moment"), "{reason}");
    assert_eq!(service.recording(late).expect("ended"), [stream.process(), kept.clone()], "from its chunks");
    let away = "queryscope_recordings_away_seconds";
    wait_for("the time to be counted", || (service.metric(away) > 0).then_some(()));
    assert_eq!(service.metric(unsealed), 1);
    service.kill();

    let service = start(&server, &data);
    let resent = stream.batch(&[finished, kept.clone()]);
    assert_eq!(service.post(&resent).counts(), (0, 2), "it starts without its bucket");
    wait_for("sealing in vain", || {
        let metrics = service.get("/metrics").body;
        let failed = r#"queryscope_recordings_failed_total{operation="seal"} "#;
        String::from_utf8(metrics).expect("UTF-8").contains(failed).then_some(())
    });
    server.start_again();
    wait_for("the other recording", || (sealed(&server) == 2).then_some(()));
    wait_for("all to be well", || {
        (service.get("/v1/health").json()["state"] == json!("ready")).then_some(())
    });
    assert_eq!(service.recording(late).expect("ended"), [stream.process(), kept]);
    service.stop();
    let checked = Running::start(allowed(&server).args(["check", "--data"]).arg(&data)).wait().success();
    assert!(checked.contains("2 queries") && checked.ends_with(": sound\n"), "{checked}");
}

#[test]
fn more_than_a_round_of_recordings_is_written_after_an_absence() {
    const RUNS: u64 = 1_100;
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let mut server = BucketServer::start();
    let service = start(&server, &data);
    server.stop();
    let mut stream = Stream::new();
    let runs: Vec<_> = (0..RUNS).map(|_| Uuid::now_v7()).collect();
    let events: Vec<_> = runs.iter().map(|run| stream.finished(*run, "run")).collect();
    assert_eq!(service.post(&stream.batch(&events)).counts(), (RUNS, 0));
    service.kill();

    // The first round of this one is full, and in vain.
    let service = start(&server, &data);
    let away = "queryscope_recordings_away_seconds";
    wait_for("the absence to be known", || (service.metric(away) > 0).then_some(()));
    server.start_again();
    let unsealed = "queryscope_recordings_unsealed";
    wait_for("all recordings", || (service.metric(unsealed) == 0).then_some(()));
    assert_eq!(
        server
            .names()
            .iter()
            .filter(|name| queryscope_store::pack_named_by(
                name.trim_start_matches(PREFIX).trim_start_matches('/')
            )
            .is_some())
            .count(),
        2
    );
    for run in [runs[0], runs[RUNS as usize - 1]] {
        assert_eq!(service.recording(run).expect("ended").len(), 2);
    }
    service.stop();
}

#[test]
fn runs_that_retention_deletes_are_counted_while_the_bucket_is_away() {
    const DAY_NS: i64 = 86_400_000_000_000;
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let mut server = BucketServer::start();
    let service = start(&server, &data);
    let mut stream = Stream::new();
    stream.started_unix_ns -= 5 * DAY_NS;
    let finished = stream.finished(Uuid::now_v7(), "old");
    assert_eq!(service.post(&stream.batch(&[finished])).counts(), (1, 0));
    wait_for("a recording in the bucket", || (sealed(&server) == 1).then_some(()));
    wait_for("the store to know", || (service.metric("queryscope_recordings_unsealed") == 0).then_some(()));
    service.stop();
    server.stop();

    let service =
        Service::start_as(&mut allowed(&server), &data, &["--recordings", &place(), "--keep-days", "1"]);
    wait_for("the old run to go", || service.queries("").is_empty().then_some(()));
    wait_for("it to be counted", || (service.metric("queryscope_queries_deleted_total") == 1).then_some(()));
}

#[test]
fn a_request_that_fails_is_tried_again_a_few_times() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let server = BucketServer::start();
    let service = start(&server, &data);
    let (query, mut stream) = (Uuid::now_v7(), Stream::new());
    let finished = stream.finished(query, "x");
    service.post(&stream.batch(&[finished]));
    wait_for("a recording in the bucket", || (sealed(&server) == 1).then_some(()));
    wait_for("the store to know", || (service.metric("queryscope_recordings_unsealed") == 0).then_some(()));
    service.stop();
    server.fail(Fault::SlowDown);
    let checked = Running::start(allowed(&server).args(["check", "--data"]).arg(&data)).wait();
    assert!(checked.out.contains("its recording cannot be read"), "{checked:?}");
    checked.failure(1);
    assert_eq!(
        server.failed(),
        3 * 4,
        "it is read for all that is judged, then for the run and its evaluation apart, and tried three times again"
    );
}

#[test]
fn its_recordings_are_not_left_behind() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let service = Service::start(&data);
    let (query, mut stream) = (Uuid::now_v7(), Stream::new());
    let finished = stream.finished(query, "x");
    service.post(&stream.batch(&[finished]));
    let started = service.queries("")[0]["started_unix_ns"].as_i64().expect("a time");
    let path = recording_path(query.to_string().parse().expect("an id"), started);
    let path = data.join("recordings").join(path);
    wait_for("a recording, whose name is plain in a folder of its own", || path.is_file().then_some(()));
    assert_eq!(below(&data.join("recordings")).0, 1);
    service.stop();
    let server = BucketServer::start();
    let mut command = allowed(&server);
    command.args(["serve", "--bind", "127.0.0.1:0", "--recordings", &place(), "--data"]).arg(&data);
    let refused = Running::start(&mut command).wait().failure(1);
    assert!(refused.contains("copy them to s3://"), "{refused}");
}

#[test]
fn a_bucket_of_google_is_spoken_to_as_such() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let server = BucketServer::start_for_anybody();
    let place = format!("gs://{BUCKET}/{PREFIX}");
    let mut command = command();
    command.envs(server.google_variables());
    let service = Service::start_as(&mut command, &data, &["--recordings", &place]);
    let (query, mut stream) = (Uuid::now_v7(), Stream::new());
    let finished = stream.finished(query, "x");
    service.post(&stream.batch(std::slice::from_ref(&finished)));
    wait_for("a recording in the bucket", || (sealed(&server) == 1).then_some(()));
    wait_for("the store to know", || (service.metric("queryscope_recordings_unsealed") == 0).then_some(()));
    assert_eq!(service.recording(query).expect("ended"), [stream.process(), finished]);
    service.stop();
}

#[test]
fn a_cloud_that_can_not_be_spoken_to_is_named_with_the_reason() {
    let folder = tempfile::tempdir().expect("a folder");
    for (place, variables, says) in [
        ("az://telemetry/p", &[][..], "Account must be specified"),
        ("gs://telemetry/p", &[("GOOGLE_SERVICE_ACCOUNT", "/none.json")], "/none.json"),
        ("gs://telemetry/p", &[("GOOGLE_SERVICE_ACCOUNT_KEY", "{}")], "private_key"),
        (
            "s3://telemetry/p",
            &[("AWS_ENDPOINT", "http://127.0.0.1:9"), ("AWS_ALLOW_HTTP", "perhaps")],
            "perhaps",
        ),
    ] {
        let mut command = command();
        command.args(["serve", "--bind", "127.0.0.1:0", "--recordings", place, "--data"]).arg(folder.path());
        command.envs(variables.iter().copied());
        let refused = Running::start(&mut command).wait().failure(1);
        assert!(
            refused.contains(&format!("{place} cannot be opened")) && refused.contains(says),
            "{refused}"
        );
    }
}
