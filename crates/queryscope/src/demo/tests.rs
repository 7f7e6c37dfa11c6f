use std::collections::BTreeSet;

use anyhow::bail;
use queryscope_protocol::{Batch, StreamId};

use super::*;

/// A stage whose time passes only while the demo sleeps or posts.
#[derive(Default)]
struct TestStage {
    unix_ns: i64,
    slept: Duration,
    /// How long each request takes.
    request: Duration,
    posted: Vec<(i64, Vec<u8>)>,
    told: Vec<Progress>,
    /// The request that fails.
    fails_at: Option<usize>,
}

impl Stage for TestStage {
    fn post(&mut self, batch: Vec<u8>) -> anyhow::Result<()> {
        if self.fails_at == Some(self.posted.len()) {
            bail!("401 Unauthorized");
        }
        self.posted.push((self.unix_ns, batch));
        self.unix_ns += self.request.as_nanos() as i64;
        Ok(())
    }

    fn now_unix_ns(&self) -> i64 {
        self.unix_ns
    }

    fn sleep(&mut self, pause: Duration) {
        self.slept += pause;
        self.unix_ns += pause.as_nanos() as i64;
    }

    fn progress(&mut self, progress: Progress) {
        self.told.push(progress);
    }
}

const ALL: Options = Options { seed: 7, history_only: false };

fn stage() -> TestStage {
    TestStage { unix_ns: 1_800_000_000_123_456_789, ..TestStage::default() }
}

#[test]
fn the_whole_demo() {
    let mut stage = stage();
    let report = run(&mut stage, ALL).expect("a demo");
    assert_eq!(report.batches, stage.posted.len());
    assert_eq!(report.batch_bytes, stage.posted.iter().map(|(_, batch)| batch.len()).sum::<usize>());
    assert!(report.batch_bytes < 18_000_000, "{}", report.batch_bytes);
    assert!((3_000..6_000).contains(&report.history_queries), "{report:?}");
    assert!((50..150).contains(&report.live_queries), "{report:?}");
    assert!((55..70).contains(&stage.slept.as_secs()), "{:?}", stage.slept);
    for (_, batch) in &stage.posted {
        let events: Result<Vec<_>, _> = Batch::open(batch).expect("a batch").events.collect();
        assert!(!events.expect("events").is_empty());
    }

    let queries = report.history_queries;
    assert_eq!(stage.told.first(), Some(&Progress::History { done: 0, queries }));
    assert!(stage.told.contains(&Progress::History { done: queries, queries }));
    let Some(Progress::Live { played, length }) = stage.told.last() else {
        panic!("{:?}", stage.told.last())
    };
    assert_eq!((played, *length), (length, stage.slept));
}

#[test]
fn the_history_alone_takes_no_time() {
    let mut stage = stage();
    let report = run(&mut stage, Options { history_only: true, ..ALL }).expect("a history");
    assert_eq!((report.live_queries, stage.slept), (0, Duration::ZERO));
    assert_eq!(
        stage.told.last(),
        Some(&Progress::History { done: report.history_queries, queries: report.history_queries })
    );
}

fn play(stage: &mut impl Stage) {
    play_recordings(stage, 7, &mut Report::default()).expect("the recordings");
}

#[test]
fn a_slow_service_does_not_make_it_longer() {
    let mut slow = TestStage { request: Duration::from_millis(100), ..stage() };
    let began = slow.unix_ns;
    play(&mut slow);
    assert!((55..72).contains(&((slow.unix_ns - began) / 1_000_000_000)), "{} ns", slow.unix_ns - began);
}

#[test]
fn a_clock_that_is_set_back_does_not_make_it_longer() {
    struct SetBack(TestStage);

    impl Stage for SetBack {
        fn post(&mut self, batch: Vec<u8>) -> anyhow::Result<()> {
            self.0.post(batch)
        }

        fn now_unix_ns(&self) -> i64 {
            let hour_ns = 3_600_000_000_000;
            if self.0.slept > Duration::from_secs(20) { self.0.unix_ns - hour_ns } else { self.0.unix_ns }
        }

        fn sleep(&mut self, pause: Duration) {
            self.0.sleep(pause);
        }

        fn progress(&mut self, progress: Progress) {
            self.0.progress(progress);
        }
    }

    let mut stage = SetBack(stage());
    play(&mut stage);
    assert!((55..70).contains(&stage.0.slept.as_secs()), "{:?}", stage.0.slept);
}

#[test]
fn another_time_is_another_demo() {
    let (mut first, mut same, mut later) = (stage(), stage(), stage());
    later.unix_ns += 1;
    for stage in [&mut first, &mut same, &mut later] {
        play(stage);
    }
    assert!(first.posted == same.posted);
    let streams = |stage: &TestStage| -> BTreeSet<StreamId> {
        stage.posted.iter().map(|(_, batch)| Batch::open(batch).expect("a batch").process.id).collect()
    };
    assert!(streams(&first).is_disjoint(&streams(&later)));
}

#[test]
fn the_first_error_ends_it() {
    for (fails_at, part) in [(3, "history"), (140, "recordings")] {
        let mut stage = TestStage { fails_at: Some(fails_at), ..stage() };
        let error = run(&mut stage, ALL).expect_err("a refused request");
        assert!(error.to_string().contains(part), "{error}");
        assert_eq!(
            (format!("{}", error.root_cause()), stage.posted.len()),
            ("401 Unauthorized".into(), fails_at)
        );
    }
}
