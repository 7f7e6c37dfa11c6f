#!/usr/bin/env python3
"""Checks wheels and archives of a release: what they hold, and that they are not larger than they may be.

    scripts/release_check.py [--debug] FOLDER

With `--debug` sizes are not checked: builds without optimisation are larger. A binary for Linux in an archive, and that
of a wheel for musl, must be static. Exits with 1 and names what is wrong.
"""

import argparse
import re
import struct
import sys
import tarfile
import zipfile
from pathlib import Path

WHEEL_BYTES_MAX = 14_000_000
BINARY_BYTES_MAX = 25_000_000
ELF = b"\x7fELF"
PT_INTERP = 3
EXECUTABLE = 0o111
WHEEL_FILES = (
    r"queryscope/_native\.abi3\.so",
    r"queryscope/__init__\.py",
    r"queryscope/_native\.pyi",
    r"queryscope/py\.typed",
    r"queryscope/run\.html",
    r"queryscope-[\d.]+\.data/scripts/queryscope",
    r"queryscope-[\d.]+\.dist-info/METADATA",
)
ARCHIVE_FILES = ("queryscope", "LICENSE", "README.md", "CHANGELOG.md", "queryscope.1", "completions/queryscope.bash")


def is_static(binary: bytes) -> bool:
    """Whether a program for Linux (ELF, 64 bits) is loaded without a dynamic linker."""
    table, entry_bytes, entries = *struct.unpack_from("<Q", binary, 32), *struct.unpack_from("<HH", binary, 54)
    kinds = (struct.unpack_from("<I", binary, table + at * entry_bytes)[0] for at in range(entries))
    return PT_INTERP not in kinds


def too_large(what: str, size: int, limit: int) -> list[str]:
    return [] if size <= limit else [f"{what} has {size / 1e6:.1f} MB, and may have {limit / 1e6:.0f} MB"]


def check_wheel(path: Path, *, sizes: bool) -> list[str]:
    problems = too_large("the wheel", path.stat().st_size, WHEEL_BYTES_MAX) if sizes else []
    with zipfile.ZipFile(path) as wheel:
        names = wheel.namelist()
        missing = [wanted for wanted in WHEEL_FILES if not any(re.fullmatch(wanted, name) for name in names)]
        problems += [f"the wheel has no {wanted}" for wanted in missing]
        foreign = [name for name in names if "/tests/" in name or name.endswith((".pyc", ".rs"))]
        problems += [f"the wheel has {name}" for name in foreign]
        for info in wheel.infolist():
            if not info.filename.endswith(".data/scripts/queryscope"):
                continue
            if not (info.external_attr >> 16) & EXECUTABLE:
                problems.append("the binary in the wheel is not executable")
            problems += check_binary(wheel.read(info), sizes=sizes, static="musllinux" in path.name)
    return problems


def check_archive(path: Path, *, sizes: bool) -> list[str]:
    root = path.name.removesuffix(".tar.gz")
    with tarfile.open(path) as archive:
        names = archive.getnames()
        problems = [f"the archive has no {file}" for file in ARCHIVE_FILES if f"{root}/{file}" not in names]
        if f"{root}/queryscope" in names:
            member = archive.getmember(f"{root}/queryscope")
            file = archive.extractfile(member)
            if not member.mode & EXECUTABLE:
                problems.append("the binary in the archive is not executable")
            problems += check_binary(file.read() if file else b"", sizes=sizes, static="-linux-" in path.name)
    return problems


def check_binary(binary: bytes, *, sizes: bool, static: bool) -> list[str]:
    problems = too_large("the binary", len(binary), BINARY_BYTES_MAX) if sizes else []
    if static and not (binary.startswith(ELF) and is_static(binary)):
        problems.append("the binary is not a static program for Linux")
    return problems


def check(folder: Path, *, sizes: bool = True) -> list[str]:
    """What is wrong with the wheels and archives in a folder."""
    checks = [(path, check_wheel) for path in sorted(folder.glob("*.whl"))]
    checks += [(path, check_archive) for path in sorted(folder.glob("*.tar.gz"))]
    if not checks:
        return [f"{folder} has neither wheels nor archives"]
    return [f"{path.name}: {problem}" for path, judge in checks for problem in judge(path, sizes=sizes)]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--debug", action="store_true", help="builds without optimisation: do not check sizes")
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    problems = check(arguments.folder, sizes=not arguments.debug)
    print("\n".join(problems) or f"{arguments.folder}: sound")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
