//! HTTP/1.1 as far as a load generator needs it: heads it writes, answers it reads.

use std::net::{SocketAddr, ToSocketAddrs};

use anyhow::{Context, Result, bail, ensure};

/// Longest head of an answer, in bytes.
const HEAD_BYTES_MAX: usize = 64 << 10;
/// Longest body of an answer, in bytes.
const BODY_BYTES_MAX: usize = 256 << 20;

/// The service under test.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    /// Where it listens; always this machine.
    pub(crate) address: SocketAddr,
    host: String,
    token: String,
}

impl Target {
    /// Reads `http://HOST:PORT` of this machine.
    ///
    /// # Errors
    /// When it is no such address, or one of another machine: load belongs on the loopback alone.
    pub(crate) fn parse(url: &str, token: &str) -> Result<Self> {
        let host = url.strip_prefix("http://").map(|rest| rest.trim_end_matches('/'));
        let host = host.with_context(|| format!("{url} does not begin with http://"))?;
        let addresses: Vec<_> = host
            .to_socket_addrs()
            .with_context(|| format!("{url} is not http://HOST:PORT"))?
            .filter(|address| address.ip().is_loopback())
            .collect();
        let address =
            addresses.first().with_context(|| format!("{url} is not an address of this machine"))?;
        ensure!(!token.contains(['\r', '\n']), "a token is one line");
        Ok(Self { address: *address, host: host.into(), token: token.into() })
    }

    /// The begin of a post of events, with its token or without, and further lines.
    pub(crate) fn post_head(&self, token: bool, lines: &str) -> String {
        let (host, token) = (&self.host, if token { &self.token } else { "" });
        format!("POST /v1/events HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n{lines}")
    }

    /// A request that posts a gzip-compressed batch, head and body in one.
    pub(crate) fn post_events(&self, gzip: &[u8]) -> Box<[u8]> {
        let coding = "Content-Type: application/x-ndjson\r\nContent-Encoding: gzip";
        let head = self.post_head(true, &format!("{coding}\r\nContent-Length: {}\r\n\r\n", gzip.len()));
        [head.as_bytes(), gzip].concat().into()
    }

