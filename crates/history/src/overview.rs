//! How is a label doing?
//!
//! Lately, usual, the verdict, new warnings and the change of plan do not depend on how long the range of a
//! [`Window`] is.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::cells::Cells;
use crate::compare::{Comparison, Verdict};
use crate::failure::Failures;
use crate::lately::{Lately, Side};
use crate::plan::PlanChange;
use crate::point::{Names, Numbered, Point};
use crate::quantile::Median;
use crate::rules::{Earlier, distinct_rules, new_rules};
use crate::run::Run;
use crate::sparse;
use crate::total::WallTotal;
use crate::window::Window;

/// How one label is doing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct LabelOverview<'a> {
    /// The label.
    pub label: Cow<'a, str>,
    /// The service of its last run that has one; with `split=service`, the service.
    pub service: Option<Cow<'a, str>>,
    /// Distinct services of its runs in the range; runs without a service count as one.
    pub services: u64,
    /// Runs in the range, of every state.
    pub runs: u64,
    /// Those of them that failed.
    pub failed: u64,
    /// Those of the failed ones that a person or the program stopped.
    pub cancelled: u64,
    /// Runs in the range of which nothing was heard for too long; they are not among the failed.
    pub unfinished: u64,
    /// Wall time of those of them that finished, together, in milliseconds.
    pub total_wall_ms: f64,
    /// Median wall time of the usual runs, in milliseconds; null where there are fewer than 5.
    pub usual_wall_ms: Option<f64>,
    /// Quartiles of the wall time of the usual runs, in milliseconds.
    pub usual_band_ms: Option<[f64; 2]>,
    /// Median wall time of the lately runs, in milliseconds.
    pub recent_wall_ms: Option<f64>,
    /// Quartiles of the wall time of the lately runs, in milliseconds, where the upper one is at least 4 times the
    /// lower one, of 5 runs or more, as of a query that runs two plans: the median says little there. Null elsewhere.
    pub recent_spread_ms: Option<[f64; 2]>,
    /// The recent over the usual wall time.
    pub ratio: Option<f64>,
    /// Whether there are runs enough to be judged: 5 usual and 3 lately ones that finished.
    pub judged: bool,
    /// `slower` or `faster` where the median moved by a factor of 1.5 or more, hardly by luck.
    #[cfg_attr(feature = "schema", schema(inline))]
    pub verdict: Option<Verdict>,
    /// Runs of the last 24 hours, or the last three when there were fewer.
    pub recent_runs: u64,
    /// Those of them that failed.
    pub recent_failed: u64,
    /// Runs that failed in the 14 days before the lately runs.
    pub failed_before: u64,
    /// Rules that warned in the range, by name.
    pub rules: Vec<Cow<'a, str>>,
    /// Rules that first warned in the last 7 days, by name.
    pub new_rules: Vec<Cow<'a, str>>,
    /// When the plan the query runs now first ran, in Unix nanoseconds, if it is not the plan it usually ran.
    pub plan_changed_unix_ns: Option<i64>,
    /// Median wall time of each quarter of 24 hours of the range, in milliseconds; null where nothing finished.
    #[serde(with = "sparse")]
    #[cfg_attr(feature = "schema", schema(value_type = Vec<Option<f64>>))]
    pub bins: Vec<Median>,
    /// Each local day.
    #[serde(with = "sparse")]
    pub days: Vec<Day>,
    /// Id of the open change of the label in the service; without `split=service`, of the label. Of several, one for
    /// the worse before others, then the one that costs most. Null where there is none.
    pub change: Option<String>,
}

/// The runs of a local day that lie in the range.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Day {
    /// Runs, of every state.
    #[cfg_attr(feature = "schema", schema(value_type = u64))]
    pub runs: u32,
    /// Those of them that failed.
    #[cfg_attr(feature = "schema", schema(value_type = u64))]
    pub failed: u32,
    /// Those of the failed ones that a person or the program stopped.
    #[cfg_attr(feature = "schema", schema(value_type = u64))]
    pub cancelled: u32,
    /// Runs of which nothing was heard for too long; they are not among the failed.
    #[cfg_attr(feature = "schema", schema(value_type = u64))]
    pub unfinished: u32,
    /// Median wall time of those that finished, in milliseconds; null where none did.
    #[cfg_attr(feature = "schema", schema(value_type = Option<f64>))]
    pub median_wall_ms: Median,
}

