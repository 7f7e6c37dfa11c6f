//! Every row of the table of reactions, over real sockets. Pauses pass on a clock that the tests move; only an
//! answer that never comes is waited for.

mod server;

use std::collections::{HashMap, VecDeque};

use queryscope_protocol::{Seq, StreamId};
use uuid::Uuid;

use super::*;
use crate::host::fake::Fake;
use crate::lane::Lane;
use crate::outbox::{Entry, Outbox};
use crate::random::Random;
use crate::stats::Stats;
use server::{Act, Request, Server};

/// How long an answer that comes may take on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(20);
/// How long an answer is waited for that does not come.
const HANG_TIMEOUT: Duration = Duration::from_secs(2);
const PROCESS: &str = r#"{"type":"process"}"#;

/// A sender of events to a server.
struct Sender {
    host: Fake,
    outbox: Arc<Outbox>,
    lane: Lane,
    seq: u64,
    /// Whether each of the next requests is answered in time.
    in_time: VecDeque<bool>,
}

impl Sender {
    fn to(url: &str) -> Self {
        let exporter = HttpExporter::new(url).token("secret").timeout(TIMEOUT);
        let stream = Stream { id: StreamId::new(Uuid::nil()), pid: 1, forked: false };
        let delivery = exporter.open(&stream).expect("an address and a token");
        let outbox = Arc::new(Outbox::new(1 << 20));
        let lane = Lane::new(
            Arc::clone(&outbox),
            delivery,
            Arc::from(PROCESS.as_bytes()),
            Arc::new(Random::new(9)),
            Arc::default(),
        );
        Self { host: Fake::new(), outbox, lane, seq: 1, in_time: VecDeque::new() }
    }

    /// A sender of some events to a server with a script, and that server.
    fn sending(count: u64, script: impl IntoIterator<Item = Act>) -> (Self, Server) {
        let script: Vec<Act> = script.into_iter().collect();
        let in_time = script.iter().map(|act| !matches!(act, Act::Hang | Act::StoreAndAnswerLate)).collect();
        let server = Server::start(script);
        let mut sender = Self { in_time, ..Self::to(&server.url) };
        sender.push(count);
        (sender, server)
    }

    fn push(&mut self, count: u64) {
        for _ in 0..count {
            self.seq += 1;
            let seq = Seq::new(self.seq).expect("over 0");
            let line = Arc::from(event(self.seq).into_bytes());
            self.outbox.push(Entry { seq, line, is_sample: false, made: self.host.now() });
        }
    }

    /// Delivers once, and gives the wait before that.
    fn deliver(&mut self) -> Duration {
        let now = self.host.now();
        let wait = self.lane.due(now).expect("something waits").saturating_duration_since(now);
        self.host.advance(wait);
        let in_time = self.in_time.pop_front().unwrap_or(true);
        self.lane.deliver(&self.host, (!in_time).then(|| crate::now() + HANG_TIMEOUT));
        wait
    }

    /// Delivers until nothing waits, and gives all waits.
    fn deliver_all(&mut self) -> Vec<Duration> {
        let mut waits = Vec::new();
        while self.lane.due(self.host.now()).is_some() {
            waits.push(self.deliver());
        }
        waits
    }

    fn stats(&self) -> Stats {
        let stats = self.outbox.stats();
        assert_eq!(stats.sent + stats.dropped.total() + stats.queued, stats.enqueued, "{stats:?}");
        stats
    }
}

