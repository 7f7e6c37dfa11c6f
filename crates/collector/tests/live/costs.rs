//! What a stream costs its reader.

use crate::events::{batch, sample, started};
use crate::server::Server;

/// What an hour of one query may cost a reader of `/api/live`.
const HOUR_BYTES_MAX: usize = 2_000_000;

#[tokio::test]
async fn an_hour_of_a_query_costs_a_reader_two_megabytes_at_most() {
    let server = Server::new().await;
    server.post(batch(1, [started(2, 1)])).await;
    let mut live = server.live("/api/live").await;
    live.expect("snapshot").await;
    for second in 1..=3_600_u64 {
        let events = [sample(second + 2, 1, second as f64 * 1e3 + 0.4375, [second * 733, second * 911])];
        server.post(batch(1, events)).await;
        live.expect("pulse").await;
    }
    println!("{} bytes", live.bytes);
    assert!(live.bytes < HOUR_BYTES_MAX, "{}", live.bytes);
}
