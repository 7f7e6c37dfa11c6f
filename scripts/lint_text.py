#!/usr/bin/env python3
"""Checks what compilers do not: line length, links, and the paths that pages and comments name.

Run from anywhere inside the repository: `scripts/lint_text.py`. It reads every tracked file and exits with 1 where one
of these rules is broken:

- A line of Rust, Python, TypeScript or Svelte has at most 120 characters. Rows of a table in a comment and raw
  strings do not count: they cannot be wrapped without a change of what they say.
- A relative link of a Markdown page leads to a tracked file or folder, and its anchor to a heading of that page.
- A path that a page or a comment names exists, in the repository, in the crate or beside the file. A file that is named
  without its folder (`writer.rs`), or with some of its folders (`store/writer.rs`), exists somewhere. Files that git
  ignores are made by a build and may be absent.
- `ADR 7` names a record in docs.
- No line of a doc comment begins with "Who", "Whoever" or "That which"; "can not" is written "cannot".
"""

import functools
import itertools
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator

LINE_MAX = 120
CODE = (".rs", ".py", ".ts", ".svelte")
COMMENTED = {".rs": "//", ".ts": "//", ".svelte": "//", ".py": "#", ".toml": "#"}
GENERATED = ("ui/src/api/schema.ts", "ui/src/model/run/vocabulary.ts")
SOURCES = "rs|ts|mjs|svelte|py|md|sql|toml|json"

LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE_SPAN = re.compile(r"`[^`]*`")
NAMED_FILE = re.compile(rf"`((?:[\w.-]+/)*[\w.-]+\.(?:{SOURCES}))`")
RECORD = re.compile(r"\bADRs? (\d+)")
RAW_STRING = re.compile(r'\bb?r(#*)".*?"\1', re.DOTALL)
TABLE_ROW = re.compile(r"\s*//[/!] \|")
RIDDLE = re.compile(r"\s*//[/!] (Who|Whoever|That which) (?!.*\?)")

Problem = tuple[str, int, str]


class Tree:
    """The tracked files of a repository."""

    def __init__(self, files: Iterable[str], is_ignored: Callable[[str], bool] = lambda _: False) -> None:
        self.files = set(files)
        self.is_ignored = is_ignored
        parents = ("/".join(parts[:end]) for parts in map(str.split, self.files, itertools.repeat("/"))
                   for end in range(1, len(parts)))
        self.folders = set(parents)
        self.packages = {os.path.dirname(file) for file in self.files if file.endswith("Cargo.toml")}
        tops = sorted(folder for folder in self.folders if "/" not in folder)
        self.path = re.compile(
            rf"(?<![\w/.:$~<{{@*-])((?:{'|'.join(map(re.escape, tops)) or '$^'})/[\w./*{{}},-]*[\w*}}])"
        )
        self.names: dict[str, list[list[str]]] = {}
        for file in self.files:
            self.names.setdefault(os.path.basename(file), []).append(file.split("/"))

    def has(self, path: str) -> bool:
        """Whether there is such a file or folder; `*` and `{a,b}` stand for what they stand for in a shell."""
        if path in self.files or path in self.folders:
            return True
        if not re.search(r"[*{]", path):
            return self.is_ignored(path)
        pattern = re.escape(path).replace(r"\*\*", ".*").replace(r"\*", "[^/]*")
        pattern = re.sub(r"\\\{([^{}]*)\\\}", lambda found: f"({found[1].replace(',', '|')})", pattern)
        return any(re.fullmatch(pattern, one) for one in itertools.chain(self.files, self.folders))

    def has_from(self, file: str, path: str) -> bool:
        """Whether a path exists from the root, from the file's crate, or from the file's folder."""
        folder = os.path.dirname(file)
        crates = [package for package in self.packages if f"{file}/".startswith(f"{package}/")]
        return any(self.has(os.path.normpath(os.path.join(start, path))) for start in ["", folder, *crates])

    def has_somewhere(self, path: str) -> bool:
        """Whether a file of this name lies below folders of these names, in this order."""
        wanted = [part for part in path.split("/") if part not in ("", ".", "..")]

        def is_below(parts: list[str]) -> bool:
            left = iter(parts)
            return all(part in left for part in wanted)

        return any(map(is_below, self.names.get(wanted[-1], []))) or self.is_ignored(path)

    def has_record(self, number: str) -> bool:
        """Whether there is a decision record of this number."""
        return any(f"/adr/{int(number):04}-" in file for file in self.files)


def suffix(file: str) -> str:
    """The end of a file's name, from the last dot."""
    return os.path.splitext(file)[1]