fn event(seq: u64) -> String {
    format!(r#"{{"type":"note","seq":{seq}}}"#)
}

fn events(seqs: std::ops::RangeInclusive<u64>) -> Vec<String> {
    seqs.map(event).collect()
}

fn answer(status: u16) -> Act {
    Act::Answer(status, Vec::new())
}

fn retry_after(status: u16, value: impl Into<String>) -> Act {
    Act::Answer(status, vec![("retry-after", value.into())])
}

#[test]
fn a_batch_is_as_the_protocol_wants_it() {
    let (mut sender, server) = Sender::sending(2, []);
    sender.deliver();
    let [request] = &server.requests()[..] else { panic!("one request") };
    assert_eq!(request.line, "POST /v1/events HTTP/1.1");
    for (name, value) in [
        ("authorization", "Bearer secret"),
        ("content-type", "application/x-ndjson"),
        ("content-encoding", "gzip"),
        ("queryscope-stream", &Uuid::nil().to_string()),
        ("queryscope-dropped", "0"),
    ] {
        assert_eq!(request.header(name), Some(value), "{name}");
    }
    assert_eq!(request.lines, [PROCESS.to_owned(), event(2), event(3)]);
}

/// Events dropped for want of space, and those of a batch that was refused, are told with the next request.
#[test]
fn what_was_dropped_is_told_with_each_request() {
    let (mut sender, server) = Sender::sending(2, [answer(503), answer(400)]);
    let too_much = Arc::from(vec![b'x'; (1 << 20) + 1]);
    let seq = Seq::new(1_000).expect("over 0");
    let entry = Entry { seq, line: too_much, is_sample: false, made: sender.host.now() };
    assert!(sender.outbox.push(entry), "it does not fit");
    sender.push(1);
    sender.deliver();
    sender.deliver();
    sender.push(1);
    sender.deliver();
    let requests = server.requests();
    let told: Vec<_> = requests.iter().map(|request| request.header("queryscope-dropped")).collect();
    assert_eq!(told, [Some("1"), Some("1"), Some("4")]);
}

#[test]
fn the_connection_is_kept() {
    let (mut sender, server) = Sender::sending(1, [answer(202), answer(503), answer(400), answer(204)]);
    for _ in 0..5 {
        sender.push(1);
        sender.deliver();
    }
    let connections: Vec<usize> = server.requests().iter().map(|request| request.connection).collect();
    assert_eq!(connections, [0; 5]);
}

#[test]
fn any_2xx_is_enough() {
    let (mut sender, server) = Sender::sending(0, [answer(200), answer(202), answer(204), answer(299)]);
    for _ in 0..4 {
        sender.push(1);
        sender.deliver();
    }
    assert_eq!(server.stored(), events(2..=5));
    let stats = sender.stats();
    assert_eq!((stats.sent, stats.errors), (4, 0));
}

#[test]
fn what_may_arrive_later_is_sent_again() {
    for status in [429, 500, 502, 503, 504, 599] {
        let (mut sender, server) = Sender::sending(2, [answer(status), answer(status)]);
        let waits = sender.deliver_all();
        assert!(waits[1] >= Duration::from_millis(500) && waits[2] >= Duration::from_secs(1), "{waits:?}");
        assert_eq!(server.stored(), events(2..=3), "{status}");
        let stats = sender.stats();
        assert_eq!((stats.sent, stats.errors), (2, 2), "{status}");
    }
}

#[test]
fn retry_after_is_seconds_or_a_date_within_bounds() {
    let in_20_s = httpdate::fmt_http_date(now() + Duration::from_secs(20));
    let script = [
        retry_after(503, "3"),
        retry_after(429, "0"),
        retry_after(500, "120"),
        retry_after(503, in_20_s),
        retry_after(503, "Sun, 06 Nov 1994 08:49:37 GMT"),
    ];
    let (mut sender, server) = Sender::sending(1, script);
    let waits = sender.deliver_all();
    assert_eq!(waits[1..4], [3_000, 500, 120_000].map(Duration::from_millis));
    // A date has whole seconds, and the test takes its time.
    assert!((Duration::from_secs(5)..=Duration::from_secs(20)).contains(&waits[4]), "{waits:?}");
    assert_eq!(waits[5], Duration::from_millis(500));
    assert_eq!(server.stored(), events(2..=2));
}

#[test]
fn without_an_answer_it_is_sent_again() {
    for act in [
        Act::Hang,
        Act::ResetBeforeReading,
        Act::CloseAfterReading,
        Act::StoreAndClose,
        Act::StoreAndAnswerLate,
    ] {
        let (mut sender, server) = Sender::sending(2, [act.clone()]);
        sender.deliver_all();
        let stats = sender.stats();
        assert_eq!((stats.sent, stats.errors, stats.dropped.total()), (2, 1, 0), "{act:?}");
        let first_time = server.requests().iter().position(|request| request.stored).expect("stored");
        let lost_answers = matches!(act, Act::StoreAndClose | Act::StoreAndAnswerLate);
        assert_eq!(first_time, usize::from(!lost_answers), "{act:?}");
        assert_same_bytes(&server.requests());
    }
}

#[test]
fn a_202_counts_even_if_its_body_is_cut() {
    let (mut sender, server) = Sender::sending(1, [Act::StoreAndCutAnswer]);
    sender.deliver_all();
    assert_eq!((server.stored(), sender.stats().errors), (events(2..=2), 0));
}

#[test]
fn nobody_there_is_no_answer() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    drop(listener);
    let mut sender = Sender::to(&url);
    sender.push(1);
    for _ in 0..3 {
        sender.deliver();
    }
    let stats = sender.stats();
    assert_eq!((stats.queued, stats.errors), (1, 3));
}

