"""Records runs of DuckDB and Daft for the tests of the findings and of the browser.

    python engines.py FILE

needs the package `queryscope` with `duckdb` and `daft` (python/tests/requirements.txt). Two tables are made in the
working directory: orders (400,000 rows, many row groups) and items (20 rows). The queries join, aggregate, write to
disk for want of memory, call Python, fail, and read part of a file.
"""

import gzip
import re
import subprocess
import sys
from pathlib import Path

import daft
import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import queryscope

ORDERS = 400_000


def tables() -> None:
    columns = {
        "order": range(ORDERS),
        "item": [row * 7919 % 20 for row in range(ORDERS)],
        "day": [row * 30 // ORDERS for row in range(ORDERS)],
        "amount": [row % 1009 / 10 for row in range(ORDERS)],
        "note": [f"note {row:020}" for row in range(ORDERS)],
    }
    orders = pa.table({name: list(values) for name, values in columns.items()})
    pq.write_table(orders, "orders.parquet", row_group_size=20_000)
    pq.write_table(pa.table({"item": list(range(20)), "name": [f"item {row}" for row in range(20)]}), "items.parquet")


def of_duckdb(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute("SET threads = 2")
    with queryscope.label("duckdb/join"):
        connection.execute(
            "SELECT name, sum(amount) FROM 'orders.parquet' JOIN 'items.parquet' USING (item) GROUP BY 1 ORDER BY 1"
        ).fetchall()
    with queryscope.label("duckdb/one-day"):
        connection.execute("SELECT count(*), sum(amount) FROM 'orders.parquet' WHERE day = 3").fetchall()
    connection.execute("SET memory_limit = '40MB'")
    with queryscope.label("duckdb/sort-on-disk"):
        connection.execute("CREATE TABLE sorted AS FROM 'orders.parquet' ORDER BY note DESC, amount").fetchall()
    connection.execute("RESET memory_limit")
    with queryscope.label("duckdb/fails"):
        try:
            connection.execute("SELECT CAST(note AS INTEGER) FROM 'orders.parquet'").fetchall()
        except duckdb.Error:
            pass


def of_daft() -> None:
    orders, items = daft.read_parquet("orders.parquet"), daft.read_parquet("items.parquet")
    with queryscope.label("daft/join"):
        orders.join(items, on="item").groupby("name").agg(daft.col("amount").sum()).sort("name").collect()
    with queryscope.label("daft/python"):

        @daft.func
        def doubled(amount: float) -> float:
            return amount * 2

        orders.where(daft.col("day") == 3).select(doubled(daft.col("amount"))).sum("amount").collect()


def join(file: Path) -> None:
    """Writes the runs that have a label, without what names the machine."""
    with gzip.open(file, "wt") as joined:
        for events in sorted(Path().glob("events-*.jsonl.gz")):
            for line in gzip.open(events, "rt"):
                if '"type":"process"' in line or '"label":"' in line:
                    line = re.sub(r'"host":"[^"]*"', '"host":"worker-1"', line)
                    joined.write(re.sub(r'"filepath":"[^"]*"', '"filepath":"jobs/engines.py"', line))


def record() -> None:
    tables()
    queryscope.install(
        exporters=[queryscope.EventsFile("events-{engine}.jsonl.gz")], service="engines", environment="test"
    )
    # Open to the end: the plan of a query that failed is asked of its connection later.
    connection = duckdb.connect()
    of_duckdb(connection)
    of_daft()


def main() -> None:
    match sys.argv[1:]:
        case ["--record"]:
            record()
        case [file]:
            # A process of its own: its files are whole when it has ended.
            subprocess.run([sys.executable, __file__, "--record"], check=True)
            join(Path(file))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
