//! Programs: CloudEvents 1.0 in structured mode, with a signature and an idempotency key.

use std::fmt::Write;

use chrono::{DateTime, SecondsFormat};
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;

use crate::config::Config;
use crate::message::Message;

/// Content type of an event as JSON.
pub(crate) const CONTENT_TYPE: &str = "application/cloudevents+json; charset=utf-8";
/// The header of the signature: `t=SECONDS,v1=HEX`.
pub(crate) const SIGNATURE: &str = "queryscope-signature";
/// The header of the idempotency key.
pub(crate) const KEY: &str = "idempotency-key";

/// A message as an event. It is made of the stored message and `base_url`: while that stays, the bytes are the same
/// at each attempt.
pub(crate) fn event(config: &Config, message: &Message) -> Value {
    json!({
        "specversion": "1.0",
        "id": message.id,
        "source": config.source(),
        "type": format!("io.queryscope.issue.{}", message.name()),
        "time": time(message.unix_ns),
        "subject": message.members.first().map_or(message.route.as_str(), |first| &first.issue.id),
        "datacontenttype": "application/json",
        "data": message,
    })
}

/// A time as RFC 3339 has it, in milliseconds.
pub(crate) fn time(unix_ns: i64) -> String {
    DateTime::from_timestamp_nanos(unix_ns).to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// The signature of a body that is sent at a time: HMAC-SHA256 of `SECONDS.BODY`.
pub fn signature(key: &str, unix_s: u64, body: &[u8]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(key.as_bytes()).expect("keys of any length are taken");
    mac.update(format!("{unix_s}.").as_bytes());
    mac.update(body);
    let mut signature = format!("t={unix_s},v1=");
    for byte in mac.finalize().into_bytes() {
        let _ = write!(signature, "{byte:02x}");
    }
    signature
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_an_hmac_of_time_and_body() {
        // printf '1700000000.{"a":1}' | openssl dgst -sha256 -hmac key
        assert_eq!(
            signature("key", 1_700_000_000, br#"{"a":1}"#),
            "t=1700000000,v1=a438e398bfafc57e4396bb7fc2304422f0f768e965d073ca313cb52e22e6ad03"
        );
    }

    #[test]
    fn a_time_has_its_zone() {
        assert_eq!(time(1_793_750_400_123_456_789), "2026-11-04T00:00:00.123Z");
    }
}