#[test]
fn too_large_goes_in_halves_in_order() {
    let (mut sender, server) = Sender::sending(4, [answer(413), answer(413), answer(413)]);
    sender.deliver_all();
    let sizes: Vec<usize> = server.requests().iter().map(|request| request.lines.len() - 1).collect();
    assert_eq!(sizes, [4, 2, 1, 1, 2]);
    assert_eq!(server.stored(), events(3..=5), "the first alone was too large");
    let stats = sender.stats();
    assert_eq!((stats.sent, stats.dropped.too_large, stats.errors), (3, 1, 3));
}

#[test]
fn a_sender_without_a_valid_token_asks_once() {
    for status in [401, 403] {
        let (mut sender, server) = Sender::sending(2, [answer(status)]);
        sender.deliver_all();
        sender.push(3);
        sender.host.advance(Duration::from_hours(2));
        sender.deliver_all();
        assert_eq!(server.requests().len(), 1);
        let stats = sender.stats();
        assert_eq!((stats.sent, stats.dropped.forbidden, stats.queued), (0, 5, 0));
    }
}

#[test]
fn any_other_answer_drops_the_batch_and_redirects_are_not_followed() {
    for status in [400, 404, 405, 415, 422, 499, 301, 302, 307, 308] {
        let location = vec![("location", "/elsewhere".to_owned())];
        let (mut sender, server) = Sender::sending(2, [Act::Answer(status, location)]);
        sender.deliver_all();
        sender.push(1);
        sender.deliver_all();
        assert_eq!(server.stored(), events(4..=4), "{status}");
        let asked: Vec<String> = server.requests().into_iter().map(|request| request.line).collect();
        assert_eq!(asked, ["POST /v1/events HTTP/1.1"; 2], "{status}");
        let stats = sender.stats();
        assert_eq!((stats.sent, stats.dropped.refused, stats.errors), (1, 2, 1), "{status}");
    }
}

/// A long day: everything that the table lets arrive is stored, and what is sent again has the same bytes.
#[test]
fn through_all_of_it_nothing_is_lost() {
    let script = [
        answer(503),
        Act::StoreAndClose,
        Act::ResetBeforeReading,
        retry_after(429, "1"),
        Act::Hang,
        answer(202),
        Act::StoreAndAnswerLate,
        answer(500),
        Act::CloseAfterReading,
    ];
    let (mut sender, server) = Sender::sending(3, script);
    for _ in 0..12 {
        sender.deliver();
        sender.push(2);
    }
    sender.deliver_all();
    let mut stored = server.stored();
    stored.sort_by_key(|line| (line.len(), line.clone()));
    stored.dedup();
    assert_eq!(stored, events(2..=28));
    let stats = sender.stats();
    assert_eq!((stats.enqueued, stats.sent, stats.errors), (27, 27, 8));
    assert_same_bytes(&server.requests());
}

/// An event's line is the same however often it is sent.
fn assert_same_bytes(requests: &[Request]) {
    let mut known: HashMap<String, &String> = HashMap::new();
    for line in requests.iter().flat_map(|request| request.lines.iter().skip(1)) {
        let seq = line.rsplit(':').next().expect("a seq").to_owned();
        assert_eq!(*known.entry(seq).or_insert(line), line);
    }
}

