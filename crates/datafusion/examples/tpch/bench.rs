//! What telemetry costs: blocks of the 22 queries with it, without it, and without it once more as a control.

use std::fmt::{self, Display};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args;
use datafusion::execution::memory_pool::{MemoryLimit, MemoryPool, MemoryReservation, UnboundedMemoryPool};
use datafusion::prelude::SessionContext;
use queryscope_datafusion::Telemetry;
use rustix::time::{ClockId, clock_gettime};

use crate::data::QUERIES;
use crate::session::Place;

/// After a block, the time in which what it left to the background is done and counted.
const SETTLING: Duration = Duration::from_millis(700);

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

/// What one block took.
#[derive(Debug, Clone, Copy)]
struct Block {
    wall_s: f64,
    cpu_s: f64,
    peak_bytes: f64,
}

pub(crate) async fn run(bench: &Bench, place: &Place, telemetry: &Telemetry) -> Result<()> {
    let sessions =
        [session(place, None).await?, session(place, None).await?, session(place, Some(telemetry)).await?];
    for session in &sessions {
        block(session).await?;
    }
    let mut blocks: [Vec<Block>; 3] = Default::default();
    for turn in 0..bench.turns {
        for place in 0..3 {
            let which = (turn + place) % 3;
            blocks[which].push(block(&sessions[which]).await?);
        }
    }
    let [plain, control, followed] = &blocks;
    println!("ratios to the first plain session: median and interval (95 %) over {} turns", bench.turns);
    for (name, figure) in FIGURES {
        let ratios =
            |others: &[Block]| Ratios::of(plain.iter().zip(others).map(|(a, b)| figure(b) / figure(a)));
        println!("{name:22} with telemetry {}   plain again {}", ratios(followed), ratios(control));
    }
    Ok(())
}

type Figure = fn(&Block) -> f64;

const FIGURES: [(&str, Figure); 3] = [
    ("wall time", |block| block.wall_s),
    ("CPU of the process", |block| block.cpu_s),
    ("peak of the pool", |block| block.peak_bytes),
];

async fn session(place: &Place, telemetry: Option<&Telemetry>) -> Result<Measured> {
    let pool = Arc::new(PeakPool::default());
    let ctx = place.session(None, Some(Arc::clone(&pool) as _)).await?;
    if let Some(telemetry) = telemetry {
        queryscope_datafusion::install(&ctx, telemetry);
    }
    Ok(Measured { ctx, pool })
}

async fn block(session: &Measured) -> Result<Block> {
    let cpu = cpu_time();
    let (mut wall_s, mut peak_bytes) = (0.0, 0.0);
    for sql in QUERIES {
        session.pool.peak.store(0, Relaxed);
        let start = Instant::now();
        session.ctx.sql(sql).await?.collect().await?;
        wall_s += start.elapsed().as_secs_f64();
        peak_bytes += session.pool.peak.load(Relaxed) as f64;
    }
    tokio::time::sleep(SETTLING).await;
    Ok(Block { wall_s, cpu_s: cpu_time().saturating_sub(cpu).as_secs_f64(), peak_bytes })
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

/// A pool that remembers the most that was reserved of it.
#[derive(Debug, Default)]
struct PeakPool {
    pool: UnboundedMemoryPool,
    peak: AtomicUsize,
}

impl Display for PeakPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("peak")
    }
}

impl MemoryPool for PeakPool {
    fn name(&self) -> &'static str {
        "peak"
    }

    fn grow(&self, reservation: &MemoryReservation, additional: usize) {
        self.pool.grow(reservation, additional);
        self.peak.fetch_max(self.pool.reserved(), Relaxed);
    }

    fn shrink(&self, reservation: &MemoryReservation, shrink: usize) {
        self.pool.shrink(reservation, shrink);
    }

    fn try_grow(&self, reservation: &MemoryReservation, additional: usize) -> datafusion::error::Result<()> {
        self.grow(reservation, additional);
        Ok(())
    }

    fn reserved(&self) -> usize {
        self.pool.reserved()
    }

    fn memory_limit(&self) -> MemoryLimit {
        self.pool.memory_limit()
    }
}
