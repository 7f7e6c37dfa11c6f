//! Sessions over the tables, as usual and slower.

use std::path::PathBuf;

use anyhow::Result;
use datafusion::execution::memory_pool::MemoryPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use std::sync::Arc;

/// Where the tables are, and how queries run over them.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) data: PathBuf,
    pub(crate) scale: f64,
    pub(crate) partitions: Option<usize>,
}

/// What makes queries slower.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum SlowDown {
    /// Joins sort both inputs: the plans change.
    MergeJoins,
    /// One thread for each query: the plans lose their exchanges.
    OnePartition,
    /// Twice the data under the same plans.
    MoreData,
    /// No row group and no page is skipped: the same plans read more.
    NoPruning,
}

impl Place {
    /// A session over the tables, which are written where they are not there yet.
    pub(crate) async fn session(
        &self,
        slow_down: Option<SlowDown>,
        pool: Option<Arc<dyn MemoryPool>>,
    ) -> Result<SessionContext> {
        let scale = if slow_down == Some(SlowDown::MoreData) { 2.0 * self.scale } else { self.scale };
        let folder = self.data.join(scale.to_string());
        println!("tables of scale {scale} in {}", folder.display());
        queryscope_tpch::write(&folder, scale)?;

        let mut config = SessionConfig::new();
        if let Some(partitions) = self.partitions {
            config = config.with_target_partitions(partitions);
        }
        let mut runtime = RuntimeEnvBuilder::new();
        if let Some(pool) = pool {
            runtime = runtime.with_memory_pool(pool);
        }
        match slow_down {
            Some(SlowDown::OnePartition) => config = config.with_target_partitions(1),
            Some(SlowDown::MergeJoins) => config.options_mut().optimizer.prefer_hash_join = false,
            Some(SlowDown::NoPruning) => {
                let parquet = &mut config.options_mut().execution.parquet;
                (parquet.pruning, parquet.enable_page_index) = (false, false);
            }
            Some(SlowDown::MoreData) | None => {}
        }
        let ctx = SessionContext::new_with_config_rt(config, runtime.build_arc()?);
        queryscope_tpch::register(&ctx, &folder).await?;
        Ok(ctx)
    }
}
