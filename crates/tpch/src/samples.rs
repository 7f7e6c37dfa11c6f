//! What a sample costs: of a plan of some 20 nodes, and of some 500.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use queryscope_datafusion::client::ProfilesFile;
use serde_json::Value;

use crate::session::Place;

/// Branches of the union that makes a plan of some 500 nodes.
const BRANCHES: usize = 56;

/// Each line item beside all of its part: long enough for many samples at any scale from 0.5 on.
const JOINS: &str = "SELECT p_brand, s_nationkey, sum(a.l_quantity * b.l_quantity) FROM lineitem a \
     JOIN lineitem b ON a.l_partkey = b.l_partkey JOIN part ON p_partkey = a.l_partkey \
     JOIN supplier ON s_suppkey = a.l_suppkey JOIN orders ON o_orderkey = a.l_orderkey \
     GROUP BY p_brand, s_nationkey ORDER BY p_brand, s_nationkey";

/// Follows both queries and prints what the sender library says of its own work.
pub(crate) async fn run(place: &Place) -> Result<()> {
    let file = tempfile::Builder::new().suffix(".jsonl").tempfile()?;
    let exporter = ProfilesFile::new(file.path());
    let telemetry = queryscope_datafusion::telemetry().exporter(exporter).start()?;
    let ctx = place.session(None, None).await?;
    queryscope_datafusion::install(&ctx, &telemetry);
    for sql in [JOINS, &union()] {
        ctx.sql(sql).await?.collect().await?;
    }
    telemetry.shutdown();
    print(file.path())
}

fn union() -> String {
    let branches: Vec<String> = (0..BRANCHES)
        .map(|number| {
            format!(
                "SELECT s_name, sum(l_quantity) FROM lineitem JOIN supplier ON s_suppkey = l_suppkey \
                 WHERE l_comment LIKE '%a%e%i%{number}%' GROUP BY s_name"
            )
        })
        .collect();
    format!("SELECT count(*) FROM ({})", branches.join(" UNION ALL "))
}

fn print(profiles: &Path) -> Result<()> {
    for line in std::fs::read_to_string(profiles)?.lines() {
        let profile: Value = serde_json::from_str(line)?;
        let figure = |name| profile["diagnostics"][name].as_f64().context("no figures of the library");
        let nodes = profile["plan"]["physical"].as_array().context("no plan")?.len();
        let samples = figure("samples")?;
        ensure!(samples > 1.0, "the query was too fast to be sampled: take a larger scale");
        println!(
            "{nodes} nodes: {samples} samples of {:.0} us each, the plan rendered in {:.1} ms",
            figure("sampling_ms")? * 1e3 / samples,
            figure("rendering_ms")?
        );
    }
    Ok(())
}
