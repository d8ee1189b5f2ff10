"""Rows as a frame."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import Any

from ._run import Row

COLUMNS = (
    "name pattern size_bytes placement group rank unit median_ns p99_ns per_second cpu_ns trials verified".split()
)


def frame(rows: Iterable[Row], package: str = "pandas") -> Any:
    """A frame of ``"pandas"`` or ``"polars"``, a line a row; ``interval_ns`` is two columns, empty without an interval.

    Raises ``ImportError`` where the package is not installed.
    """
    if package not in ("pandas", "polars"):
        raise ValueError(f"{package!r} is neither 'pandas' nor 'polars'")
    rows = list(rows)
    columns: dict[str, list[Any]] = {name: [getattr(row, name) for row in rows] for name in COLUMNS}
    for end, name in enumerate(("interval_from_ns", "interval_to_ns")):
        columns[name] = [row.interval_ns[end] if row.interval_ns else None for row in rows]
    return importlib.import_module(package).DataFrame(columns)
