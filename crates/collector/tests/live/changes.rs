//! Changes of queries: told to readers of the live stream, and evaluated by one of several collectors.

use std::time::Duration;

use queryscope_histories::{Change, Kind, Noise, Poster, Spec, generate};
use queryscope_postgres_server::shared;
use serde_json::Value;

use crate::client::{Message, Stream};
use crate::server::{Server, patiently};

/// Batches of a query that becomes twice as slow, and how many come before that.
fn batches(seed: u64) -> (Vec<String>, usize) {
    let change = Some(Change { kind: Kind::MoreRows, factor: 2.0, decoy: false });
    let history = generate(Spec { seed, noise: Noise::Plain, change, young: true });
    let mut poster = Poster::new(Some("etl"), 3);
    (history.runs.iter().map(|run| poster.ended("orders", run)).collect(), history.changed_at)
}

async fn changes(server: &Server) -> Vec<Value> {
    let answer = server.ask("GET", "/api/changes").await;
    let body = answer.split_once("\r\n\r\n").expect("a body").1;
    let page: Value = serde_json::from_str(body).expect(body);
    page["changes"].as_array().expect("an array").clone()
}

async fn until_change(stream: &mut Stream) -> Message {
    loop {
        let message = stream.next().await.expect("the stream goes on");
        if message.event == "change" {
            return message;
        }
    }
}

#[tokio::test]
async fn readers_are_told_of_changes_that_their_filter_keeps() {
    let server = Server::new().await;
    let mut all = server.live("/api/live").await;
    let mut kept = server.live("/api/live?service=etl&label=orders").await;
    let mut others = server.live("/api/live?service=web").await;
    let (batches, changed_at) = batches(1);
    for batch in &batches[..changed_at + 5] {
        server.post(batch).await;
    }
    for stream in [&mut all, &mut kept] {
        let told = until_change(stream).await.json();
        assert_eq!((&told["kind"], &told["state"]), (&"slower".into(), &"open".into()), "{told}");
        let stored = changes(&server).await;
        assert_eq!(stored[0]["id"], told["id"], "it is told once it is stored");
    }
    others.expect("snapshot").await;
    server.stop().await;
    assert_eq!(others.rest().await, []);
}

#[tokio::test]
async fn of_two_collectors_one_evaluates_and_the_other_goes_on() {
    let [one, other] = Server::two(&shared()).await;
    let mut readers = [one.live("/api/live").await, other.live("/api/live").await];
    for reader in &mut readers {
        reader.expect("snapshot").await;
    }
    let (batches, changed_at) = batches(2);
    let evaluated = async |server: &Server| server.metric("queryscope_evaluation_runs_total").await as usize;
    for (n, batch) in batches[..changed_at + 5].iter().enumerate() {
        [&one, &other][n % 2].post(batch).await;
    }
    let found = patiently("a change", async {
        loop {
            let found = changes(&other).await;
            if !found.is_empty() && evaluated(&one).await + evaluated(&other).await >= changed_at + 5 {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    })
    .await;
    let by_each = [evaluated(&one).await, evaluated(&other).await];
    assert_eq!(by_each.iter().sum::<usize>(), changed_at + 5, "each run once");
    assert!(by_each.contains(&0), "by one of them: {by_each:?}");
    assert_eq!(found[0]["id"], changes(&one).await[0]["id"]);
    for reader in &mut readers {
        let told = patiently("to be told", until_change(reader)).await.json();
        assert_eq!((&told["id"], &told["label"]), (&found[0]["id"], &"orders".into()), "on both collectors");
    }
    // The one that evaluated stops: the other takes over once the lease is over.
    let (stops, stays) = if by_each[0] > 0 { (one, other) } else { (other, one) };
    stops.stop().await;
    for batch in &batches[changed_at + 5..] {
        stays.post(batch).await;
    }
    patiently("the other to evaluate", async {
        while evaluated(&stays).await < batches.len() - changed_at - 5 {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    })
    .await;
    assert_eq!(evaluated(&stays).await, batches.len() - changed_at - 5);
    assert_eq!(changes(&stays).await[0]["id"], found[0]["id"], "it is the same change");
}
