"""Knows how the rows of a sweep become a table: columns, CSV, Parquet. Does not know where rows come from."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tilewright.errors import Exit, TilewrightError
from tilewright.exploration.sweep.flow import Row

_FIGURES = (
    *("fits", "code", "reason", "ram_bytes", "flash_bytes", "stack_bytes", "cycles", "instructions", "milliseconds"),
    *("kind", "drift_steps", "front", "flags"),
)


def flat(row: Row) -> dict[str, Any]:
    """One level of columns: network, target, one for each axis, one for each figure. A memory is `used.NAME`."""
    memories = {f"used.{name}": used for name, used in row.get("used_bytes", {}).items()}
    axes = {name: value for name, value in row["values"].items() if name != "target"}
    return {
        "model": row["model"],
        "target": row["target"],
        **{name: str(value) for name, value in axes.items()},
        **{name: row.get(name) for name in _FIGURES},
        **memories,
    }


def csv_text(rows: Sequence[Row]) -> str:
    """With a head; what a row has not is empty."""
    table = [flat(row) for row in rows]
    text = io.StringIO()
    writer = csv.DictWriter(text, list(dict.fromkeys(name for row in table for name in row)), lineterminator="\n")
    writer.writeheader()
    writer.writerows(table)
    return text.getvalue()


def write_parquet(rows: Sequence[Row], file: Path) -> None:
    """TilewrightError TW1416 (exit 7) where pyarrow is not installed."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise TilewrightError(
            "TW1416",
            "Parquet is written by pyarrow, which is not installed",
            str(file),
            fix=("pip install pyarrow", "name a file of another form: FILE.csv or FILE.json"),
            exit_code=Exit.TOOLCHAIN,
        ) from None
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist([flat(row) for row in rows]), file)
