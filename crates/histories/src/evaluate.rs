//! Feeds histories to the detector in the order of time, and counts what it says.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use queryscope_diagnosis::{
    self as diagnosis, Account, CauseKind, Detector, NodeFeatures, Quantity, RunFeatures, Running, State,
    Workspace, remaining,
};

use crate::generate::{Change, Factor, History, Kind, Noise, Spec, generate};

/// What is evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Source of the histories; two seeds share none.
    pub seed: u64,
    /// Histories of each kind of change and factor, and ten times as many of each noise.
    pub labels: u64,
}

/// What the detector said of one history.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The history.
    pub spec: Spec,
    /// Runs since the change when it was called; `None` if never.
    pub called_after: Option<usize>,
    /// The same, counted over the runs that have the change: those of one host, where it is a host's.
    pub called_after_changed: Option<usize>,
    /// Whether it was called at the end.
    pub open_at_end: bool,
    /// Whether it was called and then no more, though it lasted.
    pub forgotten: bool,
    /// Days on which a slower or failing change was open that is not there.
    pub false_days: u64,
    /// Days with runs.
    pub days: u64,
    /// The first cause at the end, with its share; when it was called, too.
    pub first_cause: Option<(CauseKind, f64)>,
    /// The same when it was called.
    pub first_cause_then: Option<(CauseKind, f64)>,
    /// Whether the two example runs, compared, have that first cause at the end.
    pub pair_agrees: Option<bool>,
    /// Runs between the real and the said start, at the end.
    pub onset_error: Option<usize>,
    /// Whether parts sum to the difference and shares to 1.
    pub sums: bool,
    /// All that was said at the end.
    pub said: Vec<String>,
    /// Forecasts of remaining times, and how many runs ended within P10 to P90, and before P50.
    pub forecasts: [usize; 3],
    /// Runs.
    pub runs: usize,
    /// CPU time of it.
    pub took: Duration,
}

/// The histories of an evaluation.
fn specs(options: Options) -> Vec<Spec> {
    let mut specs = Vec::new();
    let mut seed = options.seed << 32;
    let mut next = || {
        seed += 1;
        seed
    };
    for kind in Kind::ALL {
        for factor in [1.3, 1.5, 2.0, 3.0] as [Factor; 4] {
            for n in 0..options.labels {
                let decoy = n % 2 == 1 && kind != Kind::Failures;
                let change = Some(Change { kind, factor, decoy });
                specs.push(Spec { seed: next(), noise: Noise::Plain, change, young: false });
            }
            for n in 0..options.labels.div_ceil(4) {
                let noise = [Noise::Weekends, Noise::Hosts, Noise::Cold, Noise::Bursts][n as usize % 4];
                let change = Some(Change { kind, factor, decoy: false });
                specs.push(Spec { seed: next(), noise, change, young: false });
                specs.push(Spec { seed: next(), noise: Noise::Plain, change, young: true });
            }
        }
    }
    for (noise, times) in [
        (Noise::Plain, 20),
        (Noise::Decoy, 10),
        (Noise::Weekends, 8),
        (Noise::Hosts, 8),
        (Noise::Cold, 8),
        (Noise::Bursts, 8),
        (Noise::Growing, 8),
    ] {
        specs.extend((0..options.labels * times).map(|_| Spec {
            seed: next(),
            noise,
            change: None,
            young: false,
        }));
    }
    specs.extend((0..options.labels * 4).map(|_| Spec {
        seed: next(),
        noise: Noise::Plain,
        change: None,
        young: true,
    }));
    for noise in Noise::OTHERS {
        let other = |seed| Spec { seed, noise, change: None, young: false };
        specs.extend((0..options.labels * 4).map(|_| other(next())));
    }
    let bare = |seed, change| Spec { seed, noise: Noise::Bare, change, young: false };
    specs.extend((0..options.labels * 8).map(|_| bare(next(), None)));
    for (place, kind) in Kind::ALL.into_iter().filter(|kind| kind.is_slower()).enumerate() {
        for factor in [1.5, 2.0, 3.0] {
            for n in 0..options.labels.div_ceil(4) as usize {
                let change = Some(Change { kind, factor, decoy: false });
                let noise = Noise::OTHERS[(place + 3 * n + factor as usize) % Noise::OTHERS.len()];
                specs.push(Spec { seed: next(), noise, change, young: false });
                // A host is seen only where it is told.
                if kind != Kind::SlowHost {
                    specs.push(bare(next(), change));
                }
            }
        }
    }
    specs
}

