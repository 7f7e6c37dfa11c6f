//! `/api/live/{id}`: the events so far, those to come, the end, and resuming.

use serde_json::json;

use crate::client::Message;
use crate::events::{batch, finished, query, sample, sample_of, started};
use crate::server::{Server, path};

/// The event lines of messages; the process event, which must come first and only there, is left out.
fn lines(messages: &[Message]) -> Vec<String> {
    let events = messages.iter().filter(|message| message.event == "events");
    let mut lines: Vec<String> = events.flat_map(Message::lines).map(Into::into).collect();
    assert!(lines[0].contains(r#""type":"process""#), "{}", lines[0]);
    lines.remove(0);
    assert!(lines.iter().all(|line| !line.contains(r#""type":"process""#)), "{lines:?}");
    lines
}

fn samples(n: u64, seqs: impl IntoIterator<Item = u64>) -> Vec<String> {
    seqs.into_iter().map(|seq| sample(seq, n, seq as f64 * 500.0, [seq, seq])).collect()
}

#[tokio::test]
async fn what_was_and_what_comes_and_the_end() {
    let server = Server::new().await;
    server.post(batch(1, [started(2, 1), samples(1, [3]).remove(0)])).await;
    let mut stream = server.follow(1).await;
    let first = stream.expect("events").await;
    assert_eq!(first.lines().count(), 3);
    server.post(batch(1, samples(1, [4, 5]))).await;
    let second = stream.expect("events").await;
    assert_eq!(second.lines().collect::<Vec<_>>(), samples(1, [4, 5]));
    // Nothing that is stored already is told again.
    server.post(batch(1, samples(1, [4, 5, 6]))).await;
    assert_eq!(stream.expect("events").await.lines().collect::<Vec<_>>(), samples(1, [6]));
    server.post(batch(1, [finished(7, 1)])).await;
    assert_eq!(stream.expect("events").await.data, finished(7, 1));
    let end = stream.expect("finished").await;
    assert_eq!(end.json(), server.summary(1).await);
    assert_eq!((stream.next().await, stream.whole), (None, true));
}

#[tokio::test]
async fn an_ended_query_comes_at_once() {
    let server = Server::new().await;
    server.post(batch(1, [started(2, 1)])).await;
    server.post(batch(1, [finished(3, 1)])).await;
    let messages = server.follow(1).await.rest().await;
    assert_eq!(lines(&messages), [started(2, 1), finished(3, 1)]);
    assert_eq!(messages[messages.len() - 1].json(), server.summary(1).await);
}

#[tokio::test]
async fn what_is_not_there_is_404() {
    let server = Server::new().await;
    server.post(batch(1, [finished(2, 1)])).await;
    for missing in [path(2), "/api/live/x".into(), format!("{}?project=etl", path(1)), "/api/live/%ff".into()]
    {
        let answer = server.ask("GET", &missing).await;
        assert!(
            answer.starts_with("HTTP/1.1 404 ") && answer.contains(r#"{"error":"#),
            "{missing}: {answer}"
        );
    }
    let head = server.ask("HEAD", &path(1)).await;
    assert!(head.starts_with("HTTP/1.1 200 ") && head.contains("text/event-stream"), "{head}");
}

#[tokio::test]
async fn silence_ends_the_stream_and_a_return_is_followed_by_a_new_one() {
    let server = Server::new().await;
    server.post(batch(1, [started(2, 1)])).await;
    let followed = server.follow(1).await;
    server.let_queries_fall_silent();
    let messages = followed.rest().await;
    let end = &messages[messages.len() - 1];
    assert_eq!((end.event.as_str(), &end.json()["status"]), ("finished", &json!("unfinished")));
    let again = server.live_after(&path(1), &end.id).await;
    assert_eq!((again.status, again.rest().await), (204, vec![]));
    server.post(batch(1, [samples(1, [3]).remove(0), finished(4, 1)])).await;
    let messages = server.live_after(&path(1), &end.id).await.rest().await;
    assert_eq!(messages[0].lines().collect::<Vec<_>>(), [samples(1, [3]).remove(0), finished(4, 1)]);
    assert_eq!(messages[1].json()["status"], "finished");
}

#[tokio::test]
async fn long_histories_come_in_bounded_messages() {
    let server = Server::new().await;
    let nodes = |seq: u64| {
        let wide = (0..200).map(|node| (node.to_string(), json!({ "rows_sent": seq * 1_000_003 + node })));
        serde_json::Value::Object(wide.collect())
    };
    let events: Vec<String> = (2..400_u64).map(|seq| sample_of(seq, 1, seq as f64, &nodes(seq))).collect();
    for some in events.chunks(50) {
        server.post(batch(1, some.to_vec())).await;
    }
    server.post(batch(1, [finished(400, 1)])).await;
    let messages = server.follow(1).await.rest().await;
    assert!(messages.len() > 6 && messages.iter().all(|message| message.data.len() < 300 << 10));
    assert_eq!(lines(&messages)[..398], events);
}

#[tokio::test]
async fn a_reader_goes_on_after_any_message_in_any_state() {
    let mut server = Server::new().await;
    let mut whole = server.follow_new(1).await;
    let mut all = Vec::new();
    for seq in 3..10 {
        server.post(batch(1, samples(1, [seq]))).await;
        all.push(whole.expect("events").await);
    }
    let first = &all[0];
    assert_eq!(first.lines().count(), 1, "the start went before");
    // While it runs, and in another life of the service.
    for _ in ["at once", "after a restart"] {
        for cut in 0..all.len() - 1 {
            let mut resumed = server.live_after(&path(1), &all[cut].id).await;
            let events = resumed.expect("events").await;
            let expected: Vec<_> = all[cut + 1..].iter().map(|message| message.data.as_str()).collect();
            assert_eq!(events.lines().collect::<Vec<_>>(), expected, "after {cut}");
            assert_eq!(events.id, all[all.len() - 1].id);
        }
        server = server.restarted().await;
    }
    let mut last = server.live_after(&path(1), &all[all.len() - 1].id).await;
    server.post(batch(1, [finished(10, 1)])).await;
    assert_eq!(last.expect("events").await.data, finished(10, 1));
    let end = last.expect("finished").await;
    // Once it has ended, also when its recording is sealed.
    crate::ends::until_sealed(&server, 1).await;
    for message in &all {
        let rest = server.live_after(&path(1), &message.id).await.rest().await;
        assert_eq!(rest[rest.len() - 1], end);
        let got = rest[..rest.len() - 1].iter().flat_map(Message::lines).count();
        let seq: usize = message.id.rsplit('-').next().expect("a seq").parse().expect("a number");
        assert_eq!(got, 10 - seq, "{}", message.id);
    }
    assert_eq!(server.live_after(&path(1), &end.id).await.status, 204);
}

#[tokio::test]
async fn a_foreign_id_begins_anew() {
    let server = Server::new().await;
    server.post(batch(1, [started(2, 1), finished(3, 1)])).await;
    server.post(batch(2, [started(2, 2), finished(3, 2)])).await;
    let whole = server.follow(1).await.rest().await;
    let other = server.follow(2).await.rest().await;
    for foreign in [other[0].id.as_str(), other[1].id.as_str(), "x", "00000001-1-3", "00000001-9-3"] {
        assert_eq!(server.live_after(&path(1), foreign).await.rest().await, whole, "{foreign}");
    }
}

#[tokio::test]
async fn events_that_come_late_are_neither_lost_nor_repeated() {
    let server = Server::new().await;
    let mut stream = server.follow_new(1).await;
    server.post(batch(1, samples(1, [7, 8]))).await;
    let ahead = stream.expect("events").await;
    server.post(batch(1, samples(1, [5]))).await;
    assert_eq!(stream.expect("events").await.lines().collect::<Vec<_>>(), samples(1, [5]));
    // A reader that has only the later ones begins anew; one that has all goes on.
    let mut anew = server.live_after(&path(1), &ahead.id).await;
    let all = [vec![started(2, 1)], samples(1, [5, 7, 8])].concat();
    assert_eq!(lines(&[anew.expect("events").await]), all);
    server.post(batch(1, [finished(9, 1)])).await;
    let rest = server.live_after(&path(1), &ahead.id).await.rest().await;
    assert_eq!(lines(&rest), [all, vec![finished(9, 1)]].concat());
    assert_eq!(stream.rest().await.len(), 2);
}

#[tokio::test]
async fn an_event_below_the_history_is_told_once() {
    let server = Server::new().await;
    server.post(batch(1, samples(1, [5, 9]))).await;
    let mut stream = server.follow(1).await;
    stream.expect("events").await;
    server.post(batch(1, samples(1, [7]))).await;
    let anew = stream.expect("events").await;
    assert_eq!(lines(&[anew]), samples(1, [5, 7, 9]), "in order, from the beginning");
    server.post(batch(1, samples(1, [10]))).await;
    assert_eq!(stream.expect("events").await.lines().collect::<Vec<_>>(), samples(1, [10]));
}

#[tokio::test]
async fn a_carriage_return_becomes_a_space() {
    let server = Server::new().await;
    server.post(batch(1, [finished(2, 1) + "\r"])).await;
    let messages = server.follow(1).await.rest().await;
    assert_eq!(lines(&messages), [finished(2, 1) + " "]);
    assert_eq!(messages[1].json()["query_id"], query(1));
}

impl Server {
    /// Starts the n-th query and opens its stream behind the start.
    async fn follow_new(&self, n: u64) -> crate::client::Stream {
        self.post(batch(n, [started(2, n)])).await;
        let mut stream = self.follow(n).await;
        assert_eq!(lines(&[stream.expect("events").await]), [started(2, n)]);
        stream
    }
}
