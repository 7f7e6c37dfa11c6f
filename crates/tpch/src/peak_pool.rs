//! How much memory a query reserves at most.

use std::fmt::{self, Display};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use datafusion::execution::memory_pool::{MemoryLimit, MemoryPool, MemoryReservation, UnboundedMemoryPool};

/// A pool that remembers the most that was reserved of it.
#[derive(Debug, Default)]
pub struct PeakPool {
    pool: UnboundedMemoryPool,
    peak: AtomicUsize,
}

impl PeakPool {
    /// The most bytes that were reserved since it was made, or forgot.
    pub fn peak(&self) -> usize {
        self.peak.load(Relaxed)
    }

    /// Begins anew.
    pub fn forget(&self) {
        self.peak.store(0, Relaxed);
    }
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
