//! How many files the service may have open.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the limit to what the system allows: each connection is an open file, and the usual 1,024 are soon held by
/// clients that do nothing.
pub(crate) fn raise() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }) {
        tracing::warn!(error = &error as &dyn std::error::Error, "the limit of open files stays as it is");
    }
}