/// Evaluates all histories of a seed.
pub fn evaluate(options: Options) -> Vec<Outcome> {
    evaluate_some(options, |_| true)
}

/// Evaluates those histories of a seed that a caller wants.
pub fn evaluate_some(options: Options, wants: impl Fn(&Spec) -> bool) -> Vec<Outcome> {
    let mut workspace = Workspace::default();
    specs(options).into_iter().filter(wants).map(|spec| one(&generate(spec), &mut workspace)).collect()
}

fn one(history: &History, workspace: &mut Workspace) -> Outcome {
    let wanted = history.spec.change.map(|change| match change.kind {
        Kind::Faster => diagnosis::Kind::Faster,
        Kind::Failures => diagnosis::Kind::Failing,
        _ => diagnosis::Kind::Slower,
    });
    let mut outcome = Outcome {
        spec: history.spec,
        called_after: None,
        called_after_changed: None,
        open_at_end: false,
        forgotten: false,
        false_days: 0,
        days: 0,
        first_cause: None,
        first_cause_then: None,
        pair_agrees: None,
        onset_error: None,
        sums: true,
        said: Vec::new(),
        forecasts: [0; 3],
        runs: history.runs.len(),
        took: Duration::ZERO,
    };
    let mut detector = Detector::default();
    let places: HashMap<String, usize> =
        history.runs.iter().enumerate().map(|(place, run)| (run.query_id.to_string(), place)).collect();
    let mut days: BTreeMap<i64, bool> = BTreeMap::new();
    let mut was_wrong = false;
    for (place, run) in history.runs.iter().enumerate() {
        if place % 8 == 7 && run.status == diagnosis::Status::Finished {
            forecast(&detector, run, place, &mut outcome.forecasts);
        }
        let run = run.clone();
        let day = run.started_unix_ns.div_euclid(86_400_000_000_000);
        let started = thread_cpu();
        let told = detector.observe(run, workspace);
        outcome.took += thread_cpu().saturating_sub(started);
        drop(told);
        let falsely = |change: &diagnosis::Change| {
            place < history.changed_at
                && matches!(change.kind, diagnosis::Kind::Slower | diagnosis::Kind::Failing)
        };
        let wrong = detector.open().any(falsely);
        if place < history.changed_at {
            *days.entry(day).or_default() |= wrong;
            if wrong && !was_wrong {
                let said = detector.open().filter(|change| falsely(change)).map(describe);
                outcome.said.extend(said.map(|said| format!("falsely at run {place}: {said}")));
            }
        }
        was_wrong = wrong;
        let right = detector.open().find(|change| Some(change.kind) == wanted && change.state == State::Open);
        if place >= history.changed_at {
            match right {
                Some(change) => {
                    if outcome.called_after.is_none() {
                        outcome.called_after = Some(place + 1 - history.changed_at);
                        let slow = history.slow[history.changed_at..=place].iter().filter(|&&slow| slow);
                        outcome.called_after_changed = Some(slow.count());
                        outcome.first_cause_then = first(change);
                    }
                    outcome.forgotten = false;
                    outcome.sums &= sums(change);
                }
                None => outcome.forgotten = outcome.called_after.is_some(),
            }
        }
    }
    outcome.days = days.len() as u64;
    outcome.false_days = days.values().filter(|&&wrong| wrong).count() as u64;
    let open = detector.open().find(|change| Some(change.kind) == wanted);
    outcome.open_at_end = open.is_some();
    outcome.said.extend(detector.open().map(describe));
    if let Some(change) = open {
        outcome.first_cause = first(change);
        let run = |id: &Option<String>| Some(&history.runs[*places.get(id.as_ref()?)?]);
        let pair = run(&change.examples.base).zip(run(&change.examples.run));
        let is_of_time = change.kind != diagnosis::Kind::Failing;
        outcome.pair_agrees = pair.filter(|_| is_of_time).and_then(|(base, run)| {
            let account = Account::of(base, run, &change.causes);
            Some(account.parts.first()?.cause == change.causes.first()?.cause)
        });
        let said = places.get(&change.since_query_id).copied();
        let is_slow =
            |place: &usize| history.slow[*place] && history.runs[*place].status == status_of(change.kind);
        let first_slow = (history.changed_at..history.runs.len()).find(is_slow);
        outcome.onset_error = said.zip(first_slow).map(|(said, real)| said.abs_diff(real));
    }
    outcome
}

