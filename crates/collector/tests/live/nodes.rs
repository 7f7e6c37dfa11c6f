//! Two collectors on one database: a reader of one goes on at the other, with the id of the last message.

use std::collections::BTreeMap;
use std::time::Duration;

use queryscope_postgres_server::{Server as Postgres, shared};
use queryscope_store_postgres::PostgresOptions;
use serde_json::{Value, json};

use crate::client::{Message, Stream};
use crate::events::{batch, finished, query, sample, started};
use crate::server::{Server, path, patiently};

/// How soon a reader of another node hears of a commit without any hint.
const POLLED_WITHIN: Duration = Duration::from_secs(2);

fn sample_of(seq: u64) -> String {
    sample(seq, 1, seq as f64 * 500.0, [seq * 300, seq * 100])
}

async fn open(server: &Server, last: Option<&str>) -> Stream {
    match last {
        Some(id) => server.live_after(&path(1), id).await,
        None => server.follow(1).await,
    }
}

#[tokio::test]
async fn one_query_is_followed_from_node_to_node_without_a_gap_or_a_double() {
    let nodes = Server::two(&shared()).await;
    let mut sent = vec![started(2, 1)];
    nodes[0].post(batch(1, sent.clone())).await;
    let (mut got, mut ids): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for seq in 3..23_u64 {
        // The collector that is sent to, the one that is read from, and whether the reader is there before the event
        // take turns.
        let (to, from) = (&nodes[seq as usize / 2 % 2], &nodes[seq as usize % 2]);
        let is_early = seq % 3 == 0;
        sent.push(sample_of(seq));
        if !is_early {
            to.post(batch(1, [sample_of(seq)])).await;
        }
        let mut stream = open(from, ids.last().map(String::as_str)).await;
        if is_early {
            to.post(batch(1, [sample_of(seq)])).await;
        }
        // The process event comes first.
        while got.len() <= sent.len() {
            let message = stream.expect("events").await;
            got.extend(message.lines().map(str::to_owned));
            ids.push(message.id);
        }
    }
    nodes[0].post(batch(1, [finished(23, 1)])).await;
    sent.push(finished(23, 1));
    let mut stream = open(&nodes[1], ids.last().map(String::as_str)).await;
    let last = stream.expect("events").await;
    got.extend(last.lines().map(str::to_owned));
    let end = stream.expect("finished").await;
    assert!(got[0].contains(r#""type":"process""#), "{}", got[0]);
    assert_eq!(got[1..], sent);
    assert_eq!(end.json(), nodes[0].summary(1).await);

    // Afterwards, from chunks and from the recording that one of them made of them.
    patiently("sealing", async {
        while nodes[1].summary(1).await["recording"] == Value::Null {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    })
    .await;
    for node in &nodes {
        for id in &ids {
            let seq: u64 = id.rsplit('-').next().expect("a seq").parse().expect("a number");
            let rest = node.live_after(&path(1), id).await.rest().await;
            let lines: Vec<&str> = rest[..rest.len() - 1].iter().flat_map(Message::lines).collect();
            assert_eq!(lines, sent[seq as usize - 1..], "after {id}");
            assert_eq!(rest[rest.len() - 1], end);
        }
        assert_eq!(node.live_after(&path(1), &end.id).await.status, 204);
    }
}

/// What a page shows of `/api/live`, as docs/reference/live.md has it put together.
#[derive(Debug, Clone, Default, PartialEq)]
struct Page {
    running: BTreeMap<String, Value>,
    threads: BTreeMap<String, Vec<Value>>,
}

impl Page {
    fn take(&mut self, message: &Message) {
        let data = message.json();
        let id = |value: &Value| value["query_id"].as_str().expect("an id").to_owned();
        let list = |value: &Value| value.as_array().expect("an array").clone();
        match message.event.as_str() {
            "snapshot" => {
                self.running = list(&data["running"]).into_iter().map(|query| (id(&query), query)).collect();
                let pulses = list(&data["pulses"]).into_iter();
                self.threads = pulses.map(|pulse| (id(&pulse), list(&pulse["threads"]))).collect();
            }
            "query" if data["status"] == "running" => drop(self.running.insert(id(&data), data)),
            "query" => {
                self.running.remove(&id(&data));
                self.threads.remove(&id(&data));
            }
            "pulse" => self.threads.entry(id(&data)).or_default().extend(list(&data["threads"])),
            other => panic!("{other}"),
        }
    }
}

#[tokio::test]
async fn all_running_queries_are_followed_from_node_to_node_without_a_gap_or_a_double() {
    let [a, b] = Server::two(&shared()).await;
    // The log of messages is kept for as long as somebody reads.
    let _stays = a.live("/api/live").await;
    let mut page = Page::default();
    let mut at_a = a.live("/api/live").await;
    page.take(&at_a.expect("snapshot").await);
    a.post(batch(1, [started(2, 1)])).await;
    page.take(&at_a.expect("query").await);
    b.post(batch(1, [sample_of(3)])).await;
    let last_of_a = at_a.expect("pulse").await;
    page.take(&last_of_a);
    drop(at_a);
    let at_cut = page.clone();

    // The id of another node is none of this one: a snapshot replaces what the page had, and holds what it missed.
    b.post(batch(1, [sample_of(4)])).await;
    a.post(batch(2, [started(2, 2)])).await;
    let mut at_b = b.live_after("/api/live", &last_of_a.id).await;
    let snapshot = at_b.expect("snapshot").await;
    page.take(&snapshot);
    assert_eq!(page.running.keys().collect::<Vec<_>>(), [&query(1), &query(2)]);
    assert_eq!(page.threads[&query(1)].len(), 2, "{page:?}");
    a.post(batch(1, [sample_of(5)])).await;
    page.take(&at_b.expect("pulse").await);
    a.post(batch(2, [finished(3, 2)])).await;
    page.take(&at_b.expect("query").await);
    drop(at_b);

    // Back at the first node, its messages since then are told one by one.
    let mut resumed = a.live_after("/api/live", &last_of_a.id).await;
    let mut resumed_page = at_cut;
    while resumed_page != page {
        let message = resumed.next().await.expect("a message");
        assert_ne!(message.event, "snapshot");
        resumed_page.take(&message);
    }
    for (seq, to) in [(6, &a), (7, &b)] {
        to.post(batch(1, [sample_of(seq)])).await;
        resumed_page.take(&resumed.expect("pulse").await);
    }
    for node in [&a, &b] {
        let mut fresh = Page::default();
        fresh.take(&node.live("/api/live").await.expect("snapshot").await);
        assert_eq!(fresh, resumed_page);
    }
    assert_eq!(resumed_page.threads[&query(1)].len(), 5);
    let foreign = a.live_after("/api/live", &snapshot.id).await.expect("snapshot").await;
    assert_eq!(foreign.json()["running"][0]["query_id"], json!(query(1)));
}

#[tokio::test]
async fn a_commit_whose_hint_is_lost_is_told_all_the_same() {
    let postgres = Postgres::start(&["fsync=off", "synchronous_commit=off", "full_page_writes=off"]);
    // Stands before the server's own.
    postgres.run(
        "CREATE SCHEMA s; CREATE TABLE s.lost (hint text);
         CREATE FUNCTION s.pg_notify(text, hint text) RETURNS void LANGUAGE sql AS 'INSERT INTO s.lost VALUES (hint)'",
    );
    let [a, b] = Server::two(&postgres.address("s,pg_catalog")).await;
    a.post(batch(1, [started(2, 1)])).await;
    let (mut all, mut one) = (b.live("/api/live").await, b.follow(1).await);
    all.expect("snapshot").await;
    one.expect("events").await;
    for seq in 3..6 {
        a.post(batch(1, [sample_of(seq)])).await;
        all.expect("pulse").await;
        assert_eq!(one.expect("events").await.data, sample_of(seq));
    }
    a.post(batch(1, [finished(6, 1)])).await;
    assert_eq!(all.expect("query").await.json()["status"], "finished");
    assert_eq!(one.expect("events").await.data, finished(6, 1));
    one.expect("finished").await;
    assert_ne!(postgres.run("SELECT count(*) FROM s.lost"), "0", "no hint was lost");
    assert!(PostgresOptions::default().poll_every <= POLLED_WITHIN);
}
