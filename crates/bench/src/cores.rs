//! The cores of the machine, divided as between two machines: the generator on one, the service on the others.

use anyhow::Result;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The cores of the service and those of the load. On a machine of one core both run on it.
#[derive(Debug)]
pub(crate) struct Cores {
    all: CpuSet,
    generator: CpuSet,
    service: CpuSet,
}

impl Cores {
    /// Divides those this thread may run on.
    ///
    /// # Errors
    /// When the system does not tell them.
    pub(crate) fn divided() -> Result<Self> {
        let all = sched_getaffinity(None)?;
        let first = (0..CpuSet::MAX_CPU).find(|core| all.is_set(*core)).unwrap_or_default();
        let (mut generator, mut service) = (CpuSet::new(), all);
        generator.set(first);
        if all.count() > 1 {
            service.unset(first);
        }
        Ok(Self { all, generator, service })
    }

    /// Runs this on the service's cores, and with it the threads and processes that it starts.
    ///
    /// # Errors
    /// When the system refuses, and those of `work`.
    pub(crate) fn as_service<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        self.on(&self.service, work)
    }

    /// Runs this on the generator's core.
    ///
    /// # Errors
    /// When the system refuses, and those of `work`.
    pub(crate) fn as_generator<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        self.on(&self.generator, work)
    }

    fn on<T>(&self, cores: &CpuSet, work: impl FnOnce() -> Result<T>) -> Result<T> {
        sched_setaffinity(None, cores)?;
        let done = work();
        sched_setaffinity(None, &self.all)?;
        done
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn what_is_started_runs_where_its_starter_did() {
        let before = sched_getaffinity(None).expect("cores");
        let cores = Cores::divided().expect("cores");
        let started = || Ok(thread::spawn(|| sched_getaffinity(None)).join().expect("no panic")?);
        let generator = cores.as_generator(started).expect("one core");
        let service = cores.as_service(started).expect("the others");
        assert_eq!((generator.count(), service.count()), (1, before.count().saturating_sub(1).max(1)));
        let both =
            (0..CpuSet::MAX_CPU).filter(|core| generator.is_set(*core) && service.is_set(*core)).count();
        assert_eq!(both, usize::from(before.count() == 1));
        assert_eq!(sched_getaffinity(None).expect("cores"), before);
    }
}
