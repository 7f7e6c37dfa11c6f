use proptest::prelude::*;

use super::*;

const STREAM: &str = "210de94c-dce3-44f0-9cd3-2604c74dbeea";

fn process(id: &str) -> String {
    format!(r#"{{"schema":"engine-telemetry/events@1","seq":1,"type":"process","id":"{id}","host":"h"}}"#)
}

fn other(seq: u64) -> String {
    format!(r#"{{"schema":"engine-telemetry/events@1","seq":{seq},"type":"x"}}"#)
}

/// Reads a whole body: the seqs and lines of its events, or the refusal.
fn read(body: &[u8]) -> Result<Vec<(u64, &str)>, BatchError> {
    Batch::open(body)?.events.map(|event| event.map(|event| (event.seq.get(), event.line))).collect()
}

#[test]
fn a_process_event_alone_is_a_batch() {
    assert_eq!(read(process(STREAM).as_bytes()), Ok(vec![]));
    assert_eq!(read(format!("{}\n", process(STREAM)).as_bytes()), Ok(vec![]));
}

#[test]
fn the_same_process_may_open_again() {
    let body = [process(STREAM), other(5), process(STREAM), other(4)].join("\n");
    assert_eq!(read(body.as_bytes()).map(|events| events.iter().map(|e| e.0).collect()), Ok(vec![5, 4]));
}

#[test]
fn refusals_name_the_line() {
    let first = process(STREAM);
    for (body, line, cause) in [
        (String::new(), None, "empty"),
        (" \n\r\n".into(), None, "empty"),
        (other(2), Some(1), "must be of type process"),
        (format!("{first}\n\n\t{}", other(0)), Some(3), "seq must be"),
        (format!("{first}\n{}\nnot json", other(2)), Some(3), "not JSON at column 1"),
        (
            format!("{first}\n{}\n{}", other(2), process("c618f894-96d2-4c5f-aeaf-4c96e2e905b4")),
            Some(3),
            "one process",
        ),
    ] {
        let error = read(body.as_bytes()).expect_err(&body);
        assert_eq!(error.line, line, "{body}");
        assert!(error.kind.to_string().contains(cause), "{body}: {error}");
        let begin = line.map(|line| format!("line {line}: ")).unwrap_or_default();
        assert_eq!(error.to_string(), format!("{begin}{}", error.kind));
    }
}

#[test]
fn blank_lines_are_passed_over_and_counted() {
    let body = ["", &process(STREAM), " \t\r", &other(2), "", "\r", &other(3), "\r", ""].join("\n");
    let lines: Vec<usize> = [2, 4, 7].into();
    let mut events = Batch::open(body.as_bytes()).expect("a process event").events;
    assert_eq!(events.line(), lines[0]);
    assert_eq!(events.next().expect("one").map(|event| event.seq.get()), Ok(2));
    assert_eq!(events.line(), lines[1]);
    assert_eq!(events.next().expect("another").map(|event| event.seq.get()), Ok(3));
    assert_eq!((events.line(), events.next()), (lines[2], None));
}

#[test]
fn a_body_that_is_no_utf8_is_refused_with_its_line() {
    let body = [process(STREAM).as_bytes(), b"\n\xff\xfe\n"].concat();
    assert_eq!(read(&body).expect_err("no UTF-8").line, Some(2));
}

#[test]
fn nothing_is_read_after_an_error() {
    let body = [process(STREAM), "x".into(), other(3)].join("\n");
    let mut events = Batch::open(body.as_bytes()).expect("a process event").events;
    assert!(events.next().is_some_and(|event| event.is_err()));
    assert_eq!(events.next(), None);
}

proptest! {
    #[test]
    fn lines_come_back_byte_for_byte(seqs in prop::collection::vec(1_u64..=i64::MAX as u64, 0..20), feed: bool) {
        let lines: Vec<String> = seqs.iter().map(|seq| other(*seq)).collect();
        let mut body = process(STREAM);
        for line in &lines {
            body = body + "\n" + line;
        }
        if feed {
            body.push('\n');
        }
        let expected: Vec<_> = seqs.iter().copied().zip(lines.iter().map(String::as_str)).collect();
        prop_assert_eq!(read(body.as_bytes()), Ok(expected));
    }

    #[test]
    fn no_body_panics(body in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = read(&body);
    }

    #[test]
    fn no_damaged_body_panics(at in 0_usize..400, byte: u8) {
        let mut body = [process(STREAM), other(2), other(3)].join("\n").into_bytes();
        let at = at % body.len();
        body[at] = byte;
        let _ = read(&body);
    }
}
