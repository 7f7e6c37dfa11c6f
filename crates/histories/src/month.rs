//! A month of many labels, fed to detectors and issues as the service does: what would be told, and what should be.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use queryscope_diagnosis::{Detector, RunFeatures, Watching, Workspace, seen_run};
use queryscope_issues::limits::STAKE_MS_A_DAY_MIN;
use queryscope_issues::{Issue, Kind as IssueKind, Observed, State, Transition, observe};

use crate::generate::{Change, Factor, History, Kind, Noise, Spec, generate_month};

/// Days of a month.
const DAYS: f64 = 30.0;
const WEEKS: f64 = DAYS / 7.0;
/// Within so many runs with the change it is to be told.
const IN_TIME_RUNS: usize = 5;
/// And if it is at least so large.
const IN_TIME_FACTOR: Factor = 1.5;
/// Runs before a change without which nothing is usual yet.
const BEFORE_RUNS_MIN: usize = 8;
/// Kinds of issues that changes make.
const KINDS: [IssueKind; 3] = [IssueKind::Slower, IssueKind::Failing, IssueKind::DataGrew];
/// How much slower, by turns.
const FACTORS: [Factor; 4] = [1.3, 1.5, 2.0, 3.0];
/// Noise of labels, by turns: most are plain.
const NOISE: [Noise; 20] = [
    Noise::Plain,
    Noise::Weekends,
    Noise::Plain,
    Noise::Hosts,
    Noise::Plain,
    Noise::Plain,
    Noise::Cold,
    Noise::Plain,
    Noise::Bursts,
    Noise::Plain,
    Noise::Plain,
    Noise::Growing,
    Noise::Plain,
    Noise::Decoy,
    Noise::Plain,
    Noise::Plain,
    Noise::Daily,
    Noise::Plain,
    Noise::Correlated,
    Noise::Plain,
];

/// What is simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MonthOptions {
    /// Source of the histories.
    pub seed: u64,
    /// Labels.
    pub labels: u64,
    /// Of these, those that change.
    pub changes: u64,
}

/// What was told of one label.
#[derive(Debug, Clone)]
pub struct Label {
    /// Its history.
    pub spec: Spec,
    /// Runs.
    pub runs: usize,
    /// Runs with the change until it was told; `None` if it was not.
    pub told_after: Option<usize>,
    /// Further messages about the change.
    pub duplicates: usize,
    /// Messages about what is not there, with their words.
    pub falsely: Vec<String>,
    /// Messages that data grew, which are information.
    pub grew: usize,
    /// Messages that an issue is over by itself.
    pub over: usize,
    /// Whether a change was found and was not worth an issue.
    pub is_below_floor: bool,
    /// Whether its first burst of slow runs is a change, for all that can be known at its fifth run.
    pub has_burst_like_a_change: bool,
}

/// What was told of a month.
#[derive(Debug, Clone, Default)]
pub struct Month {
    /// Each label.
    pub labels: Vec<Label>,
}

/// Feeds a month to detectors and issues.
pub fn month(options: MonthOptions) -> Month {
    let mut workspace = Workspace::default();
    let labels = specs(options).map(|spec| one(&generate_month(spec, DAYS), &mut workspace)).collect();
    Month { labels }
}

/// The histories: changes are spread evenly over labels, kinds and factors.
fn specs(MonthOptions { seed, labels, changes }: MonthOptions) -> impl Iterator<Item = Spec> {
    let kinds: Vec<Kind> = Kind::ALL.into_iter().filter(|kind| *kind != Kind::Faster).collect();
    (0..labels).map(move |number| {
        let ordinal = number * changes / labels.max(1);
        let is_changed = (number + 1) * changes / labels.max(1) > ordinal;
        let change = is_changed.then(|| {
            let at = ordinal as usize;
            let kind = kinds[at % kinds.len()];
            Change {
                kind,
                factor: FACTORS[at % FACTORS.len()],
                decoy: at / FACTORS.len() % 2 == 1 && kind != Kind::Failures,
            }
        });
        let noise = NOISE[(number % NOISE.len() as u64) as usize];
        // A history of noise of these kinds has a change of another cause already.
        let noise = if change.is_some() { Noise::Plain } else { noise };
        Spec { seed: (seed << 32) + number + 1, noise, change, young: false }
    })
}

