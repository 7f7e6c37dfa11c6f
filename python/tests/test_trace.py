"""The caller's span: a query names the span of OpenTelemetry that it ran in."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import daft
import datafusion
import duckdb
import polars as pl
import pytest
from opentelemetry.sdk.trace import TracerProvider

import queryscope
from conftest import Sent

TRACER = TracerProvider().get_tracer(__name__)


def run_polars() -> None:
    pl.LazyFrame({"a": [1, 2]}).filter(pl.col("a") > 1).collect()


def run_duckdb() -> None:
    with duckdb.connect() as connection:
        connection.execute("select count(*) from range(10)").fetchall()


def run_datafusion() -> None:
    datafusion.SessionContext().sql("select 1 + 1").collect()


def run_daft() -> None:
    daft.from_pydict({"a": [1, 2]}).where(daft.col("a") > 1).collect()


@pytest.mark.parametrize("run", [run_polars, run_duckdb, run_datafusion, run_daft])
def test_a_query_names_the_span_it_ran_in(sent: Sent, run: Callable[[], None]) -> None:
    with TRACER.start_as_current_span("job") as span, queryscope.label("traced"):
        run()
    with queryscope.label("alone"):
        run()
    context = span.get_span_context()
    traced, alone = sent.profile("traced"), sent.profile("alone")
    assert traced["trace_id"] == format(context.trace_id, "032x")
    assert traced["span_id"] == format(context.span_id, "016x")
    assert [alone.get("trace_id"), alone.get("span_id")] == [None, None]


def test_a_program_that_does_not_trace_loads_no_tracer() -> None:
    program = (
        "import sys, queryscope; from queryscope._trace import current_span; "
        "assert current_span() == (None, None); assert 'opentelemetry' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
