//! Numbers for combinations that repeat.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use foldhash::fast::RandomState;

/// Where a query ran; names are terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the fields of a query")]
pub struct Origin {
    pub project: i64,
    pub service: Option<i64>,
    pub environment: Option<i64>,
    pub host: i64,
    pub program_version: Option<i64>,
}

/// What a query ran; names are terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the fields of a query")]
pub struct Plan {
    pub label: Option<i64>,
    pub fingerprint: Option<i64>,
    pub rules: Option<i64>,
    pub engine_version: Option<i64>,
}

/// Numbers values in the order they first come.
#[derive(Debug)]
pub(crate) struct Dictionary<T> {
    numbers: HashMap<T, u32, RandomState>,
    values: Arc<Vec<T>>,
}

impl<T> Default for Dictionary<T> {
    fn default() -> Self {
        Self { numbers: HashMap::default(), values: Arc::default() }
    }
}

impl<T: Copy + Eq + Hash> Dictionary<T> {
    /// The number of a value, which gets one when it is new.
    pub(crate) fn number(&mut self, value: T) -> u32 {
        if let Some(number) = self.numbers.get(&value) {
            return *number;
        }
        let number = u32::try_from(self.values.len()).unwrap_or(u32::MAX);
        Arc::make_mut(&mut self.values).push(value);
        self.numbers.insert(value, number);
        number
    }

    /// All values by number, as they are now.
    pub(crate) fn values(&self) -> Arc<Vec<T>> {
        Arc::clone(&self.values)
    }
}
