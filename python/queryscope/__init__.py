"""Follows the queries of this process and sends what they do to a queryscope service.

>>> import queryscope
>>> with queryscope.label("nightly/orders"):
...     pass  # queries that run here carry the label

`install` begins to follow, `uninstall` ends it, `stats` counts what became of every event, `last` shows the run that
ended last. Telemetry never makes a query fail: one warning names an engine that cannot be followed.
"""

from queryscope._exporters import ConsoleTable, EventsFile, Http, ProfilesFile
from queryscope._install import install, last, stats, uninstall
from queryscope._label import label

__all__ = ["ConsoleTable", "EventsFile", "Http", "ProfilesFile", "install", "label", "last", "stats", "uninstall"]
