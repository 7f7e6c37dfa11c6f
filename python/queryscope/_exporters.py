"""Places that events go to."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

_FILE_BYTES = 64 << 20
_KEPT_FILES = 4
Option = tuple[str, str, str | None, float | None] | tuple[str, str, int, int] | str


@dataclass(frozen=True)
class Http:
    """A queryscope service. Without `token`, the variable `TELEMETRY_TOKEN` has it; `timeout` is in seconds."""

    url: str
    token: str | None = None
    timeout: float | None = None

    def option(self, engine: str) -> Option:
        return ("http", self.url, self.token, self.timeout)


@dataclass(frozen=True)
class EventsFile:
    """A file of events, which `queryscope import` reads. It is compressed where its path ends in `.gz`.

    `{engine}` and `{pid}` in the path stand for the engine's name and the process id. A path without `{engine}` gets
    the engine's name: `events.jsonl` becomes `events-polars.jsonl`. A file that would exceed `max_bytes` is renamed to
    `name.1.jsonl`, and `kept_files` renamed files are kept.
    """

    path: str | os.PathLike[str]
    max_bytes: int = _FILE_BYTES
    kept_files: int = _KEPT_FILES

    def option(self, engine: str) -> Option:
        return ("events", path_of(self.path, engine), self.max_bytes, self.kept_files)


@dataclass(frozen=True)
class ProfilesFile:
    """A file of profiles, one line for each run that has ended: named as an `EventsFile`, and never compressed."""

    path: str | os.PathLike[str]
    max_bytes: int = _FILE_BYTES
    kept_files: int = _KEPT_FILES

    def option(self, engine: str) -> Option:
        return ("profiles", path_of(self.path, engine), self.max_bytes, self.kept_files)


@dataclass(frozen=True)
class ConsoleTable:
    """A table on standard error, with a line for each run that has ended: to try things out."""

    def option(self, engine: str) -> Option:
        return "console"


Exporter = Http | EventsFile | ProfilesFile | ConsoleTable


def path_of(path: str | os.PathLike[str], engine: str) -> str:
    """The path of one engine and this process: several engines must not write to one file."""
    text = os.fspath(path).replace("{engine}", engine).replace("{pid}", str(os.getpid()))
    if "{engine}" not in os.fspath(path):
        whole = Path(text)
        head, dot, rest = whole.name.partition(".")
        text = str(whole.with_name(f"{head}-{engine}{dot}{rest}"))
    Path(text).parent.mkdir(parents=True, exist_ok=True)
    return text


def default_file() -> EventsFile:
    """Where events go when no service is named: a folder for the state of programs, of bounded size."""
    state = os.environ.get("XDG_STATE_HOME") or os.path.join(Path.home(), ".local", "state")
    return EventsFile(os.path.join(state, "queryscope", "events-{engine}-{pid}.jsonl.gz"), 16 << 20, 2)