/// All entries together, whatever the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Totals {
    /// Entries there are: labels, or with `split=service` labels in one service.
    pub labels: u64,
    /// Runs in the range, of every state.
    pub runs: u64,
    /// Those of them that failed.
    pub failed: u64,
    /// Those of the failed ones that a person or the program stopped.
    pub cancelled: u64,
    /// Runs in the range of which nothing was heard for too long; they are not among the failed.
    pub unfinished: u64,
    /// Wall time of those of them that finished, together, in milliseconds.
    #[cfg_attr(feature = "schema", schema(value_type = f64))]
    pub total_wall_ms: WallTotal,
    /// Entries whose verdict is `slower`.
    pub slower: u64,
    /// Entries whose verdict is `faster`.
    pub faster: u64,
    /// Entries with runs enough to be judged, whatever the verdict.
    pub judged: u64,
}

impl Totals {
    /// Adds an entry.
    pub fn add(&mut self, entry: &LabelOverview<'_>) {
        self.labels += 1;
        self.runs += entry.runs;
        self.failed += entry.failed;
        self.cancelled += entry.cancelled;
        self.unfinished += entry.unfinished;
        self.total_wall_ms.add(entry.total_wall_ms);
        self.slower += u64::from(entry.verdict == Some(Verdict::Slower));
        self.faster += u64::from(entry.verdict == Some(Verdict::Faster));
        self.judged += u64::from(entry.judged);
    }

    /// Adds other entries.
    pub fn merge(&mut self, other: &Self) {
        self.labels += other.labels;
        self.runs += other.runs;
        self.failed += other.failed;
        self.cancelled += other.cancelled;
        self.unfinished += other.unfinished;
        self.total_wall_ms.merge(other.total_wall_ms);
        self.slower += other.slower;
        self.faster += other.faster;
        self.judged += other.judged;
    }
}

impl<'a> LabelOverview<'a> {
    /// Of the runs of a label in any order: at least those that [`Window::runs_since_unix_ns`] speaks of, and
    /// what is known of those before them. Runs that start more than 24 hours after the end of the
    /// range, by the clock of a sender that is ahead, have no part. `None` when no run started in the range. The
    /// label stays empty.
    pub fn of(window: &Window, runs: &[Run<'a>], earlier: &Earlier<'a>) -> Option<Self> {
        let begun = runs.iter().filter(|run| run.started_unix_ns <= window.until_unix_ns());
        let Numbered { points, names, .. } = Numbered::of(begun.copied());
        let mut overviews = Overviews::new(*window);
        let mut overview = overviews.overview(&points, &names, || (earlier.runs, earlier.rules.to_vec()))?;
        overviews.add_cells(&mut overview, &points);
        Some(overview)
    }

    /// Whether there is something to tell: a verdict, a lately run that failed, a new warning or a new plan.
    pub fn has_news(&self) -> bool {
        self.verdict.is_some()
            || self.recent_failed > 0
            || !self.new_rules.is_empty()
            || self.plan_changed_unix_ns.is_some()
    }
}

/// Makes the overviews of many labels, one after the other.
#[derive(Debug)]
pub struct Overviews {
    window: Window,
    cells: Cells,
    lately_ms: Vec<f64>,
    usual_ms: Vec<f64>,
    services: DistinctServices,
}

impl Overviews {
    /// Of a range.
    pub fn new(window: Window) -> Self {
        Self {
            window,
            cells: Cells::of(&window),
            lately_ms: Vec::new(),
            usual_ms: Vec::new(),
            services: DistinctServices::default(),
        }
    }

