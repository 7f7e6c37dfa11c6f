//! What an answer keeps until all of it has been handed to the system.
//!
//! A body that has ended may still wait in its connection for a reader that does not read. So what is counted for an
//! answer (a reader's place, its memory) travels with the response, and the connection lets go of it.

use std::any::Any;
use std::sync::Arc;

use axum::response::Response;

/// What is let go of when it is dropped.
#[derive(Clone, Default)]
pub(crate) struct Held(Vec<Arc<dyn Any + Send + Sync>>);

impl Held {
    /// Adds what another answer keeps.
    pub(crate) fn join(&mut self, other: Self) {
        self.0.extend(other.0);
    }
}

/// Has an answer keep `kept`.
pub(crate) fn hold(response: &mut Response, kept: impl Any + Send + Sync) {
    response.extensions_mut().get_or_insert_default::<Held>().0.push(Arc::new(kept));
}

/// Takes all that an answer keeps.
pub(crate) fn take(response: &mut Response) -> Option<Held> {
    response.extensions_mut().remove()
}
