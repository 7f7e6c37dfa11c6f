"""What lint_text.py finds, and what it lets pass: `python3 -m unittest discover scripts`."""

import unittest

from lint_text import Tree, anchors, problems


def found(files: dict[str, str], ignored: tuple[str, ...] = ()) -> list[tuple[str, int, str]]:
    """The problems of a repository of these files."""
    tree = Tree(files, lambda path: path.startswith(ignored) if ignored else False)
    return list(problems(tree, files.__getitem__))


class LineLength(unittest.TestCase):
    def test_long_lines_of_code_are_found(self) -> None:
        for file in ("a.rs", "a.py", "a.ts", "a.svelte"):
            long = (file, 2, "121 characters, 120 are allowed")
            self.assertEqual(found({file: "x" * 120 + "\n" + "ä" * 121}), [long])

    def test_the_line_of_a_raw_string_counts_without_it(self) -> None:
        code = 'let a = r"\n\n"; ' + "x" * 121
        self.assertEqual([line for _, line, _ in found({"a.rs": code})], [3])

    def test_raw_strings_tables_and_other_files_pass(self) -> None:
        long = "x" * 121
        code = f'let line = r#"{long}\n"{long}"\n"#;\n//! | {long} |\n'
        self.assertEqual(found({"a.rs": code, "a.md": long, "ui/src/api/schema.ts": long}), [])


class Links(unittest.TestCase):
    def test_a_link_leads_to_a_file_or_folder(self) -> None:
        page = "[a](b.md) [b](../README.md) [c](adr) [d](https://x.example/y) [e](#top)\n# Top\n"
        self.assertEqual(found({"README.md": "", "docs/a.md": page, "docs/b.md": "", "docs/adr/x.md": ""}), [])

    def test_a_link_to_nothing_is_found(self) -> None:
        self.assertEqual(found({"a.md": "see\n[this](b.md)"}), [("a.md", 2, "the link b.md leads nowhere")])

    def test_an_anchor_is_a_heading(self) -> None:
        files = {"a.md": "[a](b.md#what-is-it) [b](b.md#how)", "b.md": "## What is it?\n```\n# How\n```\n"}
        self.assertEqual(found(files), [("a.md", 1, "the link b.md#how leads to no heading of b.md")])

    def test_equal_headings_are_numbered(self) -> None:
        self.assertEqual(anchors("# A\n# A\n## The `x_y` [page](z.md)"), {"a", "a-1", "the-x_y-page"})

    def test_code_holds_no_links(self) -> None:
        self.assertEqual(found({"a.md": "`x[0](y)`\n```\n[a](b.md)\n```\n"}), [])


class References(unittest.TestCase):
    FILES = {"crates/a/Cargo.toml": "", "crates/a/src/one.rs": "", "docs/adr/0007-x.md": ""}

    def check(self, file: str, text: str, *missing: str) -> None:
        expected = [(file, 1, f"there is no {what}") for what in missing]
        self.assertEqual(found({**self.FILES, file: text}, ignored=("crates/made",)), expected)

    def test_paths_that_exist_pass(self) -> None:
        for path in ("crates/a/src/one.rs", "crates/a", "crates/*/src", "crates/{a,b}/src", "crates/made/x"):
            self.check("a.md", f"See `{path}`, {path}.")
            self.check("crates/a/src/b.rs", f"// See {path}.")

    def test_paths_that_do_not_exist_are_found(self) -> None:
        self.check("a.md", "See crates/a/src/two.rs.", "crates/a/src/two.rs")
        self.check("crates/a/src/b.rs", "//! See `crates/b`.", "crates/b")
        self.check("a.py", "x = 1  " + "# docs/none.md", "docs/none.md")
        self.check("a.md", "crates/c*/src", "crates/c*/src")

    def test_code_that_is_no_comment_is_not_read(self) -> None:
        self.check("b.rs", 'open("crates/none"); let url = "http://crates/none";')

    def test_a_file_may_be_named_by_some_of_its_folders(self) -> None:
        for name in ("one.rs", "a/one.rs", "a/src/one.rs"):
            self.check("a.md", f"See `{name}`.")
        self.check("a.md", "See `b/one.rs` and `two.rs`.", "b/one.rs", "two.rs")

    def test_a_path_may_start_at_the_crate_or_the_folder(self) -> None:
        files = {"crates/a/Cargo.toml": "", "crates/a/docs/b.md": "", "docs/c.md": "", "crates/a/x.rs": "// docs/b.md"}
        self.assertEqual(found(files), [])

    def test_records_exist(self) -> None:
        self.check("a.md", "see ADR 7 and ADR 8", "ADR 8")


class Words(unittest.TestCase):
    def test_riddles_are_found(self) -> None:
        code = "/// Who reads it?\n//! Whoever writes reads that first.\n// It can not be.\n"
        self.assertEqual([line for _, line, _ in found({"a.rs": code})], [2, 3])


if __name__ == "__main__":
    unittest.main()
