//! The answer is lost: after the commit, before it, or in the middle.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use rand::RngExt;
use uuid::Uuid;

use super::Setup;
use crate::events::Stream;
use crate::http::Client;
use crate::service::Launch;
use crate::traffic::Address;

const TIMEOUT: Duration = Duration::from_mins(1);
/// Batches of one stream.
const BATCHES: u32 = 50;

pub(super) fn run(setup: &Setup, rounds: u32) -> Result<String> {
    let data = setup.folder.join("data");
    let log = setup.folder.join("acknowledged.jsonl");
    let service = Launch::new(&setup.binary, &data, &[]).start()?;
    let client = Client::new(&service.address.url);
    let mut random = setup.random();
    let (mut stream, mut acknowledged) = (Stream::new(), Vec::new());
    let (mut committed, mut events) = (0, 0);
    for round in 0..rounds {
        if round % BATCHES == 0 {
            stream = Stream::new();
        }
        let query = Uuid::new_v4();
        let made = [stream.started(query, "lost"), stream.progress(query), stream.finished(query, "lost")];
        let batch = stream.batch(&made);
        // How much of the answer arrives before the connection breaks: all of it, its first byte, or nothing.
        match random.random_range(0..3) {
            0 => {
                // Pretended to be lost: the commit is certain.
                ensure!(send(&service.address, &batch, usize::MAX)?.contains(" 202 "), "not accepted");
                committed += 1;
                ensure!(client.post(&service.address.token, &batch)?.counts() == (0, 3), "stored twice");
            }
            bytes => {
                send(&service.address, &batch, bytes - 1)?;
                let (new, again) = client.post(&service.address.token, &batch)?.counts();
                // A batch is stored whole or not at all, whoever is first.
                ensure!(
                    [(0, 3), (3, 0)].contains(&(new, again)),
                    "{new} new and {again} again, of one batch"
                );
                committed += u32::from(again == 3);
            }
        }
        events += 3;
        acknowledged.extend(batch);
    }
    std::fs::write(&log, acknowledged)?;
    service.stop()?;
    let held = setup.binary.check(&data, [log])?;
    ensure!((held.events, held.acknowledged) == (events, events), "{held:?}, {events} were sent");
    Ok(format!("{rounds} answers lost, {committed} of them after the commit; {events} events, each once"))
}

/// Posts a batch and breaks the connection after so many bytes of the answer; gives these.
fn send(address: &Address, batch: &[u8], bytes_max: usize) -> Result<String> {
    let host = address.url.strip_prefix("http://").context("a URL")?;
    let mut connection = TcpStream::connect(host)?;
    connection.set_read_timeout(Some(TIMEOUT))?;
    let head = format!(
        "POST /v1/events HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {}\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n",
        address.token,
        batch.len()
    );
    connection.write_all(&[head.as_bytes(), batch].concat())?;
    let mut answer = Vec::new();
    Read::by_ref(&mut connection).take(bytes_max as u64).read_to_end(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}
