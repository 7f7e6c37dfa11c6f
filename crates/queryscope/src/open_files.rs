//! How many files the service may have open.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Files that are left for the store, recordings and buckets, where there are enough.
const OWN: usize = 256;

/// Raises the limit to what the system allows: each connection is an open file, and the usual 1,024 are soon held by
/// clients that do nothing. Gives back the limit in force, `None` where there is none.
pub(crate) fn raise() -> Option<usize> {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }) {
        tracing::warn!(error = &error as &dyn std::error::Error, "the limit of open files stays as it is");
    }
    getrlimit(Resource::Nofile).current.and_then(|limit| usize::try_from(limit).ok())
}

/// Connections that may be open at once on each of so many addresses: `most`, or what a limit leaves. Where the system
/// refused one more, nobody could ask which of the others is idle.
pub(crate) fn connections_max(limit: Option<usize>, addresses: usize, most: usize) -> usize {
    let left = limit.map_or(usize::MAX, |limit| limit - OWN.min(limit / 4));
    (left / addresses).clamp(1, most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_files_for_everything_else() {
        for (limit, addresses, connections) in [
            (None, 1, 16_384),
            (Some(1_048_576), 2, 16_384),
            (Some(20_000), 2, 9_872),
            (Some(1024), 1, 768),
            (Some(64), 1, 48),
            (Some(64), 2, 24),
            (Some(0), 1, 1),
        ] {
            assert_eq!(connections_max(limit, addresses, 16_384), connections, "{limit:?}");
        }
    }
}
