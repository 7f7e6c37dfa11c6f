use std::collections::BTreeSet;

use queryscope_protocol::{Batch, EventKind};

use super::*;
use crate::captures;

const NOW_UNIX_NS: i64 = 1_795_206_683_560_726_422;

/// What a body says: its stream, its seqs, its queries in the order of the events.
struct Read {
    stream: String,
    seqs: Vec<u64>,
    queries: Vec<String>,
    types: String,
}

fn read(body: &Body) -> Read {
    let batch = Batch::open(&body.text).expect("a batch");
    let mut read = Read {
        stream: batch.process.id.to_string(),
        seqs: Vec::new(),
        queries: Vec::new(),
        types: String::new(),
    };
    for event in batch.events {
        let event = event.expect("an event");
        read.seqs.push(event.seq.get());
        read.queries.extend(event.kind.query_id().map(|id| id.to_string()));
        read.types.push(match event.kind {
            EventKind::Started(_, profile) => {
                assert_eq!(profile.started_unix_ns, Some(NOW_UNIX_NS));
                's'
            }
            EventKind::Progress(..) => 'p',
            EventKind::Finished(_, profile) => {
                assert_eq!(profile.started_unix_ns, Some(NOW_UNIX_NS));
                'f'
            }
            EventKind::Process(_) | EventKind::Other(_) => '?',
        });
    }
    assert_eq!(body.events, read.seqs.len() as u64);
    read
}

fn bodies(workload: Workload, lane: u64, count: usize) -> Vec<Body> {
    let shapes = Shapes::from_captures(captures::of_repository()).expect("all shapes");
    shapes.bodies(workload, lane, 5, NOW_UNIX_NS).take(count).collect()
}

fn check_bytes(body: &[u8], decoded: std::ops::Range<usize>, gzip: std::ops::Range<usize>) {
    let mut packer = crate::body::Packer::default();
    let packed = packer.pack(body);
    assert!(decoded.contains(&body.len()), "decoded {}", body.len());
    assert!(gzip.contains(&packed.len()), "gzip {}", packed.len());
}

#[test]
fn w1_is_24_lives_in_a_fresh_stream() {
    let bodies = bodies(Workload::W1, 0, 2);
    let first = read(&bodies[0]);
    assert_eq!((bodies[0].events, bodies[0].queries), (216, 24));
    assert_eq!(first.seqs, (2..218).collect::<Vec<_>>());
    assert_eq!(first.types, "spppppppf".repeat(24));
    assert_eq!(first.queries.iter().collect::<BTreeSet<_>>().len(), 24);
    check_bytes(&bodies[0].text, 960_000..1_020_000, 93_000..107_000);
    let second = read(&bodies[1]);
    assert_ne!(first.stream, second.stream);
    assert!(second.queries.iter().all(|query| !first.queries.contains(query)));
}

#[test]
fn w2_is_one_life_in_a_fresh_stream() {
    let bodies = bodies(Workload::W2, 0, 24);
    let read: Vec<_> = bodies.iter().map(read).collect();
    assert!(read.iter().all(|body| body.types == "spppppppf" && body.seqs == (2..11).collect::<Vec<_>>()));
    assert_eq!(read.iter().map(|body| &body.stream).collect::<BTreeSet<_>>().len(), 24);
    let mean = bodies.iter().map(|body| body.text.len()).sum::<usize>() / bodies.len();
    assert!((40_000..43_000).contains(&mean), "{mean}");
}

#[test]
fn w3_is_one_finished_query_of_5_kb_in_a_long_lived_stream() {
    let bodies = bodies(Workload::W3, 0, 40);
    let read: Vec<_> = bodies.iter().map(read).collect();
    assert!(read.iter().all(|body| body.types == "f" && body.stream == read[0].stream));
    assert_eq!(read.iter().map(|body| body.seqs[0]).collect::<Vec<_>>(), (2..42).collect::<Vec<_>>());
    assert_eq!(read.iter().map(|body| &body.queries[0]).collect::<BTreeSet<_>>().len(), 40);
    for body in &bodies {
        check_bytes(&body.text, 5_000..5_700, 1_200..2_000);
    }
}

#[test]
fn w4_is_the_captures_with_fresh_ids_each_round() {
    let captured = captures::of_repository();
    let bodies = bodies(Workload::W4, 0, captured.len() * 2);
    let mut seen = BTreeSet::new();
    for (body, capture) in bodies.iter().zip(captured.iter().cycle()) {
        let read = read(body);
        assert_ne!(read.stream, capture.stream);
        assert_eq!(read.seqs, capture.lines.iter().map(|line| line.seq).collect::<Vec<_>>());
        for seq in read.seqs {
            assert!(seen.insert((read.stream.clone(), seq)), "{} {seq} comes twice", read.stream);
        }
    }
    let queries: BTreeSet<_> = lines(&captured).map(|line| &line.query).collect();
    assert_eq!(bodies.iter().map(|body| body.queries).sum::<u64>(), queries.len() as u64 * 2);
}

#[test]
fn lanes_share_nothing_and_a_seed_gives_the_same_again() {
    for workload in Workload::value_variants() {
        let (lane, again, other) =
            (bodies(*workload, 0, 3), bodies(*workload, 0, 3), bodies(*workload, 1, 3));
        assert!(lane.iter().zip(&again).all(|(a, b)| a.text == b.text));
        assert!(lane.iter().zip(&other).all(|(a, b)| read(a).stream != read(b).stream));
    }
}
