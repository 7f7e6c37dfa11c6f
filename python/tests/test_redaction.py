"""Secrets of a program do not leave it where `redact` says so, wherever an engine repeats them."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import daft
import datafusion
import duckdb
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import queryscope

# At both ends of each secret: a part that leaks is found, too.
MARK = "k9tzq"
# No quotes: what `literals` does with data that quotes itself is limited, and docs/reference/client.md says how.
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="'\"`\\", exclude_categories=["C"]), max_size=20)
ANY_TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["C"]), max_size=20)
SETTINGS = settings(max_examples=25, deadline=None, database=None)


def sent(redact: Sequence[str], run: Callable[[Path], None]) -> str:
    """All that is written while something runs in a folder, as text."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        places = [
            queryscope.ProfilesFile(folder / "sent" / "{engine}-profiles.jsonl"),
            queryscope.EventsFile(folder / "sent" / "{engine}-events.jsonl"),
        ]
        queryscope.install(exporters=places, redact=redact)
        try:
            run(folder)
        finally:
            queryscope.uninstall()
        assert sum(queryscope.stats()["dropped"].values()) == 0  # type: ignore[arg-type]
        written = [path.read_text("utf-8") for path in (folder / "sent").iterdir()]
    assert any('"query.finished"' in text for text in written)
    return "".join(written)


def raises(run: Callable[[], Any]) -> None:
    with pytest.raises(Exception):  # noqa: B017
        run()


def polars_literals(secret: str) -> None:
    frame = pl.LazyFrame({"t": [secret, "other"]})
    for engine in ("streaming", "in-memory"):
        named: Any = {"engine": engine}
        frame.filter(pl.col("t") == secret).collect(**named)
        frame.filter(pl.col("t").is_in([secret, "x"])).collect(**named)
        frame.select(pl.col("t").str.replace(secret, "", literal=True), x=pl.lit(secret)).collect(**named)
        frame.filter(pl.struct("t") == pl.struct(t=pl.lit(secret))).collect(**named)
    raises(lambda: frame.select(pl.col("t").cast(pl.Int64)).collect())
    raises(lambda: frame.select(pl.col("t").str.to_date("%Y")).collect())


def duckdb_literals(secret: str) -> None:
    quoted = "'" + secret.replace("'", "''") + "'"
    with duckdb.connect() as connection:
        connection.execute("create table t (t text)")
        connection.execute(f"insert into t values ({quoted})")
        connection.execute(f"select * from t where t = {quoted} or t like {quoted}").fetchall()
        connection.execute("select t || ? from t where t in (?, 'x')", [secret, secret]).fetchall()
        connection.sql(f"select t, {quoted} as x from t order by t || {quoted}").fetchall()
        raises(lambda: connection.execute(f"select cast({quoted} || t as int) from t").fetchall())
        raises(lambda: connection.execute("select cast(t as date) from t").fetchall())


def daft_literals(secret: str) -> None:
    frame = daft.from_pydict({"t": [secret, "other"]})
    frame.where(daft.col("t") == secret).collect()
    some = frame.where(daft.col("t").is_in([secret, "x"]))
    some.select(daft.col("t") + secret, daft.lit(secret).alias("l")).collect()


def datafusion_literals(secret: str) -> None:
    quoted = "'" + secret.replace("'", "''") + "'"
    context = datafusion.SessionContext()
    context.from_pydict({"t": [secret, "other"]}, name="t")
    where = f"where t = {quoted} or t in ({quoted}, 'x')"
    context.sql(f"select t || {quoted} x from t {where} order by t || {quoted}").collect()
    context.sql(f"select a.t from t a join t b on a.t = b.t || {quoted} and a.t <> {quoted} || b.t").collect()
    context.sql(f"select t || {quoted}, count(*) from t group by 1").show()
    context.sql(f"select * from (values ({quoted})) v").collect()


@SETTINGS
@given(TEXTS)
def test_literals(text: str) -> None:
    secret = MARK + text + MARK

    def run(_: Path) -> None:
        polars_literals(secret)
        duckdb_literals(secret)
        daft_literals(secret)
        datafusion_literals(secret)

    assert MARK not in sent(["literals"], run)


