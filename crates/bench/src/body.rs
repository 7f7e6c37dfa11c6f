//! Bodies made ready before the clock runs: compressed, with their head, one list a connection.

use std::net::SocketAddr;
use std::thread;

use anyhow::{Context, Result};
use libdeflater::{CompressionLvl, Compressor};

use crate::http::Target;
use crate::workload::{Body, Shapes, Workload};

/// The level the first public sender compresses its batches with.
const SENDER_LEVEL: i32 = 6;
/// Compressed bodies that may wait in memory for a run to send them.
const POOL_BYTES_MAX: usize = 4 << 30;

/// A request ready to be written to a socket.
#[derive(Debug)]
pub(crate) struct Request {
    /// Head and body.
    pub(crate) bytes: Box<[u8]>,
    /// Length of the batch before compression.
    pub(crate) decoded_bytes: u64,
    /// Events in it, the process event left out.
    pub(crate) events: u64,
    /// Queries whose first event it holds.
    pub(crate) queries: u64,
}

/// What one connection has to send, and where.
#[derive(Debug)]
pub(crate) struct Ready {
    /// Where the service listens.
    pub(crate) address: SocketAddr,
    /// One after the other.
    pub(crate) requests: Vec<Request>,
}

/// Compresses as a sender does, reusing what compression needs.
pub(crate) struct Packer {
    compressor: Compressor,
    space: Vec<u8>,
}

impl Default for Packer {
    fn default() -> Self {
        Self::new(SENDER_LEVEL)
    }
}

impl Packer {
    /// Compresses at a level of 1 (fast) to 12 (small).
    pub(crate) fn new(level: i32) -> Self {
        let level = CompressionLvl::new(level).unwrap_or_default();
        Self { compressor: Compressor::new(level), space: Vec::new() }
    }

    /// One gzip member of these bytes.
    pub(crate) fn pack(&mut self, bytes: &[u8]) -> &[u8] {
        let bound = self.compressor.gzip_compress_bound(bytes.len());
        if self.space.len() < bound {
            self.space.resize(bound, 0);
        }
        let length =
            self.compressor.gzip_compress(bytes, &mut self.space).expect("the bound holds every outcome");
        &self.space[..length]
    }

    /// A whole request that posts a batch.
    pub(crate) fn request(&mut self, target: &Target, body: &Body) -> Request {
        Request {
            bytes: target.post_events(self.pack(&body.text)),
            decoded_bytes: body.text.len() as u64,
            events: body.events,
            queries: body.queries,
        }
    }
}

/// How many requests to make ready, and from what.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PoolOptions {
    /// What the requests hold.
    pub(crate) workload: Workload,
    /// Connections to make a list for.
    pub(crate) lanes: usize,
    /// Requests of each list.
    pub(crate) per_lane: usize,
    /// Source of ids and numbers.
    pub(crate) seed: u64,
    /// When the queries started, in Unix nanoseconds.
    pub(crate) now_unix_ns: i64,
}

/// Makes the requests of a run, one list for each connection, on all cores. Connections go round the targets.
///
/// # Errors
/// When a thread cannot be started.
pub(crate) fn pool(shapes: &Shapes, targets: &[Target], options: PoolOptions) -> Result<Vec<Ready>> {
    let workers = thread::available_parallelism().map_or(1, usize::from).min(options.lanes);
    let share_bytes = POOL_BYTES_MAX / options.lanes.max(1);
    let lane = |lane: usize| -> Ready {
        let target = &targets[lane % targets.len()];
        let mut packer = Packer::default();
        let mut bytes = 0;
        let requests = shapes
            .bodies(options.workload, lane as u64, options.seed, options.now_unix_ns)
            .take(options.per_lane)
            .map(|body| packer.request(target, &body))
            .take_while(|request| {
                bytes += request.bytes.len();
                bytes <= share_bytes
            })
            .collect();
        Ready { address: target.address, requests }
    };
    thread::scope(|scope| {
        let lane = &lane;
        let threads: Vec<_> = (0..workers)
            .map(|worker| {
                thread::Builder::new().spawn_scoped(scope, move || {
                    (worker..options.lanes).step_by(workers).map(lane).collect::<Vec<_>>()
                })
            })
            .collect::<Result<_, _>>()
            .context("cannot start a thread")?;
        Ok(threads.into_iter().flat_map(|thread| thread.join().expect("a worker does not panic")).collect())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::captures;

    #[test]
    fn a_pool_holds_ready_requests_for_every_connection() {
        let shapes = Shapes::from_captures(captures::of_repository()).expect("all shapes");
        let target =
            |port| Target::parse(&format!("http://127.0.0.1:{port}"), "t").expect("a loopback address");
        let targets = [target(1), target(2)];
        let options = PoolOptions { workload: Workload::W3, lanes: 3, per_lane: 4, seed: 1, now_unix_ns: 9 };
        let pool = pool(&shapes, &targets, options).expect("a pool");
        assert_eq!(pool.iter().map(|ready| ready.requests.len()).collect::<Vec<_>>(), [4, 4, 4]);
        let mut ports: Vec<u16> = pool.iter().map(|ready| ready.address.port()).collect();
        ports.sort_unstable();
        assert_eq!(ports, [1, 1, 2]);
        for request in pool.iter().flat_map(|ready| &ready.requests) {
            let text = String::from_utf8_lossy(&request.bytes);
            assert!(text.starts_with("POST /v1/events HTTP/1.1\r\n"), "{text}");
            assert_eq!(request.events, 1);
            assert!(request.decoded_bytes > request.bytes.len() as u64);
        }
    }
}
