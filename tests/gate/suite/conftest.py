"""Data of the suite: three tables as Parquet files, the same at each run."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

ORDERS, CUSTOMERS, DAYS = 20_000, 500, 30


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    orders = range(ORDERS)
    pl.DataFrame(
        {
            "id": orders,
            "customer": [each * 7919 % CUSTOMERS for each in orders],
            "day": [each * DAYS // ORDERS for each in orders],
            "region": [f"region {each % 5}" for each in orders],
            "amount": [each * 31 % 1000 for each in orders],
            "note": [f"note of order {each}, which nobody reads" for each in orders],
        }
    ).write_parquet(folder / "orders.parquet", row_group_size=2_000)
    pl.DataFrame(
        {
            "customer": [each for each in range(CUSTOMERS) for _ in range(5)],
            "region": [f"region {each}" for _ in range(CUSTOMERS) for each in range(5)],
            "name": [f"customer {each}" for each in range(CUSTOMERS) for _ in range(5)],
        }
    ).write_parquet(folder / "customers.parquet")
    return folder
