"""The span of OpenTelemetry that a query runs in, where the program traces."""

from __future__ import annotations

import sys


def current_span() -> tuple[str | None, str | None]:
    """Trace id and span id in hexadecimal digits, or `None` twice."""
    trace = sys.modules.get("opentelemetry.trace")
    if trace is None:
        return None, None
    context = trace.get_current_span().get_span_context()
    if not context.is_valid:
        return None, None
    return format(context.trace_id, "032x"), format(context.span_id, "016x")
