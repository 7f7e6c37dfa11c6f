//! What a program knows of a query before it runs.

use std::borrow::Cow;
use std::time::Instant;

use queryscope_protocol::{CallSite, SpanId, Text, TraceId};

/// What is known of a query when it begins. Nothing is required.
#[derive(Debug, Clone, Default)]
pub struct Query {
    pub(crate) label: Option<Cow<'static, str>>,
    pub(crate) call_site: Option<CallSite<'static>>,
    pub(crate) trace_id: Option<TraceId>,
    pub(crate) span_id: Option<SpanId>,
    pub(crate) started: Option<Instant>,
}

impl Query {
    /// A query that nothing is known of.
    pub fn new() -> Self {
        Self::default()
    }

    /// Names the query. Runs with the same label are compared with each other.
    #[must_use]
    pub fn label(mut self, label: impl Into<Cow<'static, str>>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// Says where the program runs the query: source file, line counted from 1, function.
    #[must_use]
    pub fn call_site(
        mut self,
        filepath: impl Into<Text<'static>>,
        line: u32,
        function: impl Into<Text<'static>>,
    ) -> Self {
        let (filepath, function) = (filepath.into(), function.into());
        self.call_site = Some(CallSite { filepath, lineno: line.into(), function });
        self
    }

    /// Names the distributed trace the query is part of.
    #[must_use]
    pub fn trace_id(mut self, id: TraceId) -> Self {
        self.trace_id = Some(id);
        self
    }

    /// Names the span of the trace that the query is.
    #[must_use]
    pub fn span_id(mut self, id: SpanId) -> Self {
        self.span_id = Some(id);
        self
    }

    /// Sets when the query started, where that was before it is registered: when its planning began.
    #[must_use]
    pub fn started(mut self, started: Instant) -> Self {
        self.started = Some(started);
        self
    }
}
