//! The profiles of the last queries, kept in the process for `queryscope.last()`.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use queryscope_client::{Answer, Batch, Delivery, Exporter, StartError, Stream};

/// Profiles that are kept, the oldest of which goes first.
const PROFILES_MAX: usize = 32;
/// Bytes of profiles that are kept: a plan of 1,000 nodes takes about half of a megabyte.
const BYTES_MAX: usize = 8 << 20;

/// Keeps the profiles of the last queries.
#[derive(Debug, Clone, Default)]
pub(crate) struct Memory(Arc<Mutex<VecDeque<String>>>);

impl Memory {
    /// The profile that ended last, as JSON.
    pub(crate) fn last(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).back().cloned()
    }

    fn keep(&self, profile: &str) {
        let mut profiles = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        profiles.push_back(profile.to_owned());
        while profiles.len() > PROFILES_MAX
            || (profiles.len() > 1 && profiles.iter().map(String::len).sum::<usize>() > BYTES_MAX)
        {
            profiles.pop_front();
        }
    }
}

impl Exporter for Memory {
    fn is_counted(&self) -> bool {
        false
    }

    fn open(&self, _: &Stream) -> Result<Box<dyn Delivery>, StartError> {
        Ok(Box::new(MemoryDelivery(self.clone())))
    }
}

struct MemoryDelivery(Memory);

impl Delivery for MemoryDelivery {
    fn deliver(&mut self, batch: &Batch<'_>, _deadline: Option<Instant>) -> Answer {
        batch.finished_profiles().for_each(|profile| self.0.keep(profile));
        Answer::Delivered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_profiles_are_kept() {
        let memory = Memory::default();
        assert_eq!(memory.last(), None);
        for number in 0..PROFILES_MAX + 3 {
            memory.keep(&number.to_string());
        }
        assert_eq!(memory.last().as_deref(), Some("34"));
        assert_eq!(memory.0.lock().expect("no panic").len(), PROFILES_MAX);
        memory.keep(&"x".repeat(BYTES_MAX + 1));
        assert_eq!(memory.0.lock().expect("no panic").len(), 1);
    }
}
