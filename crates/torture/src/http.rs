//! A client over one connection.

use std::time::Duration;

use flate2::bufread::GzDecoder;
use serde_json::Value;

const TIMEOUT: Duration = Duration::from_mins(1);
const ANSWER_BYTES_MAX: u64 = 64 << 20;

/// Sends to one service.
#[derive(Debug, Clone)]
pub struct Client {
    agent: ureq::Agent,
    url: String,
}

/// An answer, whatever its status.
#[derive(Debug)]
pub struct Answer {
    /// Its status.
    pub status: u16,
    /// Its body.
    pub body: Vec<u8>,
}

impl Client {
    /// A client of the service at a URL.
    pub fn new(url: &str) -> Self {
        let agent = ureq::Agent::config_builder()
            .timeout_global(Some(TIMEOUT))
            .http_status_as_error(false)
            .build()
            .new_agent();
        Self { agent, url: url.to_owned() }
    }

    /// Reads a path; the error of a service that is not there.
    pub fn get(&self, path: &str) -> Result<Answer, ureq::Error> {
        Answer::of(self.agent.get(format!("{}{path}", self.url)).call()?)
    }

    /// Posts a batch, packed when it begins as gzip does; an error says nothing of whether it is stored.
    pub fn post(&self, token: &str, batch: &[u8]) -> Result<Answer, ureq::Error> {
        let mut request = self
            .agent
            .post(format!("{}/v1/events", self.url))
            .header("Authorization", format!("Bearer {token}"))
            .header("Content-Type", "application/x-ndjson");
        if batch.starts_with(&[0x1f, 0x8b]) {
            request = request.header("Content-Encoding", "gzip");
        }
        Answer::of(request.send(batch)?)
    }

    /// Asks a path for something, with a body of JSON.
    pub fn ask(&self, path: &str, body: &Value) -> Result<Answer, ureq::Error> {
        let request = self.agent.post(format!("{}{path}", self.url));
        Answer::of(request.header("Content-Type", "application/json").send(body.to_string())?)
    }
}

impl Client {
    /// The lines of a query's recording; `None` while there is none.
    ///
    /// # Panics
    /// When there is no answer, or one that is no recording.
    pub fn recording(&self, query_id: impl std::fmt::Display) -> Option<Vec<String>> {
        let answer = self.get(&format!("/api/queries/{query_id}/recording")).expect("an answer");
        if answer.status == 404 {
            return None;
        }
        assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
        // As browsers do: they stop after the first gzip member.
        let mut decoder = GzDecoder::new(&answer.body[..]);
        let text = std::io::read_to_string(&mut decoder).expect("gzip of text");
        assert!(decoder.into_inner().is_empty(), "it is one member");
        Some(text.lines().map(Into::into).collect())
    }
}

impl Answer {
    fn of(mut response: ureq::http::Response<ureq::Body>) -> Result<Self, ureq::Error> {
        let body = response.body_mut().with_config().limit(ANSWER_BYTES_MAX).read_to_vec()?;
        Ok(Self { status: response.status().as_u16(), body })
    }

    /// The body as JSON.
    ///
    /// # Panics
    /// When it is none.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    /// Asserts 202 and gives the events accepted and the duplicates.
    ///
    /// # Panics
    /// When it is another status.
    pub fn counts(&self) -> (u64, u64) {
        assert_eq!(self.status, 202, "{}", String::from_utf8_lossy(&self.body));
        let json = self.json();
        let count = |name: &str| json[name].as_u64().unwrap_or_else(|| panic!("no {name} in {json}"));
        (count("accepted"), count("duplicates"))
    }
}
