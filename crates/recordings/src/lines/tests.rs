use flate2::Compression;
use flate2::write::GzEncoder;
use queryscope_store::Packer;

use super::*;

const QUERY: &str = "01a1faa8-1bd9-77b2-97ab-860dd7026506";

fn event(seq: u64) -> String {
    format!(r#"{{"seq":{seq},"filling":"{}"}}"#, seq.to_string().repeat(7))
}

fn pack(events: &[String]) -> Vec<u8> {
    Packer::new().pack(events.iter().map(String::as_bytes))
}

/// Reads gzip bytes that arrive in pieces of this size.
async fn read(gzip: &[u8], piece: usize) -> Result<Vec<Line>, RecordingError> {
    let pieces: Vec<_> = gzip.chunks(piece).map(|piece| Ok(Bytes::copy_from_slice(piece))).collect();
    let mut reader = LineReader::new(QUERY.parse().expect("a UUID"), stream::iter(pieces).boxed());
    let mut lines = Vec::new();
    while let Some(line) = reader.next().await? {
        lines.push(line);
    }
    Ok(lines)
}

#[tokio::test]
async fn lines_come_whole_however_the_bytes_arrive() {
    let events: Vec<String> = (1..=2000).map(event).collect();
    let gzip = [pack(&events[..700]), pack(&events[700..701]), pack(&events[701..])].concat();
    for piece in [1, 17, 4096, usize::MAX] {
        let lines = read(&gzip, piece).await.expect("sound");
        let expected = (1..=2000).zip(&events);
        assert_eq!(lines.len(), events.len());
        for (line, (seq, text)) in lines.iter().zip(expected) {
            assert_eq!((line.seq.get(), &line.text[..]), (seq, text.as_bytes()), "in pieces of {piece}");
        }
    }
}

#[tokio::test]
async fn damage_is_found_and_names_the_query() {
    let sound = pack(&[event(1), event(2)]);
    let mut flipped = sound.clone();
    flipped[sound.len() / 2] ^= 1;
    let mut unended = GzEncoder::new(Vec::new(), Compression::fast());
    unended.write_all(event(1).as_bytes()).expect("memory");
    for (gzip, reason) in [
        (&sound[..sound.len() - 1], ""),
        (&flipped, ""),
        (b"no gzip at all", ""),
        (&pack(&["{}".to_owned()]), "a line without a seq"),
        (&unended.finish().expect("memory"), "a line that is cut off"),
    ] {
        match read(gzip, 5).await {
            Err(RecordingError::Damaged { query_id, reason: found }) => {
                assert_eq!(query_id.to_string(), QUERY);
                assert!(found.contains(reason), "{found}");
            }
            other => panic!("expected {reason:?}: {other:?}"),
        }
    }
}
