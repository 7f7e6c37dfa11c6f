"""Counts of what became of every event."""

from __future__ import annotations

from typing import TypedDict


class Dropped(TypedDict):
    """Events that were never sent, by reason."""

    overflow: int
    """The queue was full."""
    expired: int
    """They could not be delivered for ten minutes."""
    too_large: int
    """Too large for the service, even alone."""
    refused: int
    """The service refused their batch."""
    forbidden: int
    """The service does not let this process send."""
    unwritable: int
    """They hold values that the format cannot."""
    exit: int
    """They were left when telemetry ended."""


class Stats(TypedDict):
    """What became of the events, summed over engines and exporters."""

    enqueued: int
    """Events that were made."""
    sent: int
    """Events that arrived."""
    queued: int
    """Events that wait or are on their way."""
    queued_bytes: int
    """Bytes of those."""
    dropped: Dropped
    errors: int
    """Attempts to send that failed."""
    unfollowed: int
    """Queries that were not followed: there were too many at a time, or telemetry had ended."""


def none() -> Stats:
    """The counts before anything happened."""
    dropped = Dropped(overflow=0, expired=0, too_large=0, refused=0, forbidden=0, unwritable=0, exit=0)
    return Stats(enqueued=0, sent=0, queued=0, queued_bytes=0, dropped=dropped, errors=0, unfollowed=0)


def plus(left: Stats, right: Stats) -> Stats:
    """The counts of both."""
    return Stats(
        enqueued=left["enqueued"] + right["enqueued"],
        sent=left["sent"] + right["sent"],
        queued=left["queued"] + right["queued"],
        queued_bytes=left["queued_bytes"] + right["queued_bytes"],
        dropped=_dropped(left["dropped"], right["dropped"]),
        errors=left["errors"] + right["errors"],
        unfollowed=left["unfollowed"] + right["unfollowed"],
    )


def _dropped(left: Dropped, right: Dropped) -> Dropped:
    return Dropped(
        overflow=left["overflow"] + right["overflow"],
        expired=left["expired"] + right["expired"],
        too_large=left["too_large"] + right["too_large"],
        refused=left["refused"] + right["refused"],
        forbidden=left["forbidden"] + right["forbidden"],
        unwritable=left["unwritable"] + right["unwritable"],
        exit=left["exit"] + right["exit"],
    )
