//! What telemetry costs: each of the 22 queries with it, without it, and without it once more as a control.

use std::fmt::{self, Display};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args;
use datafusion::prelude::SessionContext;
use queryscope_datafusion::Telemetry;
use queryscope_tpch::{PeakPool, QUERIES};
use rustix::time::{ClockId, clock_gettime};

use crate::session::Place;

/// After a query, the time in which what it left to the background is done and counted.
const SETTLING: Duration = Duration::from_millis(350);

/// How often to measure.
#[derive(Debug, Args)]
pub(crate) struct Bench {
    /// Turns; each runs every query once in each of three sessions.
    #[arg(long, default_value_t = 15)]
    turns: usize,
}

/// A session that is measured.
struct Measured {
    ctx: SessionContext,
    pool: Arc<PeakPool>,
}

/// What one run of a query took.
#[derive(Debug, Clone, Copy)]
struct Taken {
    wall_s: f64,
    cpu_s: f64,
    peak_bytes: f64,
}

pub(crate) async fn run(bench: &Bench, place: &Place, telemetry: &Telemetry) -> Result<()> {
    let sessions =
        [session(place, None).await?, session(place, None).await?, session(place, Some(telemetry)).await?];
    for session in &sessions {
        for sql in QUERIES {
            session.run(sql).await?;
        }
    }
    let mut taken: [Vec<Taken>; 3] = Default::default();
    for turn in 0..bench.turns {
        for sql in QUERIES {
            // One right after the other, each in each place: what else the machine does is in all of them.
            for place in 0..3 {
                let which = (turn + place) % 3;
                taken[which].push(sessions[which].run(sql).await?);
            }
        }
    }
    let [plain, control, followed] = &taken;
    println!(
        "ratios to the first plain session: median and interval (95 %) over {} turns of {} queries",
        bench.turns,
        QUERIES.len()
    );
    for (name, figure) in FIGURES {
        let ratios =
            |others: &[Taken]| Ratios::of(plain.iter().zip(others).map(|(a, b)| figure(b) / figure(a)));
        let sum = |taken: &[Taken]| taken.iter().map(figure).sum::<f64>();
        println!("{name:22} with telemetry {}   plain again {}", ratios(followed), ratios(control));
        println!(
            "{:22} of the sums       {:.3}                  {:.3}",
            "",
            sum(followed) / sum(plain),
            sum(control) / sum(plain)
        );
    }
    Ok(())
}

type Figure = fn(&Taken) -> f64;

const FIGURES: [(&str, Figure); 3] = [
    ("wall time", |taken| taken.wall_s),
    ("CPU of the process", |taken| taken.cpu_s),
    ("peak of the pool", |taken| taken.peak_bytes),
];

async fn session(place: &Place, telemetry: Option<&Telemetry>) -> Result<Measured> {
    let pool = Arc::new(PeakPool::default());
    let ctx = place.session(None, Some(Arc::clone(&pool) as _)).await?;
    if let Some(telemetry) = telemetry {
        queryscope_datafusion::install(&ctx, telemetry);
    }
    Ok(Measured { ctx, pool })
}

impl Measured {
    async fn run(&self, sql: &str) -> Result<Taken> {
        self.pool.forget();
        let (cpu, start) = (cpu_time(), Instant::now());
        self.ctx.sql(sql).await?.collect().await?;
        let wall_s = start.elapsed().as_secs_f64();
        let peak_bytes = self.pool.peak() as f64;
        tokio::time::sleep(SETTLING).await;
        Ok(Taken { wall_s, cpu_s: cpu_time().saturating_sub(cpu).as_secs_f64(), peak_bytes })
    }
}

fn cpu_time() -> Duration {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap_or(0))
}

/// A median, and the order statistics that hold the true one with a probability of 95 %.
struct Ratios {
    median: f64,
    low: f64,
    high: f64,
}

impl Ratios {
    fn of(ratios: impl Iterator<Item = f64>) -> Self {
        let mut sorted: Vec<f64> = ratios.collect();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len() - 1;
        let half = 0.98 * (sorted.len() as f64).sqrt();
        let at = |place: f64| sorted[(place.max(0.0) as usize).min(last)];
        let middle = last as f64 / 2.0;
        Self {
            median: f64::midpoint(at(middle.floor()), at(middle.ceil())),
            low: at((middle - half).floor()),
            high: at((middle + half).ceil()),
        }
    }
}

impl Display for Ratios {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3} [{:.3}, {:.3}]", self.median, self.low, self.high)
    }
}
