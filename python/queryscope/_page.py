"""A run as a page of its own, which a notebook shows in a frame.

The page is what the dashboard saves when a run is shared: `make wheel` puts it into the package. It holds its script
and styles, and its policy lets it load nothing. The frame keeps its script away from the notebook's page.
"""

from __future__ import annotations

import functools
import html
import json
import re
import secrets
from pathlib import Path

_TEMPLATE = Path(__file__).with_name("run.html")
_MARK = re.compile(r"\{\{(title|events|nonce)\}\}")
_FRAME_STYLE = "width:100%;height:40rem;border:1px solid #8884;border-radius:6px;resize:vertical"


@functools.cache
def _template() -> str | None:
    """The page without a run; `None` in a package that was not built by `make wheel`."""
    try:
        return _TEMPLATE.read_text("utf-8")
    except FileNotFoundError:
        return None


def page(title: str, query_id: str, profile: str) -> str | None:
    """The whole document. `profile` is JSON on one line."""
    template = _template()
    if template is None:
        return None
    event = (
        f'{{"schema":"engine-telemetry/events@1","seq":2,"type":"query.finished",'
        f'"query_id":{json.dumps(query_id)},"profile":{profile}}}'
    )
    values = {
        "title": html.escape(title),
        # JSON may write any sign as its code: so nothing in it can end the script it stands in.
        "events": event.replace("<", "\\u003c"),
        "nonce": secrets.token_hex(16),
    }
    return _MARK.sub(lambda mark: values[mark[1]], template)


def frame(title: str, document: str, text: str) -> str:
    """A document in a frame. Viewers that show no frames show the text below it."""
    return (
        f'<iframe title="{html.escape(title)}" sandbox="allow-scripts" style="{_FRAME_STYLE}" '
        f'srcdoc="{html.escape(document)}"></iframe>'
        f"<details><summary>As text</summary>{plain(text)}</details>"
    )


def plain(text: str) -> str:
    """A text as it stands."""
    return f"<pre>{html.escape(text)}</pre>"
