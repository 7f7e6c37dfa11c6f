//! The attacks, by name.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use anyhow::Result;

use super::bodies;
use super::crowd;
use crate::http::Target;

/// Connections of an attack that sends whole requests, one after the other.
const SENDERS: usize = 16;
/// Longest body a collector takes.
const BODY_BYTES_MAX: usize = 8 << 20;

/// What clients do.
pub(super) struct Attack {
    pub(super) name: &'static str,
    does: Does,
}

enum Does {
    /// Holds connections: writes a beginning, then one byte a second of the rest for ever.
    Hold { connections: usize, token: bool, begin: &'static str, drip: Option<u8>, half_close: bool },
    /// Sends whole requests as fast as they are answered.
    Send { token: bool, lines: &'static str, body: fn() -> Vec<u8> },
}

/// Answers by status; 0 stands for none.
pub(super) type Answers = BTreeMap<u16, u64>;

impl Attack {
    pub(super) fn all(connections: usize) -> Vec<Self> {
        let hold = |name, token, begin, drip| Self {
            name,
            does: Does::Hold { connections, token, begin, drip, half_close: false },
        };
        let send = |name, lines, body| Self { name, does: Does::Send { token: true, lines, body } };
        vec![
            hold("idle", false, "", None),
            hold("slow heads", false, "POST /v1/events HTTP/1.1\r\nHost: x\r\nX: ", Some(b'x')),
            hold("slow bodies", true, "Content-Length: 1000000\r\n\r\n", Some(b' ')),
            hold("lengths that lie", true, "Content-Length: 8388608\r\n\r\n{", None),
            hold("endless chunks", true, "Transfer-Encoding: chunked\r\n\r\nfff;", Some(b'x')),
            Self {
                name: "half closed",
                does: Does::Hold {
                    connections,
                    token: true,
                    begin: "Content-Length: 1000\r\n\r\n{",
                    drip: None,
                    half_close: true,
                },
            },
            Self {
                name: "no token, 8 MiB",
                does: Does::Send { token: false, lines: "", body: || vec![b' '; BODY_BYTES_MAX] },
            },
            send("8 MiB of blanks", "", || vec![b' '; BODY_BYTES_MAX]),
            send("over 8 MiB", "", || vec![b' '; BODY_BYTES_MAX + 1]),
            send("bomb", bodies::GZIP, bodies::bomb),
            send("bomb in members", bodies::GZIP, bodies::bomb_in_members),
            send("bomb with a forged footer", bodies::GZIP, bodies::forged),
            send("wrong checksum", bodies::GZIP, bodies::wrong_checksum),
            send("nested arrays", bodies::GZIP, bodies::nested),
            send("queries without end", bodies::GZIP, bodies::queries),
            send("queries to the limit", bodies::GZIP, bodies::queries_at_the_limit),
        ]
    }

    /// Whether its clients do next to nothing, so that what good clients lose is not for want of cores.
    pub(super) fn is_idle(&self) -> bool {
        matches!(self.does, Does::Hold { .. })
    }

    /// Goes on until it is told to stop.
    pub(super) async fn run(&self, target: &Target, stop: &AtomicBool) -> Result<Answers> {
        match self.does {
            Does::Hold { connections, token, begin, drip, half_close } => {
                let begin = if begin.is_empty() || begin.starts_with("POST") {
                    begin.as_bytes().to_vec()
                } else {
                    target.post_head(token, begin).into_bytes()
                };
                crowd::hold(target.address, &crowd::Idler { begin, drip, half_close }, connections, stop)
                    .await
            }
            Does::Send { token, lines, body } => {
                let body = body();
                let head = target.post_head(token, &format!("{lines}Content-Length: {}\r\n\r\n", body.len()));
                let request = [head.as_bytes(), &body].concat();
                Ok(crowd::send(target.address, request.into(), SENDERS, stop).await)
            }
        }
    }
}
