//! Texts of receivers without the secrets of those receivers.
//!
//! The problem: a receiver may echo what it was sent (`Cannot POST /services/T/B/SECRET`), and its answers are logged,
//! stored, and shown by the API. The mechanism: each secret, each part of it, and each in the forms that programs
//! echo, is replaced by an ellipsis.

use std::collections::BTreeSet;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use percent_encoding::percent_decode_str;
use reqwest::Url;

use crate::mail::Mail;
use crate::secret::Secret;
use crate::words::cut;

/// Characters of a text that are shown.
const SHOWN_CHARS_MAX: usize = 200;
/// Characters of the least part of a secret that is replaced.
const PART_CHARS_MIN: usize = 8;

/// The texts that are not shown of a receiver.
#[derive(Default)]
pub(crate) struct Redactor {
    /// In ASCII lower case.
    texts: BTreeSet<String>,
}

impl Redactor {
    /// Of a receiver by HTTP.
    pub(crate) fn of_http(url: &Secret, authorization: Option<&Secret>, key: Option<&Secret>) -> Self {
        let mut redactor = Self::default();
        redactor.add(url.reveal());
        if let Ok(url) = url.reveal().parse::<Url>() {
            redactor.add_url(&url);
        }
        if let Some(authorization) = authorization {
            redactor.add_authorization(authorization.reveal());
        }
        if let Some(key) = key {
            redactor.add(key.reveal());
        }
        redactor
    }

    /// Of a receiver by mail.
    pub(crate) fn of_mail(mail: &Mail) -> Self {
        let mut redactor = Self::default();
        if let Some((user, password)) = &mail.login {
            let password = password.reveal();
            redactor.add(password);
            redactor.add_base64(password);
            redactor.add_base64(&format!("\0{user}\0{password}"));
        }
        redactor
    }

    /// A text of the receiver as it is stored, logged and printed: without secrets and control characters, and cut.
    pub(crate) fn clean(&self, text: &str) -> String {
        let shown = self.redact(text);
        let shown: String = shown.chars().map(|char| if char.is_control() { ' ' } else { char }).collect();
        cut(shown.trim(), SHOWN_CHARS_MAX)
    }

    fn redact(&self, text: &str) -> String {
        let lower = text.to_ascii_lowercase();
        let found = self.texts.iter().flat_map(|secret| lower.match_indices(secret.as_str()));
        let mut found: Vec<(usize, usize)> =
            found.map(|(start, secret)| (start, start + secret.len())).collect();
        found.sort_unstable();
        let (mut shown, mut at) = (String::new(), 0);
        for (start, end) in found {
            if start > at || shown.is_empty() {
                shown.push_str(text.get(at..start).unwrap_or_default());
                shown.push('…');
            }
            at = at.max(end);
        }
        shown.push_str(text.get(at..).unwrap_or_default());
        shown
    }

    fn add_url(&mut self, url: &Url) {
        self.add(url.as_str());
        let (path, query) = (url.path(), url.query().unwrap_or_default());
        if path.len() > 1 {
            self.add(path);
            self.add(&format!("{path}?{query}"));
        }
        self.add(query);
        self.add(url.fragment().unwrap_or_default());
        self.add_parts(path.split('/').chain(query.split(['&', '=', ';'])).chain(query.split('&')));
        let (user, password) = (url.username(), url.password().unwrap_or_default());
        if !user.is_empty() || !password.is_empty() {
            self.add(user);
            self.add(password);
            let decode = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
            self.add_base64(&format!("{}:{}", decode(user), decode(password)));
        }
    }

    fn add_authorization(&mut self, value: &str) {
        self.add(value);
        let token = value.split_once(' ').map_or("", |(_, token)| token.trim());
        self.add(token);
        let decoded = STANDARD.decode(token).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        if let Some(login) = decoded {
            self.add(&login);
            self.add(login.split_once(':').map_or("", |(_, password)| password));
        }
        self.add_parts(token.split(['.', ',', '=', '"', ' ']));
    }

    fn add_parts<'t>(&mut self, parts: impl Iterator<Item = &'t str>) {
        for part in parts.filter(|part| part.chars().count() >= PART_CHARS_MIN) {
            self.add(part);
        }
    }

    fn add_base64(&mut self, text: &str) {
        for encoded in [STANDARD.encode(text), URL_SAFE.encode(text)] {
            self.add(encoded.trim_end_matches('='));
        }
    }

    /// Adds a text as it is, decoded, and as HTML and JSON have it.
    fn add(&mut self, text: &str) {
        let decoded = percent_decode_str(text).decode_utf8_lossy().into_owned();
        for text in [text, &decoded] {
            let json = serde_json::Value::from(text).to_string();
            let json = json.trim_matches('"');
            let html = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            let html_quoted = html.replace('"', "&quot;").replace('\'', "&#39;");
            let forms = [text, json, &json.replace('/', "\\/"), &html, &html_quoted];
            let forms = forms.into_iter().filter(|form| !form.is_empty());
            self.texts.extend(forms.map(str::to_ascii_lowercase));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn http(url: &str, authorization: Option<&str>, key: Option<&str>) -> Redactor {
        let [authorization, key] = [authorization, key].map(|text| text.map(Secret::from));
        Redactor::of_http(&Secret::from(url), authorization.as_ref(), key.as_ref())
    }

    #[test]
    fn an_echo_shows_no_secret() {
        let url = "https://me:p%40ss@hooks.example.com/services/T/B/S3CR3T/lo%2Fng-token?k=v&token=abcdef12";
        let redactor = http(url, Some("Bearer eyJhbGciOi.J9zaWduYXR1.cmU0NTY3"), Some("k3y"));
        for (echo, shown) in [
            ("Cannot POST /services/T/B/S3CR3T/lo%2Fng-token?k=v&token=abcdef12", "Cannot POST …"),
            ("Cannot POST /services/T/B/S3CR3T/lo%2Fng-token?k=v&amp;token=abcdef12!", "Cannot POST …!"),
            (r#"{"path":"\/services\/T\/B\/S3CR3T\/lo%2Fng-token"}"#, r#"{"path":"…"}"#),
            ("no route /SERVICES/t/b/s3cr3t/lo/ng-token", "no route …"),
            ("no lo/ng-token, no ABCDEF12", "no …, no …"),
            ("bad query k=v&token=abcdef12", "bad query …"),
            ("Basic bWU6cEBzcw== is not known", "Basic …== is not known"),
            ("p@ss or p%40ss", "… or …"),
            ("Bearer eyJhbGciOi.J9zaWduYXR1.cmU0NTY3", "…"),
            ("token J9zaWduYXR1 of eyJhbGciOi.J9zaWduYXR1.cmU0NTY3", "token … of …"),
            ("expected a signature with k3y", "expected a signature with …"),
            ("502 upstream is down", "502 upstream is down"),
        ] {
            assert_eq!(redactor.clean(echo), shown);
        }
        let basic = http("https://hooks.example.com/", Some("Basic bWU6aHVudGVyMg=="), None);
        assert_eq!(basic.clean("not hunter2, nor bWU6aHVudGVyMg== at /"), "not …, nor … at /");
    }

    #[test]
    fn a_text_is_cut_and_has_no_control_characters() {
        let redactor = http("https://hooks.example.com", None, None);
        assert_eq!(redactor.clean(" \u{1b}[31mred\u{7}\r\n"), "[31mred");
        let long = redactor.clean(&"x".repeat(20_000));
        assert_eq!((long.chars().count(), long.ends_with('…')), (200, true));
    }
}
