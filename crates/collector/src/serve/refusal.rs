//! The answers to what is no request, with a body that says what is wrong.
//!
//! The HTTP library answers such requests itself, with a head and nothing else, and calls no service. It has no way to
//! change that answer. But it writes it alone and closes the connection then, so that it can be recognised
//! when it is written: answers of the service name a `Content-Security-Policy`, and this one has no body.

use std::io::IoSlice;

use axum::http::StatusCode;
use bytes::Bytes;

use super::accept::HEAD_MAX;
use crate::error::ApiError;
use crate::security;

/// The longest head the library writes by itself, with room to spare.
const BARE_MAX: usize = 256;
const NO_BODY: &str = "content-length: 0\r\n";

/// What to write in the place of `bufs`, if they are an answer of the library's own.
pub(super) fn refusal(bufs: &[IoSlice<'_>]) -> Option<Bytes> {
    match bufs {
        [only] => refusal_for(only),
        _ => None,
    }
}

/// What to write in the place of `head`, if it is an answer of the library's own.
pub(super) fn refusal_for(head: &[u8]) -> Option<Bytes> {
    let is_refusal = head.starts_with(b"HTTP/1.1 4") || head.starts_with(b"HTTP/1.0 4");
    if !is_refusal || head.len() > BARE_MAX || !head.ends_with(b"\r\n\r\n") {
        return None;
    }
    let head = str::from_utf8(head).ok()?;
    let (before, after) = head.split_once(NO_BODY)?;
    if head.contains("content-security-policy") {
        return None;
    }
    let body = ApiError::invalid(reason(head.get(9..12)?.parse().ok()?)).body();
    let protection = security::PROTECTION.map(|(name, value)| format!("{name}: {value}\r\n")).concat();
    let lines = format!("content-type: application/json\r\n{protection}content-length: {}\r\n", body.len());
    Some([before, &lines, after, &body].concat().into())
}

fn reason(status: StatusCode) -> String {
    match status {
        StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => {
            let kib = HEAD_MAX >> 10;
            format!("the address and the header lines are too large: {kib} KiB and 100 lines are allowed")
        }
        StatusCode::URI_TOO_LONG => "the address is too long".into(),
        _ => "the request is not valid HTTP/1.1: its first line, its address (characters such as < and > must be \
              percent-encoded) or a header line"
            .into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BARE: &str =
        "HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\ndate: Mon\r\n\r\n";

    #[test]
    fn the_librarys_own_answers_get_a_body() {
        let said = refusal(&[IoSlice::new(BARE.as_bytes())]).expect("recognised");
        let said = str::from_utf8(&said).expect("text");
        let (head, body) = said.split_once("\r\n\r\n").expect("a head");
        assert!(head.starts_with("HTTP/1.1 400 Bad Request\r\nconnection: close\r\n"), "{head}");
        assert!(head.contains(&format!("\r\ncontent-length: {}\r\n", body.len())), "{head}");
        assert!(head.ends_with("\r\ndate: Mon"), "{head}");
        assert!(body.starts_with("{\"error\":\"the request is not valid"), "{body}");
    }

    #[test]
    fn all_others_stay() {
        let own = BARE.replace("date", "content-security-policy: x\r\ndate");
        let long = BARE.replace("Mon", &"x".repeat(300));
        for other in [
            own.as_str(),
            &long,
            &BARE.replace("400 Bad Request", "200 OK"),
            &BARE.replace("length: 0", "length: 5"),
            &(BARE.to_owned() + "body"),
            "",
        ] {
            assert_eq!(refusal_for(other.as_bytes()), None, "{other}");
        }
        let (head, tail) = BARE.as_bytes().split_at(20);
        assert_eq!(refusal(&[IoSlice::new(head), IoSlice::new(tail)]), None);
    }
}