#[test]
fn the_timeout_is_the_exporters_or_what_is_left_before_the_end() {
    let server = Server::start([Act::Hang, Act::Hang]);
    let mut sender = Sender::to(&server.url);
    sender.push(1);
    sender.lane.deliver(&sender.host, Some(crate::now() + HANG_TIMEOUT));
    let exporter = HttpExporter::new(&server.url).token("secret").timeout(HANG_TIMEOUT);
    let stream = Stream { id: StreamId::new(Uuid::nil()), pid: 1, forked: false };
    let mut delivery = exporter.open(&stream).expect("an address and a token");
    let batch = Batch { process: PROCESS.as_bytes(), events: &[b"{}"], dropped: 0 };
    assert!(matches!(delivery.deliver(&batch, None), Answer::Later { after: None, .. }));
    assert_eq!((sender.stats().errors, server.requests().len()), (1, 2), "neither waited for ever");
}

#[test]
fn an_address_and_a_token_are_needed() {
    let stream = Stream { id: StreamId::new(Uuid::nil()), pid: 1, forked: false };
    let open = |exporter: HttpExporter| exporter.open(&stream).err().map(|error| error.to_string());
    for url in [
        "",
        "localhost:7766",
        "ftp://h",
        "http://",
        "http://h/?a=b",
        "http://h/#a",
        "http://u:p@h",
        "not a url",
    ] {
        let error = open(HttpExporter::new(url).token("t")).unwrap_or_default();
        assert!(error.contains("is not the address of a server"), "{url:?}: {error}");
    }
    assert_eq!(open(HttpExporter::new("https://h/base/").token("t")), None);
    assert_eq!(open(HttpExporter::new("http://h").token(" ")), Some(StartError::NoToken.to_string()));
    assert_eq!(open(HttpExporter::new("http://h").token("a\nb")), Some(StartError::Token.to_string()));
    let header = |exporter: HttpExporter, environment: Option<&str>| {
        exporter.authorization(environment.map(Into::into)).map_err(|error| error.to_string())
    };
    let exporter = || HttpExporter::new("http://h");
    assert_eq!(header(exporter(), Some(" env\n")), Ok(HeaderValue::from_static("Bearer env")));
    assert_eq!(header(exporter().token("own"), Some("env")), Ok(HeaderValue::from_static("Bearer own")));
    for environment in [None, Some(""), Some(" ")] {
        assert_eq!(header(exporter(), environment), Err(StartError::NoToken.to_string()));
    }
    let address = HttpExporter::new("http://h/base/").address().expect("an address");
    assert_eq!(address.to_string(), "http://h/base/v1/events");
    assert!(!format!("{:?}", HttpExporter::new("http://h").token("s3cret")).contains("s3cret"));
}

#[test]
fn no_secret_of_an_address_is_shown() {
    let stream = Stream { id: StreamId::new(Uuid::nil()), pid: 1, forked: false };
    for (url, shown) in [
        ("http://user:s3cret@h:7766/base", "http://h:7766/base"),
        ("http://h/base?token=s3cret", "http://h/base"),
        ("http://h/#s3cret", "http://h/"),
        ("user:s3cret@h", "h"),
        ("https://s3cret", "https://s3cret"),
        ("https://u:p@s3cret@h /", "https://h /"),
    ] {
        let exporter = HttpExporter::new(url).token("t");
        assert_eq!(without_secrets(url), shown);
        let debug = format!("{exporter:?}");
        assert!(debug.contains(&format!("{shown:?}")), "{debug}");
        if let Err(error) = exporter.open(&stream) {
            assert!(error.to_string().starts_with(&format!("{shown:?}")), "{error}");
        }
    }
}

#[test]
fn to_wait_for_ever_is_to_wait_for_long() {
    let server = Server::start([]);
    let exporter = HttpExporter::new(&server.url).token("secret").timeout(Duration::MAX);
    let stream = Stream { id: StreamId::new(Uuid::nil()), pid: 1, forked: false };
    let mut delivery = exporter.open(&stream).expect("an address and a token");
    let batch = Batch { process: PROCESS.as_bytes(), events: &[b"{}"], dropped: 0 };
    assert_eq!(delivery.deliver(&batch, None), Answer::Delivered);
}