def everything(folder: Path, secret: str) -> None:
    """Secrets in all places at once."""
    place = folder / MARK
    place.mkdir()
    pl.DataFrame({"t": [secret]}).write_parquet(place / f"{MARK}.parquet")

    def fail(_: Any) -> Any:
        raise ValueError(f"{secret} is no number")

    with queryscope.label(f"{MARK}/{MARK}"):
        polars_literals(secret)
        duckdb_literals(secret)
        daft_literals(secret)
        datafusion_literals(secret)
        pl.scan_parquet(place / "*.parquet").collect(engine="streaming")
        pl.LazyFrame({"t": [secret]}).sink_csv(place / "out.csv")
        raises(lambda: pl.LazyFrame({"t": [1]}).select(pl.col("t").map_batches(fail, pl.Int64)).collect())
        raises(lambda: pl.scan_parquet(place / "nothing.parquet").collect())
        duckdb.execute(f"select * from '{place}/*.parquet'").fetchall()
        duckdb.execute(f"copy (select 1) to '{place}/out.csv'")
        raises(lambda: duckdb.execute(f"select * from '{place}/nothing.parquet'"))
        daft.read_parquet(str(place / "*.parquet")).write_csv(str(place / "out"))
        raises(lambda: daft.read_parquet(str(place / "nothing.parquet")).collect())
        context = datafusion.SessionContext()
        context.read_parquet(place / f"{MARK}.parquet").write_csv(place / "rows")
        raises(lambda: context.sql(f"select {MARK}"))


@SETTINGS
@given(ANY_TEXTS)
def test_everything(text: str) -> None:
    assert MARK not in sent(["all"], lambda folder: everything(folder, MARK + text + MARK))


def test_without_redaction_the_secrets_are_found() -> None:
    """Proves that the tests above look where secrets are."""
    written = sent([], lambda folder: everything(folder, MARK))
    assert written.count(MARK) > 50


def test_errors() -> None:
    def fail(_: Any) -> Any:
        raise ValueError(f"{MARK} is no number")

    def run(_: Path) -> None:
        for engine in ("streaming", "in-memory"):
            lazy = pl.LazyFrame({"t": [1]}).select(pl.col("t").map_batches(fail, pl.Int64))
            raises(lambda lazy=lazy, engine=engine: lazy.collect(engine=engine))  # type: ignore[misc]
        raises(lambda: pl.LazyFrame({"t": [1]}).select(MARK).collect())
        raises(lambda: duckdb.execute(f"select {MARK}"))
        raises(lambda: datafusion.SessionContext().sql(f"select {MARK}"))

        @daft.func
        def fail_too(_: int) -> int:
            raise ValueError(f"{MARK} is no number")

        raises(lambda: daft.from_pydict({"t": [1]}).select(fail_too(daft.col("t"))).collect())

    written = sent(["errors"], run)
    assert MARK not in written
    assert '"failed":"redacted"' in written


def test_paths() -> None:
    def run(folder: Path) -> None:
        place = folder / MARK
        place.mkdir()
        pl.DataFrame({"a": [1]}).write_parquet(place / "part.parquet")
        for engine in ("streaming", "in-memory"):
            named: Any = {"engine": engine}
            pl.scan_parquet(place / "*.parquet").collect(**named)
            pl.scan_parquet([place / "part.parquet"]).sink_parquet(place / "copied.parquet", **named)
        raises(lambda: pl.scan_csv(place / "nothing.csv").collect())
        duckdb.execute(f"select * from '{place}/*.parquet'").fetchall()
        duckdb.execute(f"copy (select * from read_parquet('{place}/part.parquet')) to '{place}/out.csv'")
        raises(lambda: duckdb.execute(f"select * from read_parquet('{place}/nothing.parquet')"))
        daft.read_parquet(str(place / "part.parquet")).write_csv(str(place / "rows"))
        raises(lambda: daft.read_parquet(str(place / "nothing.parquet")).collect())
        frame = datafusion.SessionContext().read_parquet(place / "part.parquet")
        frame.collect()
        frame.write_csv(place / "lines")

    assert MARK not in sent(["paths"], run)


def test_labels_and_call_sites() -> None:
    def k9tzq_function() -> None:
        with queryscope.label(MARK):
            pl.LazyFrame({"a": [1]}).collect()
            duckdb.execute("select 1").fetchall()

    assert MARK not in sent(["labels", "call_sites"], lambda _: k9tzq_function())