/// Feeds the runs of one label.
fn one(history: &History, workspace: &mut Workspace) -> Label {
    let mut label = Label {
        spec: history.spec,
        runs: history.runs.len(),
        told_after: None,
        duplicates: 0,
        falsely: Vec::new(),
        grew: 0,
        over: 0,
        is_below_floor: false,
        has_burst_like_a_change: has_burst_like_a_change(history),
    };
    let mut detector = Detector::default();
    let mut known: BTreeMap<IssueKind, Issue> = BTreeMap::new();
    for (place, run) in history.runs.iter().enumerate() {
        let ended_unix_ns = run.started_unix_ns.saturating_add_unsigned(run.wall_ns);
        let seen = seen_run(run, None);
        drop(detector.observe(run.clone(), workspace));
        let mut watching = Watching::new(ended_unix_ns);
        watching.note(seen, true, &detector);
        for observed in watching.parts() {
            for (kind, transition) in step(&mut known, &observed) {
                label.take(history, place, kind, &transition);
            }
            let is_open = |kind| observed.open.iter().any(|change| change.kind == kind);
            label.is_below_floor |= place >= history.changed_at
                && is_open(IssueKind::Slower)
                && !known.contains_key(&IssueKind::Slower);
        }
    }
    label
}

/// Whether the first burst of a label with so many runs that a change is to be told by then is as large as a change
/// that is to be told, and costs as much as an issue needs. What tells every change in time tells of this one.
fn has_burst_like_a_change(history: &History) -> bool {
    let Some(first) = history.burst.windows(IN_TIME_RUNS).position(|runs| runs.iter().all(|burst| *burst))
    else {
        return false;
    };
    if first < BEFORE_RUNS_MIN || history.burst[..first].contains(&true) {
        return false;
    }
    let median_ms = |runs: &[RunFeatures]| {
        let mut walls: Vec<u64> = runs.iter().map(|run| run.wall_ns).collect();
        walls.sort_unstable();
        walls[walls.len() / 2] as f64 / 1e6
    };
    let (before, burst) = (&history.runs[..first], &history.runs[first..first + IN_TIME_RUNS]);
    let (before_ms, burst_ms) = (median_ms(before), median_ms(burst));
    let runs_a_day = history.runs.len() as f64 / DAYS;
    burst_ms >= IN_TIME_FACTOR * before_ms && (burst_ms - before_ms) * runs_a_day >= STAKE_MS_A_DAY_MIN
}

/// Moves the issues of a label; gives back their transitions.
fn step(known: &mut BTreeMap<IssueKind, Issue>, observed: &Observed) -> Vec<(IssueKind, Transition)> {
    let mut made = Vec::new();
    for kind in KINDS {
        let moved = observe(("default", Some("etl"), "l"), kind, known.get(&kind).cloned(), observed);
        if let Some(moved) = moved {
            made.extend(moved.transitions.into_iter().map(|transition| (kind, transition)));
            known.insert(kind, moved.issue);
        }
    }
    made
}

impl Label {
    fn take(&mut self, history: &History, place: usize, kind: IssueKind, transition: &Transition) {
        match transition.to {
            State::Open | State::Regressed => {}
            State::Resolved => {
                self.over += usize::from(kind != IssueKind::DataGrew);
                return;
            }
            State::Acknowledged | State::Muted => return,
        }
        if kind == IssueKind::DataGrew {
            self.grew += 1;
            return;
        }
        let wanted = self.spec.change.map(|change| match change.kind {
            Kind::Failures => IssueKind::Failing,
            _ => IssueKind::Slower,
        });
        if place < history.changed_at || wanted != Some(kind) {
            let reason = &transition.reason;
            self.falsely.push(format!("{:?}, run {place} of {}: {kind:?}, {reason}", self.spec, self.runs));
        } else if self.told_after.is_some() {
            self.duplicates += 1;
        } else {
            let since = &history.slow[history.changed_at..=place];
            self.told_after = Some(since.iter().filter(|slow| **slow).count());
        }
    }

    fn factor(&self) -> Option<Factor> {
        self.spec.change.map(|change| change.factor)
    }

    fn is_of(&self, factor: Factor) -> bool {
        self.factor().is_some_and(|of| (of - factor).abs() < 1e-9)
    }
}

impl Month {
    /// Messages about what is not there.
    pub fn falsely(&self) -> usize {
        self.labels.iter().map(|label| label.falsely.len()).sum()
    }

    /// Changes of 1.5 times and more that were not told within five runs.
    pub fn late(&self) -> usize {
        let large = |label: &&Label| label.factor().is_some_and(|factor| factor >= IN_TIME_FACTOR);
        let is_late = |label: &&Label| label.told_after.is_none_or(|after| after > IN_TIME_RUNS);
        self.labels.iter().filter(large).filter(is_late).count()
    }

