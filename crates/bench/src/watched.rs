//! Processes that are watched while they are loaded.

use anyhow::Result;

use crate::process::{cpu_seconds, memory_peak_mb, tree_cpu_seconds};

/// Processes whose use is read at the begin and the end of a run.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Watched<'w> {
    /// Collectors.
    pub(crate) collectors: &'w [u32],
    /// The server they share.
    pub(crate) database: Option<u32>,
}

/// CPU seconds of what is watched; `None` where nothing is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Used {
    pub(crate) collectors_s: Option<f64>,
    pub(crate) database_s: Option<f64>,
}

impl Watched<'_> {
    /// What they have used so far.
    ///
    /// # Errors
    /// When one of them is gone.
    pub(crate) fn used(self) -> Result<Used> {
        let collectors: f64 = self.collectors.iter().copied().map(cpu_seconds).sum::<Result<_>>()?;
        Ok(Used {
            collectors_s: (!self.collectors.is_empty()).then_some(collectors),
            database_s: self.database.map(tree_cpu_seconds).transpose()?,
        })
    }

    /// The most memory one of the collectors has held, in MB (10^6 bytes).
    ///
    /// # Errors
    /// When one of them is gone.
    pub(crate) fn memory_peak_mb(self) -> Result<Option<f64>> {
        let peaks = self.collectors.iter().copied().map(memory_peak_mb).collect::<Result<Vec<_>>>()?;
        Ok(peaks.into_iter().max_by(f64::total_cmp))
    }
}

impl Used {
    /// What was used since.
    pub(crate) fn since(self, before: Self) -> Self {
        let since = |now: Option<f64>, before: Option<f64>| Some(now? - before?);
        Self {
            collectors_s: since(self.collectors_s, before.collectors_s),
            database_s: since(self.database_s, before.database_s),
        }
    }
}
