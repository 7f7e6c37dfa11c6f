"""Runs one query of `regressions.py` in a process of its own, each time a line comes in."""

import argparse
import os
import sys
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", required=True)
    parser.add_argument("--folder", required=True, type=Path)
    parser.add_argument("--worse", action="store_true")
    parser.add_argument("--procs", help="the cgroup to be in")
    named = parser.parse_args()

    import queryscope
    from regressions import REGRESSIONS

    queries = REGRESSIONS[named.name].make(named.folder)
    query = queries[named.worse]
    if named.procs:
        Path(named.procs).write_text(str(os.getpid()))
    # What an engine does once a process is no run of the query.
    query()
    queryscope.install(os.environ["QUERYSCOPE_URL"], service="regressions")
    print("ready", flush=True)
    for _ in sys.stdin:
        with queryscope.label(named.name):
            query()
        print("ran", flush=True)
    queryscope.uninstall()


if __name__ == "__main__":
    main()