    /// The table, as Markdown.
    pub fn report(&self) -> String {
        let mut text = String::new();
        let sum = |of: fn(&Label) -> usize| self.labels.iter().map(of).sum::<usize>();
        let changed: Vec<&Label> = self.labels.iter().filter(|label| label.spec.change.is_some()).collect();
        let told = changed.iter().filter(|label| label.told_after.is_some()).count();
        let duplicates = sum(|label| label.duplicates);
        let week = |count: usize| format!("{:.2}", count as f64 / WEEKS);
        let _ = writeln!(
            text,
            "| of {} labels, {} runs, 30 days | count | a week |",
            self.labels.len(),
            sum(|l| l.runs)
        );
        let _ = writeln!(text, "|---|---|---|");
        let mut row = |name: &str, count: usize| {
            let _ = writeln!(text, "| {name} | {count} | {} |", week(count));
        };
        row("seeded changes", changed.len());
        row("messages that something got worse", told + duplicates + self.falsely());
        row("of these false", self.falsely());
        row("of these a further one for the same change", duplicates);
        row(
            "first bursts that are a change at their fifth run",
            sum(|label| usize::from(label.has_burst_like_a_change)),
        );
        row("messages that something is over", sum(|label| label.over));
        row("messages that data grew (information)", sum(|label| label.grew));
        let _ = writeln!(
            text,
            "\n| changes by | seeded | told within 5 runs | later | missed | missed below the floor |"
        );
        let _ = writeln!(text, "|---|---|---|---|---|---|");
        for factor in FACTORS {
            let of: Vec<&&Label> = changed.iter().filter(|label| label.is_of(factor)).collect();
            let within = |label: &&&&Label| label.told_after.is_some_and(|after| after <= IN_TIME_RUNS);
            let in_time = of.iter().filter(within).count();
            let missed: Vec<_> = of.iter().filter(|label| label.told_after.is_none()).collect();
            let floor = missed.iter().filter(|label| label.is_below_floor).count();
            let later = of.len() - in_time - missed.len();
            let _ = writeln!(
                text,
                "| {factor}x | {} | {in_time} | {later} | {} | {floor} |",
                of.len(),
                missed.len()
            );
        }
        let mut by_noise: BTreeMap<String, (usize, usize)> = BTreeMap::new();
        for label in &self.labels {
            let of = by_noise.entry(format!("{:?}", label.spec.noise)).or_default();
            *of = (of.0 + 1, of.1 + label.falsely.len());
        }
        let _ = writeln!(text, "\n| noise | labels | false messages |\n|---|---|---|");
        for (noise, (labels, falsely)) in by_noise {
            let _ = writeln!(text, "| {noise} | {labels} | {falsely} |");
        }
        text
    }

    /// What was told falsely, late or never, a line each.
    pub fn misses(&self) -> Vec<String> {
        let falsely =
            self.labels.iter().flat_map(|label| label.falsely.iter().map(|said| format!("false: {said}")));
        let late = self.labels.iter().filter(|label| {
            label.factor().is_some_and(|factor| factor >= IN_TIME_FACTOR)
                && label.told_after.is_none_or(|after| after > IN_TIME_RUNS)
        });
        let late = late
            .map(|label| format!("late: {:?} after {:?} of {}", label.spec, label.told_after, label.runs));
        let twice = self.labels.iter().filter(|label| label.duplicates > 0);
        let twice = twice.map(|label| format!("again: {:?}, {} more", label.spec, label.duplicates));
        falsely.chain(late).chain(twice).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_spread_over_labels() {
        let specs: Vec<Spec> = specs(MonthOptions { seed: 1, labels: 1_000, changes: 60 }).collect();
        assert_eq!(specs.len(), 1_000);
        let changed: Vec<&Spec> = specs.iter().filter(|spec| spec.change.is_some()).collect();
        assert_eq!(changed.len(), 60);
        for factor in FACTORS {
            assert!(
                changed
                    .iter()
                    .filter(|spec| spec.change.is_some_and(|c| (c.factor - factor).abs() < 1e-9))
                    .count()
                    >= 8
            );
        }
        assert!(specs.iter().filter(|spec| spec.noise == Noise::Plain).count() < 700);
    }

    #[test]
    fn a_small_month_tells_its_changes() {
        let options = MonthOptions { seed: 3, labels: 40, changes: 20 };
        let month = month(options);
        // A change that costs less than an issue needs is found, and nobody is told of it.
        let changed = month.labels.iter().filter(|label| label.spec.change.is_some());
        let (told, missed): (Vec<_>, Vec<_>) = changed.partition(|label| label.told_after.is_some());
        let missed: Vec<_> = missed.into_iter().filter(|label| !label.is_below_floor).collect();
        assert!(told.len() >= 10, "{}", month.report());
        assert!(missed.len() <= 1, "{} missed\n{}", missed.len(), month.misses().join("\n"));
        assert!(month.falsely() <= 4, "{}", month.misses().join("\n"));
        assert!(month.report().contains("| seeded changes | 20 |"), "{}", month.report());
    }
}
