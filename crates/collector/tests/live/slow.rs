//! Readers that do not read.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpSocket, TcpStream};

use crate::events::{batch, sample, sample_of, started};
use crate::server::{Server, path, patiently};

/// Large events that are more than the sockets of a reader take.
const LARGE: u64 = 14;

/// The counters of so many nodes that an event of them is some 600 KB.
fn wide() -> Value {
    (0..20_000_u64).map(|node| (node.to_string(), json!({ "rows_sent": node * 1_000_003 }))).collect()
}

/// Opens a stream and never reads from it.
async fn deaf(server: &Server, path: &str) -> TcpStream {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.set_recv_buffer_size(4096).expect("a small buffer");
    let mut tcp = socket.connect(server.address).await.expect("accepted");
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n");
    tcp.write_all(request.as_bytes()).await.expect("taken");
    tcp
}

#[tokio::test]
async fn who_never_reads_is_cut_off_and_others_are_not() {
    // Full queues are to cut readers off, not answers that wait.
    let server = Server::with(|settings| settings.write_deadline = Duration::from_hours(1)).await;
    server.post(batch(1, [started(2, 1)])).await;
    let mut good = server.follow(1).await;
    good.expect("events").await;
    let deaf_one = deaf(&server, &path(1)).await;
    let deaf_all = deaf(&server, "/api/live").await;
    patiently("the readers", async {
        while server.metric("queryscope_live_subscribers").await < 3 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
    // Large events fill the sockets of the deaf ones, small ones their queues.
    let mut seq = 3;
    for _ in 0..LARGE {
        server.post(batch(1, [sample_of(seq, 1, seq as f64, &wide())])).await;
        good.expect("events").await;
        seq += 1;
    }
    patiently("the cut", async {
        while server.metric("queryscope_live_cut_off_total").await < 1 {
            for _ in 0..20 {
                server.post(batch(1, [sample(seq, 1, seq as f64, [1, 1])])).await;
                assert_eq!(good.expect("events").await.data, sample(seq, 1, seq as f64, [1, 1]));
                seq += 1;
            }
        }
    })
    .await;
    patiently("the connection to be closed", async {
        while server.metric("queryscope_live_subscribers").await > 2 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
    drop((deaf_one, deaf_all));
}

#[tokio::test]
async fn a_stop_does_not_wait_for_who_never_reads() {
    let server = Server::with(|settings| settings.stop_deadline = Duration::from_hours(1)).await;
    server.post(batch(1, [started(2, 1)])).await;
    let _deaf = deaf(&server, &path(1)).await;
    for seq in 3..3 + LARGE {
        server.post(batch(1, [sample_of(seq, 1, seq as f64, &wide())])).await;
    }
    server.stop().await;
}
