//! An answer that is larger than what sockets hold.

use serde_json::json;

use crate::app::TestApp;
use crate::events::{batch, finished};

/// Where it is: a list of failed queries.
pub(crate) const LARGE: &str = "/api/queries?limit=1000";
const QUERIES: u64 = 1000;
/// Bytes of each error text.
const TEXT: usize = 4000;

/// Stores what it tells of; gives back how many bytes it has at least.
pub(crate) async fn store_large(app: &TestApp) -> usize {
    for n in 0..QUERIES / 100 {
        let failed = |k: u64| finished(2 + k, 1 + k, json!({"failed": "x".repeat(TEXT)}));
        app.store(batch(1, (n * 100..(n + 1) * 100).map(failed))).await;
    }
    QUERIES as usize * TEXT
}
