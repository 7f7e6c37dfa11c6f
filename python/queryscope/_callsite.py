"""Where a program runs a query: its own line, not that of a library."""

from __future__ import annotations

import os
import sys

_OWN_FOLDER = os.path.dirname(__file__) + os.sep
_FRAMES_MAX = 60


def call_site(packages: tuple[str, ...]) -> tuple[str, int, str] | None:
    """File, line and function of the nearest caller outside of these packages, or `None`."""
    frame = sys._getframe(1)
    for _ in range(_FRAMES_MAX):
        if frame is None:
            return None
        module = frame.f_globals.get("__name__", "")
        package = module.partition(".")[0] if isinstance(module, str) else ""
        path = frame.f_code.co_filename
        if package not in packages and not path.startswith(_OWN_FOLDER):
            return path, frame.f_lineno, frame.f_code.co_name
        frame = frame.f_back  # type: ignore[assignment]
    return None