def comment(file: str, line: str) -> str:
    """The part of a line that is prose: all of a page, the comment of code."""
    if suffix(file) == ".md":
        return line
    found = re.search(rf"(?<![:\"'(]){COMMENTED[suffix(file)]}.*", line)
    return found[0] if found else ""


def slug(heading: str) -> str:
    """The anchor of a heading, as GitHub makes it."""
    text = LINK.sub("]", heading).replace("`", "").replace("[", "").replace("]", "")
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")


def prose_lines(text: str) -> Iterator[tuple[int, str]]:
    """The numbered lines of a page that lie in no block of code."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield number, line


def anchors(text: str) -> set[str]:
    """The anchors of a page."""
    found: dict[str, int] = {}
    for _, line in prose_lines(text):
        if match := re.match(r"#+ (.*)", line):
            name = slug(match[1])
            found[name] = found.get(name, -1) + 1
    return {f"{name}-{more}" if more else name for name, last in found.items() for more in range(last + 1)}


def line_problems(file: str, text: str) -> Iterator[Problem]:
    """Lines that are too long."""
    if suffix(file) not in CODE or file in GENERATED:
        return
    if suffix(file) == ".rs":
        text = RAW_STRING.sub(lambda found: "\n" * found[0].count("\n"), text)
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > LINE_MAX and not TABLE_ROW.match(line):
            yield file, number, f"{len(line)} characters, {LINE_MAX} are allowed"


def link_problems(tree: Tree, file: str, text: str, read: Callable[[str], str]) -> Iterator[Problem]:
    """Relative links of a page that lead nowhere."""
    if suffix(file) != ".md":
        return
    for number, line in prose_lines(text):
        for link in LINK.findall(CODE_SPAN.sub("", line)):
            if re.match(r"[a-z]+:", link):
                continue
            path, _, anchor = link.partition("#")
            target = os.path.normpath(os.path.join(os.path.dirname(file), path)) if path else file
            if not tree.has(target):
                yield file, number, f"the link {link} leads nowhere"
            elif anchor and suffix(target) == ".md" and anchor not in anchors(read(target)):
                yield file, number, f"the link {link} leads to no heading of {target}"


def reference_problems(tree: Tree, file: str, text: str) -> Iterator[Problem]:
    """Paths, files and records that a page or a comment names, and that do not exist."""
    if suffix(file) != ".md" and suffix(file) not in COMMENTED:
        return
    for number, line in enumerate(text.splitlines(), 1):
        said = comment(file, line)
        if not said:
            continue
        links = " ".join(LINK.findall(said))
        for path in tree.path.findall(LINK.sub("]", said)):
            if path not in links and not tree.has_from(file, path):
                yield file, number, f"there is no {path}"
        for name in NAMED_FILE.findall(said):
            if not tree.path.match(name) and not tree.has_somewhere(name):
                yield file, number, f"there is no {name}"
        for record in RECORD.findall(said):
            if not tree.has_record(record):
                yield file, number, f"there is no ADR {record}"


def word_problems(file: str, text: str) -> Iterator[Problem]:
    """Comments and pages that read as riddles."""
    if suffix(file) not in (".md", ".rs", ".ts", ".svelte"):
        return
    for number, line in enumerate(text.splitlines(), 1):
        if found := RIDDLE.match(line):
            yield file, number, f'begins with "{found[1]}": name the thing instead'
        if re.search(r"\bcan not\b", line):
            yield file, number, '"can not": write "cannot"'


def problems(tree: Tree, read: Callable[[str], str]) -> Iterator[Problem]:
    """Everything that breaks a rule."""
    suffixes = {*CODE, *COMMENTED, ".md"}
    for file in sorted(file for file in tree.files if suffix(file) in suffixes):
        text = read(file)
        yield from line_problems(file, text)
        yield from link_problems(tree, file, text, read)
        yield from reference_problems(tree, file, text)
        yield from word_problems(file, text)


def git(*arguments: str) -> str:
    """What git answers."""
    return subprocess.run(["git", *arguments], capture_output=True, text=True, check=False).stdout


def main() -> int:
    """Checks the repository this file lies in."""
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    listed = git("ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    files = [file for file in listed if file and os.path.isfile(file)]

    @functools.cache
    def read(file: str) -> str:
        with open(file, encoding="utf-8") as opened:
            return opened.read()

    found = list(problems(Tree(files, lambda path: bool(git("check-ignore", path))), read))
    for file, number, what in found:
        print(f"{file}:{number}: {what}")
    print(f"{len(files)} files, {len(found)} problems in their text")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
