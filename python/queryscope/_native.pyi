from collections.abc import Sequence
from typing import TypedDict

class Dropped(TypedDict):
    overflow: int
    expired: int
    too_large: int
    refused: int
    forbidden: int
    unwritable: int
    exit: int

class Stats(TypedDict):
    enqueued: int
    sent: int
    queued: int
    queued_bytes: int
    dropped: Dropped
    errors: int
    unfollowed: int

class ActiveQuery:
    @property
    def id(self) -> str: ...
    def finish(self) -> None: ...
    def fail(self, error: str) -> None: ...
    def cancel(self) -> None: ...

class PolarsQuery:
    def __init__(self, logical: bytes, physical: bytes, handle: object) -> None: ...
    def set_planning_ms(self, planning_ms: float) -> None: ...
    def set_user_code_ns(self, user_code_ns: int) -> None: ...

class Telemetry:
    def __init__(
        self,
        engine: str,
        engine_version: str,
        *,
        exporters: Sequence[tuple[str, str, str | None, float | None] | tuple[str, str, int, int]],
        service: str | None = None,
        environment: str | None = None,
        redact: Sequence[str] = ...,
        max_queue_bytes: int | None = None,
    ) -> None: ...
    def begin(
        self,
        source: object,
        *,
        label: str | None = None,
        call_site: tuple[str, int, str] | None = None,
        trace_id: str | None = None,
        span_id: str | None = None,
        started_ago: float = 0.0,
    ) -> ActiveQuery: ...
    def stats(self) -> Stats: ...
    def last(self) -> str | None: ...
    def shutdown(self) -> None: ...