    /// The overview of a label, as [`LabelOverview::of`] tells it, from its runs in any order; none of them starts
    /// after [`Window::until_unix_ns`]. `earlier` is asked only where it matters: how many runs there are that were
    /// not given, and the names of the insights that warned in any of them. The label stays empty. Slices and
    /// days are left out: [`Overviews::add_cells`] adds them, which a label that is not on the page asked for does
    /// not need.
    pub fn overview<'a>(
        &mut self,
        points: &[Point],
        names: &Names<'a>,
        earlier: impl FnOnce() -> (u64, Vec<&'a str>),
    ) -> Option<LabelOverview<'a>> {
        let lately = Lately::of(points, &self.window)?;
        let (since_unix_ns, new_since_unix_ns) =
            (self.window.since_unix_ns(), self.window.new_rules_since_unix_ns());
        self.lately_ms.clear();
        self.usual_ms.clear();
        let (mut range, mut recent, mut before) = (Counts::default(), Counts::default(), Counts::default());
        let mut old_runs = 0;
        let mut total = WallTotal::default();
        let mut service = None;
        let mut plans = vec![InPlan::default(); names.plans.len()];
        let mut change = PlanChange::new(names);
        for point in points {
            let plan = &mut plans[point.plan as usize];
            if point.started_unix_ns >= since_unix_ns {
                range.add(point);
                total.extend(point.time());
                plan.in_range = true;
                self.services.add(point.service);
                if let Some(name) = names.services[point.service as usize] {
                    service = service.max(Some((point.place(), name)));
                }
            }
            if point.started_unix_ns >= new_since_unix_ns {
                plan.in_new = true;
            } else {
                plan.in_old = true;
                old_runs += 1;
            }
            match lately.side_of(point) {
                Side::Lately => {
                    recent.add(point);
                    self.lately_ms.extend(point.time());
                    change.run(point);
                }
                Side::Before => {
                    before.add(point);
                    self.usual_ms.extend(point.time());
                    change.run(point);
                    change.usual(point);
                }
                Side::Earlier => {}
            }
        }
        let services = self.services.take(&names.services);
        if range.runs == 0 {
            return None;
        }
        let rules = |of: fn(&InPlan) -> bool| {
            let of_plans = plans.iter().zip(&names.plans).filter(move |(plan, _)| of(plan));
            distinct_rules(of_plans.flat_map(|(_, names)| names.rules.iter().copied()))
        };
        let Comparison {
            usual_wall_ms,
            usual_band_ms,
            recent_wall_ms,
            recent_spread_ms,
            ratio,
            judged,
            verdict,
        } = Comparison::of_times(&mut self.lately_ms, &mut self.usual_ms);
        let new_rules = new_rules(rules(|plan| plan.in_new), &rules(|plan| plan.in_old), old_runs, earlier);
        Some(LabelOverview {
            label: Cow::default(),
            service: service.map(|(_, name)| name.into()),
            services,
            runs: range.runs,
            failed: range.failures.failed,
            cancelled: range.failures.cancelled,
            unfinished: range.failures.unfinished,
            total_wall_ms: total.wall_ms(),
            usual_wall_ms,
            usual_band_ms,
            recent_wall_ms,
            recent_spread_ms,
            ratio,
            judged,
            verdict,
            recent_runs: recent.runs,
            recent_failed: recent.failures.failed,
            failed_before: before.failures.failed,
            rules: rules(|plan| plan.in_range).into_iter().map(Cow::Borrowed).collect(),
            new_rules: new_rules.into_iter().map(Cow::Borrowed).collect(),
            plan_changed_unix_ns: change
                .unix_ns(points.iter().filter(|p| lately.side_of(p) != Side::Earlier)),
            bins: Vec::new(),
            days: Vec::new(),
            change: None,
        })
    }

    /// Adds the slices and days of a label, from the runs its overview was made of.
    pub fn add_cells(&mut self, overview: &mut LabelOverview<'_>, points: &[Point]) {
        self.cells.fill(&self.window, points);
        overview.bins = self.cells.slices();
        overview.days = self.cells.take_days(&self.window);
    }
}

/// The services of some runs, by number, each once.
#[derive(Debug, Default)]
struct DistinctServices {
    numbers: Vec<u32>,
    is_seen: Vec<bool>,
}

impl DistinctServices {
    fn add(&mut self, number: u32) {
        let at = number as usize;
        if at >= self.is_seen.len() {
            self.is_seen.resize(at + 1, false);
        }
        if !self.is_seen[at] {
            self.is_seen[at] = true;
            self.numbers.push(number);
        }
    }

    /// How many names the numbers stand for: two numbers may stand for one. Forgets them.
    fn take(&mut self, names: &[Option<&str>]) -> u64 {
        for number in &self.numbers {
            self.is_seen[*number as usize] = false;
        }
        let mut names: Vec<_> = self.numbers.drain(..).map(|number| names[number as usize]).collect();
        names.sort_unstable();
        names.dedup();
        names.len() as u64
    }
}

/// Where runs of a plan were seen.
#[derive(Debug, Clone, Copy, Default)]
struct InPlan {
    in_range: bool,
    /// In the last 7 days.
    in_new: bool,
    /// Before these.
    in_old: bool,
}

#[derive(Debug, Default)]
struct Counts {
    runs: u64,
    failures: Failures,
}

impl Counts {
    fn add(&mut self, point: &Point) {
        self.runs += 1;
        self.failures.add(point.failure);
    }
}

#[cfg(test)]
mod tests;
