//! The sending library against the real service: everything arrives, once.

mod proxy;
mod queries;

use std::path::Path;
use std::time::{Duration, Instant};

use queryscope_client::{EventsFile, HttpExporter, Telemetry};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::common::{Service, queryscope, wait_within};
use proxy::Proxy;
use queries::Queries;

/// How long the service is killed and restarted under the sender.
const SECONDS: u64 = 5;
/// The service runs, and is away, for up to this long at a time.
const UP_WITHIN: Duration = Duration::from_millis(900);
const AWAY_WITHIN: Duration = Duration::from_millis(900);
/// How long the sender may take for what is left: its longest pause is half a minute.
const LEFT_WITHIN: Duration = Duration::from_mins(2);

/// `QUERYSCOPE_SENDER_SECONDS` sets for how long, and `QUERYSCOPE_SENDER_SEED` the times and what the way between
/// does to requests.
#[test]
fn everything_arrives_once_though_the_service_is_killed_and_the_way_is_bad() {
    let seconds = setting("QUERYSCOPE_SENDER_SECONDS").unwrap_or(SECONDS);
    let seed = setting("QUERYSCOPE_SENDER_SEED").unwrap_or_else(rand::random);
    println!("QUERYSCOPE_SENDER_SEED={seed}");
    let mut random = StdRng::seed_from_u64(seed);
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let acknowledged = folder.path().join("acknowledged.jsonl");

    let mut service = Service::start(&data);
    let proxy = Proxy::start(seed, &acknowledged);
    proxy.lead_to(&service.url);
    let telemetry = Telemetry::builder()
        .engine("toy", "1.0")
        .service("killed")
        .exporter(HttpExporter::new(&proxy.url).token(&service.token).timeout(Duration::from_secs(5)))
        .start()
        .expect("threads");
    let queries = Queries::start(&telemetry, seed);

    let begun = Instant::now();
    let mut kills = 0;
    while begun.elapsed() < Duration::from_secs(seconds) {
        std::thread::sleep(random.random_range(Duration::ZERO..UP_WITHIN));
        service.kill();
        kills += 1;
        std::thread::sleep(random.random_range(Duration::ZERO..AWAY_WITHIN));
        service = Service::start(&data);
        proxy.lead_to(&service.url);
    }
    let queries = queries.stop();
    proxy.be_good();
    let stats = wait_within(LEFT_WITHIN, "the last event", || {
        let stats = telemetry.stats();
        // The last query is seen a moment after it has ended.
        (stats.queued == 0 && stats.enqueued > 0 && told_of(&service) == queries).then_some(stats)
    });
    assert_eq!((stats.sent, stats.dropped.total()), (stats.enqueued, 0), "{stats:?}");
    telemetry.shutdown();
    service.stop();

    let checked = check(&data, &acknowledged);
    let totals = format!("{queries} queries, {} events, 1 streams, ", stats.enqueued);
    assert!(checked.starts_with(&totals), "{checked}, expected {totals}");
    println!("{kills} kills, {} requests failed, {checked}", stats.errors);
}

/// Queries that have ended, as the service tells it.
fn told_of(service: &Service) -> u64 {
    let facets = service.get("/api/facets").json();
    let status = facets["status"].as_array().expect("a list");
    let ended = status.iter().filter(|facet| matches!(facet["value"].as_str(), Some("finished" | "failed")));
    ended.map(|facet| facet["runs"].as_u64().expect("a number")).sum()
}

#[test]
fn files_of_events_are_imported() {
    for name in ["events.jsonl", "events.jsonl.gz"] {
        let folder = tempfile::tempdir().expect("a folder");
        let (data, file) = (folder.path().join("data"), folder.path().join(name));
        let telemetry = Telemetry::builder().exporter(EventsFile::new(&file)).start().expect("threads");
        let queries = Queries::start(&telemetry, 1);
        wait_within(LEFT_WITHIN, "some events", || (telemetry.stats().sent > 20).then_some(()));
        let queries = queries.stop();
        telemetry.shutdown();
        let stats = telemetry.stats();
        assert_eq!((stats.sent, stats.dropped.total()), (stats.enqueued, 0), "{stats:?}");

        let imported = queryscope([Path::new("import"), Path::new("--data"), &data, &file]).success();
        assert_eq!(imported, format!("{} events stored, 0 had been stored before\n", stats.sent));
        let checked = check(&data, &file);
        assert!(
            checked.starts_with(&format!("{queries} queries, {} events, 1 streams", stats.sent)),
            "{checked}"
        );
    }
}

/// Judges the folder, which must be sound and hold all that was acknowledged; the verdict, without notes of files a
/// kill left unfinished.
fn check(data: &Path, acknowledged: &Path) -> String {
    let check = ["check".as_ref(), "--data".as_ref(), data, "--acknowledged".as_ref(), acknowledged];
    let checked = queryscope(check).success();
    assert!(checked.ends_with(": sound\n"), "{checked}");
    checked.lines().next_back().unwrap_or_default().to_owned()
}

fn setting<T: std::str::FromStr>(name: &str) -> Option<T> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}: {text:?} is no number")))
}
