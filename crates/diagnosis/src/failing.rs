//! Runs that fail more often than they did.
//!
//! Each stretch of the last runs that begins with a failure is a candidate. It is called when so many failures
//! of so many runs are improbable by what the runs before did (the beta-binomial tail, [`failures_tail`]), and
//! no earlier stretch of that length had as many. It is over when the cumulative sum of likelihood ratios says
//! that runs fail as rarely as before. A cancelled run has no part in it.

use queryscope_protocol::QueryId;

use crate::adjust::DAY_NS;
use crate::cause;
use crate::change::{Change, Kind, State, Transition};
use crate::features::{RunFeatures, Status};
use crate::limits::{ALARMS_A_DAY, BEFORE_RUNS_MIN};
use crate::series::{Entry, Load, Point, Series};
use crate::stats::failures_tail;

/// Failures that are needed.
const FAILURES_MIN: usize = 3;
/// Runs back that the first failure may lie.
const REACH: usize = 60;
/// Evidence of recovery: one chance in e to the power of this.
const RECOVERY: f64 = 9.0;

/// An open change of the failures.
#[derive(Debug, Clone)]
pub(crate) struct Failing {
    pub(crate) change: Change,
    pub(crate) since: (i64, QueryId),
    pub(crate) environment: u32,
    pub(crate) before: (u64, u64),
    pub(crate) after: (u64, u64),
    /// Runs until the last that failed.
    pub(crate) until_failed: u64,
    pub(crate) evidence: f64,
}

impl Failing {
    pub(crate) fn observe(
        open: &mut Option<Self>,
        series: &mut Series,
        point: &Point,
        ended_unix_ns: i64,
        load: Load<'_>,
        told: &mut Vec<Transition>,
    ) {
        let failed = point.status == Status::Failed;
        if let Some(failing) = open {
            if failing.environment != point.environment || point.place() < failing.since {
                return;
            }
            failing.after.0 += 1;
            failing.after.1 += u64::from(failed);
            if failed {
                failing.until_failed = failing.after.0;
            }
            failing.count(ended_unix_ns);
            if failing.recovers(failed) {
                failing.change.state = State::Recovered;
                failing.change.recovered_unix_ns = Some(ended_unix_ns);
                told.extend(open.take().map(|failing| Transition::Closed(failing.change)));
            } else if failing.after.0.is_power_of_two() {
                told.push(Transition::Updated(failing.change.clone()));
            }
        } else if failed && let Some(failing) = find(series, point, ended_unix_ns, load) {
            told.push(Transition::Opened(failing.change.clone()));
            *open = Some(failing);
        }
    }

    fn rates(&self) -> (f64, f64) {
        let rate = |(runs, failed): (u64, u64)| (failed as f64 + 0.1) / (runs as f64 + 10.0);
        // What came after the last failure does not lower the rate that it is measured by.
        (rate(self.before), (self.after.1 as f64 + 0.5) / (self.until_failed as f64 + 3.0))
    }

    fn recovers(&mut self, failed: bool) -> bool {
        let (before, after) = self.rates();
        let ratio = if failed { (before / after).ln() } else { ((1.0 - before) / (1.0 - after)).ln() };
        self.evidence = (self.evidence + ratio).max(0.0);
        self.evidence >= RECOVERY
    }

    fn count(&mut self, until_unix_ns: i64) {
        let change = &mut self.change;
        (change.after.runs, change.after.failed) = self.after;
        change.causes = vec![cause::failures(&change.before, &change.after)];
        change.cost.runs = self.after.0;
        // The results that are missing take as long as they used to.
        let missing_ms = self.after.1 as f64 * change.before.median_wall_ms.unwrap_or_default();
        change.cost.wall_ms_a_day =
            missing_ms / ((until_unix_ns - self.since.0) as f64 / DAY_NS as f64).max(1.0);
        let rate = |(runs, failed): (u64, u64)| failed as f64 / runs as f64;
        change.factor = (self.before.1 > 0).then(|| rate(self.after) / rate(self.before));
    }
}

fn find(series: &mut Series, point: &Point, ended_unix_ns: i64, load: Load<'_>) -> Option<Failing> {
    let usable = |entry: &&Entry| {
        entry.point.environment == point.environment && entry.point.status != Status::Cancelled
    };
    let ended: Vec<Point> = series.entries.iter().filter(usable).map(|entry| entry.point).collect();
    let count = ended.len();
    let failed: Vec<bool> = ended.iter().map(|point| point.status == Status::Failed).collect();
    let mut sums = vec![0_usize];
    for &each in &failed {
        sums.push(sums[sums.len() - 1] + usize::from(each));
    }
    let allowed = ALARMS_A_DAY / series.runs_a_day().max(1.0);
    let mut best: Option<(f64, usize)> = None;
    for cut in (BEFORE_RUNS_MIN.max(count.saturating_sub(REACH))..count).filter(|&cut| failed[cut]) {
        let (after, now) = (count - cut, sums[count] - sums[cut]);
        if now < FAILURES_MIN {
            break;
        }
        // What always failed, or as often, does not begin to.
        if now * cut <= sums[cut] * after {
            continue;
        }
        let probability = failures_tail(now, after, sums[cut], cut);
        if probability > allowed || best.is_some_and(|(least, _)| least <= probability) {
            continue;
        }
        let seen = (after..=cut).any(|end| sums[end] - sums[end - after] >= now);
        if !seen {
            best = Some((probability, cut));
        }
    }
    let (_, cut) = best?;
    let since = ended[cut].place();
    let mut failing = Failing {
        change: Change::new(Kind::Failing, since, ended_unix_ns),
        since,
        environment: point.environment,
        before: (cut as u64, sums[cut] as u64),
        after: ((count - cut) as u64, (sums[count] - sums[cut]) as u64),
        until_failed: (count - cut) as u64,
        evidence: 0.0,
    };
    series.load(load);
    let side = |after: bool| -> Vec<&RunFeatures> {
        let runs = series.entries.iter().filter(usable);
        runs.filter(|entry| (entry.point.place() >= since) == after).filter_map(Entry::run).collect()
    };
    cause::explain_failures(&mut failing.change, &side(false), &side(true));
    failing.change.environment = series.environment(point.environment);
    failing.count(ended_unix_ns);
    Some(failing)
}
