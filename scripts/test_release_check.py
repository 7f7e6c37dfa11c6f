"""What release_check.py finds, and what it lets pass: `python3 -m unittest discover scripts`."""

import io
import struct
import tarfile
import tempfile
import unittest
import zipfile
from pathlib import Path
from unittest import mock

import release_check
from release_check import ARCHIVE_FILES, PT_INTERP, check

PT_LOAD = 1
WHEEL = "queryscope-1.2.3-cp310-abi3-musllinux_1_2_x86_64.whl"
ARCHIVE = "queryscope-1.2.3-x86_64-unknown-linux-musl.tar.gz"
FILES = (
    "queryscope/_native.abi3.so",
    "queryscope/__init__.py",
    "queryscope/_native.pyi",
    "queryscope/py.typed",
    "queryscope/run.html",
    "queryscope-1.2.3.data/scripts/queryscope",
    "queryscope-1.2.3.dist-info/METADATA",
)


def elf(*segments: int) -> bytes:
    """A program for Linux with segments of these kinds, as far as its table of them."""
    header = b"\x7fELF".ljust(32, b"\0") + struct.pack("<Q", 64) + b"\0" * 14 + struct.pack("<HH", 56, len(segments))
    return header.ljust(64, b"\0") + b"".join(struct.pack("<I", kind).ljust(56, b"\0") for kind in segments)


class Release(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def wheel(self, files: tuple[str, ...] = FILES, binary: bytes = elf(PT_LOAD), mode: int = 0o755) -> None:
        with zipfile.ZipFile(self.folder / WHEEL, "w") as wheel:
            for name in files:
                info = zipfile.ZipInfo(name)
                info.external_attr = mode << 16
                wheel.writestr(info, binary if name.endswith("/scripts/queryscope") else b"")

    def archive(self, files: tuple[str, ...] = ARCHIVE_FILES, binary: bytes = elf(PT_LOAD), mode: int = 0o755) -> None:
        with tarfile.open(self.folder / ARCHIVE, "w:gz") as archive:
            for name in files:
                content = binary if name == "queryscope" else b""
                info = tarfile.TarInfo(f"{ARCHIVE.removesuffix('.tar.gz')}/{name}")
                info.size, info.mode = len(content), mode
                archive.addfile(info, io.BytesIO(content))

    def test_what_a_release_has_is_sound(self) -> None:
        self.wheel()
        self.archive()
        self.assertEqual(check(self.folder), [])

    def test_an_empty_folder_is_none(self) -> None:
        self.assertEqual(check(self.folder), [f"{self.folder} has neither wheels nor archives"])

    def test_what_is_missing_or_too_much_is_named(self) -> None:
        self.wheel((*FILES[1:], "queryscope/tests/conftest.py"))
        self.archive(ARCHIVE_FILES[1:])
        self.assertEqual(
            check(self.folder),
            [
                rf"{WHEEL}: the wheel has no {release_check.WHEEL_FILES[0]}",
                f"{WHEEL}: the wheel has queryscope/tests/conftest.py",
                f"{ARCHIVE}: the archive has no queryscope",
            ],
        )

    def test_a_binary_must_be_static_and_executable(self) -> None:
        self.wheel(binary=elf(PT_LOAD, PT_INTERP), mode=0o644)
        self.archive(binary=b"#!/bin/sh")
        self.assertEqual(
            check(self.folder),
            [
                f"{WHEEL}: the binary in the wheel is not executable",
                f"{WHEEL}: the binary is not a static program for Linux",
                f"{ARCHIVE}: the binary is not a static program for Linux",
            ],
        )

    def test_sizes_are_checked_unless_it_is_a_debug_build(self) -> None:
        self.wheel()
        with mock.patch.multiple(release_check, WHEEL_BYTES_MAX=10, BINARY_BYTES_MAX=20):
            self.assertEqual(len(check(self.folder)), 2)
            self.assertEqual(check(self.folder, sizes=False), [])


if __name__ == "__main__":
    unittest.main()
