//! Nothing is acknowledged before a sync of the log has ended that began after the request had been written to it.

use std::collections::HashMap;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use super::Setup;
use super::crash::SERVE;
use crate::service::Launch;
use crate::strace;
use crate::trace::{Call, calls};
use crate::traffic::Traffic;

const CALLS: &str = "recvfrom,read,pwrite64,fdatasync,fsync,writev,sendto,write";
/// Enough for the head and the body of an answer.
const BYTES_MAX: usize = 2048;
const TRAFFIC: Duration = Duration::from_millis(700);

pub(super) fn run(setup: &Setup, rounds: u32) -> Result<String> {
    let (mut stored, mut others) = (0, 0);
    for round in 0..rounds {
        let data = setup.folder.join(format!("data-{round}"));
        let out = setup.folder.join("trace");
        let logs = setup.folder.join(format!("logs-{round}"));
        std::fs::create_dir(&logs)?;
        let traffic = Traffic::new(&logs, setup.seed.wrapping_add(round.into()));
        let launch = Launch::new(&setup.binary, &data, &SERVE).under(strace::record(CALLS, &out, BYTES_MAX));
        let service = launch.start()?;
        let pid = service.pid();
        std::thread::scope(|scope| {
            traffic.send(scope, &service.address, setup.seed, Duration::ZERO);
            std::thread::sleep(TRAFFIC);
            service.stop()
        })?;
        let judged = judge(&calls(&strace::whole(&out, pid)?)?)?;
        let told = traffic.answered();
        let seen = judged.stored + judged.others;
        // A sender may be cut off between the answer's way out and its own reading of it.
        ensure!(told > 0 && seen >= told, "{told} answers of 202 were read, {seen} are in the trace");
        ensure!(seen - told <= traffic.unanswered(), "{seen} answers in the trace, {told} were read");
        stored += judged.stored;
        others += judged.others;
    }
    Ok(format!(
        "{stored} answers of 202 to new events, each after its sync; {others} to what was stored before"
    ))
}

#[derive(Debug, Default, PartialEq)]
struct Judged {
    /// Answers that say that events were stored.
    stored: u64,
    /// Answers that say that none was.
    others: u64,
}

/// Looks at each 202 and the calls between its request and it.
fn judge(calls: &[Call]) -> Result<Judged> {
    let mut judged = Judged::default();
    // On which line the last piece of a request arrived, by the socket.
    let mut arrived: HashMap<&str, usize> = HashMap::new();
    let is_log = |call: &&Call| call.file().is_some_and(|file| file.ends_with("-wal"));
    let syncs: Vec<&Call> = calls
        .iter()
        .filter(is_log)
        .filter(|call| call.name.ends_with("sync") && call.result == Some(0))
        .collect();
    let writes: Vec<usize> = calls
        .iter()
        .filter(is_log)
        .filter(|call| call.name == "pwrite64")
        .filter_map(|call| call.ended)
        .collect();
    for call in calls {
        let Some(socket) = call.file().filter(|file| file.starts_with("socket:")) else { continue };
        if ["recvfrom", "read"].contains(&call.name.as_str()) {
            if let (Some(1..), Some(ended)) = (call.result, call.ended) {
                arrived.insert(socket, ended);
            }
            continue;
        }
        let bytes = call.arguments.get(1).map_or(&[][..], |argument| &argument.bytes);
        // A call that failed is made again.
        let failed = call.ended.is_some() && call.result.is_none();
        if failed || !bytes.starts_with(b"HTTP/1.1 202 ") {
            continue;
        }
        let text = String::from_utf8_lossy(bytes);
        let accepted = text.split("\"accepted\":").nth(1).context("an answer without a count")?;
        if accepted.starts_with("0,") {
            judged.others += 1;
            continue;
        }
        let from = arrived.get(socket).context("an answer without a request")?;
        let is_between = |sync: &&&Call| {
            let written = writes.iter().any(|line| from < line && *line < sync.begun);
            sync.begun > *from && sync.ended.is_some_and(|ended| ended < call.begun) && written
        };
        ensure!(
            syncs.iter().find(is_between).is_some(),
            "line {} answers 202 without a write and a sync of the log since line {}",
            call.begun + 1,
            from + 1
        );
        judged.stored += 1;
    }
    Ok(judged)
}

#[cfg(test)]
mod tests {
    use super::*;

    const REQUEST: &str = r#"recvfrom(3<socket:[7]>, "POST", 8192, 0) = 4"#;
    const WRITTEN: &str = r#"pwrite64(4</d/x.db-wal>, "a", 1, 0) = 1"#;
    const SYNCED: &str = "fdatasync(4</d/x.db-wal>) = 0";
    /// The answer's head and `{"accepted":1,`, as the tracer writes them.
    const STORED: &str = concat!(
        r#"writev(3<socket:[7]>, [{iov_base="\x48\x54\x54\x50\x2f\x31\x2e\x31\x20\x32\x30\x32\x20", iov_len=13}, "#,
        r#"{iov_base="\x7b\x22\x61\x63\x63\x65\x70\x74\x65\x64\x22\x3a\x31\x2c", iov_len=14}], 2) = 27"#
    );

    fn check(lines: &[&str]) -> Result<Judged> {
        let trace: Vec<String> = lines.iter().map(|line| format!("1 1.0 {line}")).collect();
        judge(&calls(&trace.join("\n"))?)
    }

    #[test]
    fn an_answer_follows_a_sync_that_follows_its_write() {
        let judged = check(&[REQUEST, WRITTEN, SYNCED, STORED]).expect("in order");
        assert_eq!(judged, Judged { stored: 1, others: 0 });
        for lines in [
            &[REQUEST, WRITTEN, STORED, SYNCED][..],
            &[REQUEST, SYNCED, WRITTEN, STORED],
            &[WRITTEN, SYNCED, REQUEST, STORED],
            &[REQUEST, WRITTEN, "fdatasync(4</d/x.db-wal>) = -1 EIO (Input/output error)", STORED],
            &[REQUEST, WRITTEN, "fdatasync(4</d/x.db>) = 0", STORED],
        ] {
            check(lines).expect_err("out of order");
        }
    }
}