    /// A request that reads a path, its query included.
    pub(crate) fn get(&self, path: &str) -> Box<[u8]> {
        format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", self.host).into_bytes().into()
    }
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Response {
    /// Its status code.
    pub(crate) status: u16,
    /// Its body, still compressed where the service compressed it.
    pub(crate) body: Vec<u8>,
    /// Seconds to wait before the request is sent again, where the answer says so.
    pub(crate) retry_after_s: Option<u64>,
    /// Whether the connection ends with it.
    pub(crate) close: bool,
}

/// Takes the first answer out of what has been received; `None` while it is not whole.
///
/// `ended` says that nothing more will come.
///
/// # Errors
/// When the bytes are no HTTP/1.1 answer, or over the bounds.
pub(crate) fn take_response(received: &mut Vec<u8>, ended: bool) -> Result<Option<Response>> {
    let Some(head_bytes) = find(received, b"\r\n\r\n").map(|at| at + 4) else {
        ensure!(received.len() <= HEAD_BYTES_MAX, "the head of the answer is over {HEAD_BYTES_MAX} bytes");
        return Ok(None);
    };
    let head = std::str::from_utf8(&received[..head_bytes]).context("the head of the answer is not text")?;
    let mut lines = head.split("\r\n");
    let status_line = lines.next().unwrap_or_default();
    let status: u16 = status_line
        .strip_prefix("HTTP/1.1 ")
        .and_then(|rest| rest.get(..3))
        .and_then(|status| status.parse().ok())
        .with_context(|| format!("{status_line:?} begins no answer"))?;
    let mut response = Response { status, body: Vec::new(), retry_after_s: None, close: false };
    let mut length = None;
    let mut chunked = false;
    for (name, value) in lines.filter_map(|line| line.split_once(':')) {
        let value = value.trim();
        if name.eq_ignore_ascii_case("content-length") {
            length = Some(value.parse::<usize>().context("the length of the answer is no number")?);
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            chunked = value.eq_ignore_ascii_case("chunked");
        } else if name.eq_ignore_ascii_case("connection") {
            response.close = value.eq_ignore_ascii_case("close");
        } else if name.eq_ignore_ascii_case("retry-after") {
            response.retry_after_s = value.parse().ok();
        }
    }
    let rest = &received[head_bytes..];
    ensure!(rest.len() <= BODY_BYTES_MAX, "the answer is over {BODY_BYTES_MAX} bytes");
    let body_bytes = match length {
        // Joining what has come at each read of a long answer would take the generator's core.
        _ if chunked && !rest.ends_with(b"0\r\n\r\n") => return Ok(None),
        _ if chunked => match unchunk(rest, &mut response.body)? {
            Some(bytes) => bytes,
            None => return Ok(None),
        },
        _ if matches!(status, 204 | 304) => 0,
        Some(length) if rest.len() < length => return Ok(None),
        Some(length) => {
            response.body.extend_from_slice(&rest[..length]);
            length
        }
        None if ended => {
            response.body.extend_from_slice(rest);
            response.close = true;
            rest.len()
        }
        None => return Ok(None),
    };
    received.drain(..head_bytes + body_bytes);
    Ok(Some(response))
}

/// Joins the chunks of a body and says how many bytes they took; `None` while the last one is missing.
fn unchunk(mut rest: &[u8], body: &mut Vec<u8>) -> Result<Option<usize>> {
    let all = rest.len();
    loop {
        let Some(end) = find(rest, b"\r\n") else { return Ok(None) };
        let line = std::str::from_utf8(&rest[..end]).context("the size of a chunk is not text")?;
        let size = line.split(';').next().unwrap_or_default().trim();
        let size = usize::from_str_radix(size, 16).context("the size of a chunk is no number")?;
        if size > BODY_BYTES_MAX {
            bail!("a chunk of the answer is over {BODY_BYTES_MAX} bytes");
        }
        let (from, to) = (end + 2, end + 2 + size);
        if rest.len() < to + 2 {
            return Ok(None);
        }
        ensure!(&rest[to..to + 2] == b"\r\n", "a chunk of the answer does not end where it should");
        body.extend_from_slice(&rest[from..to]);
        rest = &rest[to + 2..];
        if size == 0 {
            return Ok(Some(all - rest.len()));
        }
    }
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(answer: &str, ended: bool) -> Option<(u16, String, usize)> {
        let mut received = answer.as_bytes().to_vec();
        let response = take_response(&mut received, ended).expect("an answer")?;
        Some((response.status, String::from_utf8(response.body).expect("text"), received.len()))
    }

    #[test]
    fn an_answer_is_whole_or_waited_for() {
        let whole = "HTTP/1.1 202 Accepted\r\nContent-Length: 4\r\n\r\n{ a}";
        assert_eq!(check(whole, false), Some((202, "{ a}".into(), 0)));
        for cut in 0..whole.len() {
            assert_eq!(check(&whole[..cut], false), None, "{cut}");
        }
        assert_eq!(check(&format!("{whole}HTTP"), false), Some((202, "{ a}".into(), 4)));
        assert_eq!(check("HTTP/1.1 204 No Content\r\n\r\n", false), Some((204, String::new(), 0)));
    }

    #[test]
    fn chunks_are_joined() {
        let whole =
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n";
        assert_eq!(check(whole, false), Some((200, "abcde".into(), 0)));
        for cut in 0..whole.len() {
            assert_eq!(check(&whole[..cut], false), None, "{cut}");
        }
    }

    #[test]
    fn a_body_without_length_ends_with_the_connection() {
        let answer = "HTTP/1.1 200 OK\r\n\r\nabc";
        assert_eq!(check(answer, false), None);
        assert_eq!(check(answer, true), Some((200, "abc".into(), 0)));
    }

    #[test]
    fn the_pause_before_the_next_try_is_read() {
        let mut answer =
            b"HTTP/1.1 503 Busy\r\nRetry-After: 2\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".to_vec();
        let response = take_response(&mut answer, false).expect("an answer").expect("a whole one");
        assert_eq!((response.retry_after_s, response.close), (Some(2), true));
    }

    #[test]
    fn what_is_no_answer_is_refused() {
        for bytes in
            ["SSH-2.0-x\r\n\r\n", "HTTP/1.1 2x2 A\r\n\r\n", "HTTP/1.1 200 A\r\nContent-Length: x\r\n\r\n"]
        {
            assert!(take_response(&mut bytes.as_bytes().to_vec(), false).is_err(), "{bytes:?}");
        }
    }

    #[test]
    fn load_stays_on_this_machine() {
        assert!(Target::parse("http://127.0.0.1:7766/", "t").is_ok());
        for url in ["http://192.0.2.1:80", "https://127.0.0.1:1", "127.0.0.1:1", "http://127.0.0.1"] {
            assert!(Target::parse(url, "t").is_err(), "{url}");
        }
        assert!(Target::parse("http://127.0.0.1:1", "a\r\nb").is_err());
    }
}
