"""Recording a test run with the pytest plugin, and judging it with `queryscope gate` of the same wheel."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from pydantic_sarif.model import Level, StaticAnalysisResultsFormatSarifVersion210JsonSchema

SUITE = Path(__file__).parents[2] / "tests" / "gate" / "suite"
SEEDED = 10
FAILED = 4


def record(folder: Path, file: str, *options: str, suite: Path = SUITE, **environment: str) -> str:
    """Runs a suite, and returns what pytest printed."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", suite, suite]
    done = subprocess.run(
        [*map(str, command), "--queryscope", str(folder / file), "--basetemp", str(folder / "tmp"), *options],
        cwd=suite,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert "queries are recorded in" in done.stdout, done.stdout + done.stderr
    assert "lost" not in done.stdout, done.stdout
    return done.stdout


def gate(*options: object) -> subprocess.CompletedProcess[str]:
    binary = shutil.which("queryscope", path=os.path.dirname(sys.executable))
    assert binary is not None
    command = [binary, "gate", *map(str, options)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def judged(base: Path, head: Path) -> dict[str, Any]:
    done = gate("--base", base, "--head", head, "--format", "json")
    assert done.returncode in (0, FAILED), done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    assert report["fails"] == (done.returncode == FAILED)
    return report


def test_ten_seeded_changes_are_found_and_nothing_else(tmp_path: Path) -> None:
    """Of ten programs with a mistake in their second version, the gate fails all. Of ten without, none, on other
    numbers of threads, of workers, and in another order."""
    record(tmp_path, "base.jsonl.gz", GATE_THREADS="1", POLARS_MAX_THREADS="1")
    record(tmp_path, "same.jsonl", "-n", "2", GATE_THREADS="5", POLARS_MAX_THREADS="3")
    record(tmp_path, "head.jsonl.gz", GATE_SEEDED="1", GATE_THREADS="3")
    with gzip.open(tmp_path / "base.jsonl.gz", "rt") as lines:
        labels = {json.loads(line).get("profile", {}).get("label") for line in lines}
    tests = {label for label in labels if label and not label.startswith("fixture ")}
    assert len(tests) == 2 * SEEDED, tests
    assert all(label.startswith("test_queries.py::test_") for label in tests), tests

    report = judged(tmp_path / "base.jsonl.gz", tmp_path / "same.jsonl")
    assert not report["fails"] and not any(told["direction"] == "worse" for told in differences(report)), report

    report = judged(tmp_path / "base.jsonl.gz", tmp_path / "head.jsonl.gz")
    failed = {each["query"] for each in report["queries"] if each["fails"]}
    source = (SUITE / "test_queries.py").read_text("utf-8").partition("# Ten that stay as they are.")[0]
    seeded = {f"test_queries.py::{name}" for name in named_tests(source)}
    assert len(seeded) == SEEDED and failed == seeded, (failed - seeded, seeded - failed)
    check_sarif(tmp_path, failed)
    sites = {each["call_site"]["file"] for each in report["queries"]}
    assert sites == {str(SUITE / "test_queries.py")}, sites


def differences(report: dict[str, Any]) -> list[dict[str, Any]]:
    return [told for each in report["queries"] for told in each["differences"]]


def check_sarif(folder: Path, failed: set[str]) -> None:
    """The report is SARIF by its schema, of which the models of pydantic-sarif are made. Its errors are what failed."""
    files = ("--base", folder / "base.jsonl.gz", "--head", folder / "head.jsonl.gz")
    done = gate(*files, "--format", "sarif", "--root", SUITE)
    assert done.returncode == FAILED, done.stderr
    document = StaticAnalysisResultsFormatSarifVersion210JsonSchema.model_validate_json(done.stdout)
    (run,) = document.runs
    errors = [result for result in run.results or [] if result.level == Level.error]
    places = [location for result in errors for location in result.locations or []]
    assert {place.logicalLocations[0].fullyQualifiedName for place in places} == failed
    assert {place.physicalLocation.artifactLocation.uri for place in places} == {"test_queries.py"}
    wrong = json.loads(done.stdout)
    wrong["runs"][0]["results"][0]["level"] = "fatal"
    with pytest.raises(ValidationError):
        StaticAnalysisResultsFormatSarifVersion210JsonSchema.model_validate(wrong)


def named_tests(source: str) -> list[str]:
    return [line.split("(")[0].removeprefix("def ") for line in source.splitlines() if line.startswith("def test_")]


def test_labels_do_not_depend_on_the_order_of_tests(tmp_path: Path) -> None:
    """Queries of shared fixtures are labelled by the fixture, those of a test by the test."""
    (tmp_path / "suite").mkdir()
    program = """
        import polars as pl
        import pytest

        def collect():
            return pl.LazyFrame({"a": [1]}).collect()

        @pytest.fixture(scope="session")
        def shared():
            collect()
            yield
            collect()

        @pytest.fixture
        def own():
            collect()

        def test_first(shared, own):
            collect()

        @pytest.mark.parametrize("number", [1, 2])
        def test_second(number, shared):
            collect()
        """
    (tmp_path / "suite" / "test_it.py").write_text(textwrap.dedent(program), "utf-8")
    told = record(tmp_path, "one.jsonl", suite=tmp_path / "suite")
    assert "6 queries are recorded in" in told, told
    record(tmp_path, "other.jsonl", "-k", "second", suite=tmp_path / "suite")
    labels = {}
    for name in ("one", "other"):
        lines = (tmp_path / f"{name}.jsonl").read_text("utf-8").splitlines()
        profiles = [json.loads(line)["profile"] for line in lines if '"query.finished"' in line]
        labels[name] = sorted(profile["label"] for profile in profiles)
    shared = ["fixture shared in test_it.py"] * 2
    second = ["test_it.py::test_second[1]", "test_it.py::test_second[2]"]
    assert labels["other"] == [*shared, *second]
    assert labels["one"] == [*shared, *["test_it.py::test_first"] * 2, *second]


def test_a_suite_may_install_something_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "suite").mkdir()
    program = """
        import polars as pl
        import pytest
        import queryscope

        @pytest.fixture(autouse=True, scope="module")
        def telemetry(tmp_path_factory):
            own = tmp_path_factory.getbasetemp() / "own-{engine}.jsonl"
            queryscope.install(exporters=[queryscope.ProfilesFile(own)])
            with pytest.raises(RuntimeError):
                queryscope.install()
            yield
            queryscope.uninstall()

        def test_it():
            pl.LazyFrame({"a": [1]}).collect()
        """
    (tmp_path / "suite" / "test_it.py").write_text(textwrap.dedent(program), "utf-8")
    told = record(tmp_path, "events.jsonl", suite=tmp_path / "suite")
    assert "1 passed" in told and "queryscope: 1 queries are recorded" in told, told
    assert (tmp_path / "tmp" / "own-polars.jsonl").read_text("utf-8").count("\n") == 1


def test_what_cannot_be_compared_is_named(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("")
    done = gate("--base", tmp_path / "empty.jsonl", "--head", tmp_path / "empty.jsonl")
    assert (done.returncode, done.stderr) == (3, "error: --base holds no query that has ended\n")
    done = gate("--base", tmp_path / "none.jsonl", "--head", tmp_path / "empty.jsonl")
    assert done.returncode == 1 and "none.jsonl cannot be read" in done.stderr, done.stderr


@pytest.mark.parametrize("options", [[], ["-p", "no:queryscope"]])
def test_without_the_option_nothing_is_followed(tmp_path: Path, options: list[str]) -> None:
    (tmp_path / "test_it.py").write_text(
        "from queryscope import _install\ndef test_it():\n    assert _install._installation is None\n", "utf-8"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert "1 passed" in done.stdout and "queryscope" not in done.stdout, done.stdout + done.stderr
