//! The distributed trace that a query is part of.

use queryscope_client::Query;

/// Adds the ids of the active OpenTelemetry context, where there is one.
#[cfg(feature = "opentelemetry")]
pub(crate) fn describe(query: Query) -> Query {
    use opentelemetry::Context;
    use opentelemetry::trace::TraceContextExt;
    use queryscope_client::protocol::{SpanId, TraceId};

    let span = Context::map_current(|context| context.span().span_context().clone());
    if !span.is_valid() {
        return query;
    }
    query
        .trace_id(TraceId::new(u128::from_be_bytes(span.trace_id().to_bytes())))
        .span_id(SpanId::new(u64::from_be_bytes(span.span_id().to_bytes())))
}

/// Adds nothing: the feature `opentelemetry` is off.
#[cfg(not(feature = "opentelemetry"))]
pub(crate) fn describe(query: Query) -> Query {
    query
}
