//! The queries in a loop.

use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args;
use datafusion::prelude::SessionContext;
use queryscope_datafusion::Telemetry;
use queryscope_tpch::QUERIES;

use crate::session::{Place, SlowDown};

/// How the queries run.
#[derive(Debug, Args)]
pub(crate) struct Rounds {
    /// How often all queries run; until Ctrl-C when left out.
    #[arg(long = "rounds")]
    times: Option<u64>,
    /// Pause between two queries, in milliseconds.
    #[arg(long, default_value_t = 200)]
    pause_ms: u64,
    /// What makes the queries slower after some rounds.
    #[arg(long)]
    slow_down: Option<SlowDown>,
    /// Rounds before the queries get slower.
    #[arg(long, default_value_t = 6)]
    slow_down_after: u64,
}

/// Runs rounds to their end, or until Ctrl-C.
pub(crate) async fn run(rounds: &Rounds, place: &Place, telemetry: &Telemetry) -> Result<()> {
    tokio::select! {
        outcome = run_all(rounds, place, telemetry) => outcome,
        interrupted = tokio::signal::ctrl_c() => Ok(interrupted?),
    }
}

async fn run_all(rounds: &Rounds, place: &Place, telemetry: &Telemetry) -> Result<()> {
    let usual = followed(place, None, telemetry).await?;
    let slower = match rounds.slow_down {
        Some(slow_down) => Some(followed(place, Some(slow_down), telemetry).await?),
        None => None,
    };
    for round in 0..rounds.times.unwrap_or(u64::MAX) {
        let slow = slower.as_ref().filter(|_| round >= rounds.slow_down_after);
        let began = Instant::now();
        for (number, sql) in (1..).zip(QUERIES) {
            let label = format!("tpch/q{number:02}");
            queryscope_datafusion::label(label, query(slow.unwrap_or(&usual), sql)).await?;
            tokio::time::sleep(Duration::from_millis(rounds.pause_ms)).await;
        }
        let how = if slow.is_some() { "slower" } else { "as usual" };
        println!("round {}: {how}, {:.1} s", round + 1, began.elapsed().as_secs_f64());
    }
    Ok(())
}

async fn followed(
    place: &Place,
    slow_down: Option<SlowDown>,
    telemetry: &Telemetry,
) -> Result<SessionContext> {
    let ctx = place.session(slow_down, None).await?;
    queryscope_datafusion::install(&ctx, telemetry);
    Ok(ctx)
}

async fn query(ctx: &SessionContext, sql: &str) -> Result<()> {
    ctx.sql(sql).await?.collect().await?;
    Ok(())
}