/// CPU time of this thread.
fn thread_cpu() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap_or(0))
}

/// Asks for the remaining time of a run somewhere on its way, and counts where it ended. Work is done from the
/// leaves up, one node somewhat after the other.
fn forecast(detector: &Detector, run: &RunFeatures, place: usize, counts: &mut [usize; 3]) {
    let passed = (place / 8 * 37 % 90) as f64 / 100.0;
    let count = run.nodes.len().max(1) as f64;
    let nodes: Vec<(NodeFeatures, bool)> = run
        .nodes
        .iter()
        .enumerate()
        .map(|(at, node)| {
            let done = (passed * 1.4 - 0.4 * at as f64 / count).clamp(0.0, 1.0);
            let part = |value: Quantity| value.get().map(|value| (value as f64 * done) as u64).into();
            let counted = NodeFeatures {
                busy_ns: part(node.busy_ns),
                rows_in: part(node.rows_in),
                rows_out: part(node.rows_out),
                rows_scanned: part(node.rows_scanned),
                ..*node
            };
            (counted, done >= 1.0)
        })
        .collect();
    let elapsed_ns = (run.wall_ns as f64 * passed) as u64;
    let running = Running { elapsed_ns, plan: Some(run.plan.fingerprint), nodes: &nodes };
    let Some(told) = remaining(&running, &detector.current(run.environment.as_deref(), run.host.as_deref()))
    else {
        return;
    };
    let left_ms = (run.wall_ns - elapsed_ns) as f64 / 1e6;
    counts[0] += 1;
    counts[1] += usize::from(told.p10_ms <= left_ms && left_ms <= told.p90_ms);
    counts[2] += usize::from(left_ms <= told.p50_ms);
}

fn status_of(kind: diagnosis::Kind) -> diagnosis::Status {
    if kind == diagnosis::Kind::Failing { diagnosis::Status::Failed } else { diagnosis::Status::Finished }
}

fn first(change: &diagnosis::Change) -> Option<(CauseKind, f64)> {
    change.causes.first().map(|cause| (cause.cause, cause.share))
}

fn sums(change: &diagnosis::Change) -> bool {
    if matches!(change.kind, diagnosis::Kind::Failing) {
        return true;
    }
    let (Some(then), Some(now)) = (change.before.median_wall_ms, change.after.median_wall_ms) else {
        return false;
    };
    let wall: f64 = change.causes.iter().map(|cause| cause.wall_ms).sum();
    let share: f64 = change.causes.iter().map(|cause| cause.share).sum();
    (wall - (now - then)).abs() <= 1e-6 * (now - then).abs().max(1.0) && (share - 1.0).abs() < 1e-6
}

fn describe(change: &diagnosis::Change) -> String {
    let causes: Vec<String> = change
        .causes
        .iter()
        .map(|cause| format!("{:?} {:.2}: {}", cause.cause, cause.share, cause.sentence))
        .collect();
    format!(
        "{:?} x{:.2} of {} runs, {} before\n      {}",
        change.kind,
        change.factor.unwrap_or(0.0),
        change.after.runs,
        change.before.runs,
        causes.join("\n      ")
    )
}
