//! Work that others may be in the way of.

use crate::error::DbError;

/// How often a transaction is tried when others were faster, or lock the same rows in another order.
const TRIES_MAX: usize = 4;

/// Conflicts that some work has lost.
#[derive(Debug, Default)]
pub(crate) struct Conflicts(usize);

impl Conflicts {
    /// Whether work that failed so lost a conflict, and is to be done again at once.
    pub(crate) fn allow(&mut self, error: &DbError) -> bool {
        self.0 += 1;
        error.is_conflict() && self.0 < TRIES_MAX
    }
}
