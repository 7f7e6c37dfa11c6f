"""What makes a whole process slower: a quota of the processor, a slow disk, other programs.

Quota and disk need cgroups of version 1 that this user may write.
"""

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

CGROUPS = Path("/sys/fs/cgroup")
PERIOD_US = 100_000
QUOTA_US = 5_000
DISK_BYTES_A_SECOND = 30_000_000
"""Of a core, and of the disk, that are left."""


class NotHere(Exception):
    """This machine cannot do it."""


@contextlib.contextmanager
def group(controller: str, settings: dict[str, str]) -> Iterator[Path]:
    folder = CGROUPS / controller
    try:
        made = Path(tempfile.mkdtemp(prefix="queryscope-", dir=folder))
    except OSError as error:
        raise NotHere(f"no cgroup can be made in {folder}: {error.strerror}") from error
    try:
        try:
            for name, value in settings.items():
                (made / name).write_text(value)
        except OSError as error:
            raise NotHere(f"{made}/{name} takes no {value!r}: {error.strerror}") from error
        yield made / "cgroup.procs"
    finally:
        # What ran in it has ended.
        made.rmdir()


@contextlib.contextmanager
def quota(_: Path) -> Iterator[Path]:
    settings = {"cpu.cfs_period_us": str(PERIOD_US), "cpu.cfs_quota_us": str(QUOTA_US)}
    with group("cpu", settings) as procs:
        yield procs


@contextlib.contextmanager
def disk(folder: Path) -> Iterator[Path]:
    device = os.stat(folder).st_dev
    limit = f"{os.major(device)}:{os.minor(device)} {DISK_BYTES_A_SECOND}"
    with group("blkio", {"blkio.throttle.read_bps_device": limit}) as procs:
        yield procs


@contextlib.contextmanager
def neighbours(_: Path) -> Iterator[None]:
    """Four programs a core that never rest."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(4 * (os.cpu_count() or 1))]
    try:
        yield None
    finally:
        for loop in loops:
            loop.kill()
        for loop in loops:
            loop.wait()


AROUND: dict[str, Callable[[Path], contextlib.AbstractContextManager[Path | None]]] = {
    "quota": quota,
    "disk": disk,
    "neighbours": neighbours,
}
