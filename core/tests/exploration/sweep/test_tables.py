"""Tables: one level of columns, a line for each row."""

from __future__ import annotations

import csv
import io
import sys
from pathlib import Path

import pyarrow.parquet
import pytest

from core.tests.exploration.sweep.points_kit import refused, row
from tilewright.errors import TilewrightError
from tilewright.exploration.sweep.tables import csv_text, flat, write_parquet

ROWS = [row(5, 6, 7, values={"target": "plain", "memory.fast": 16384}, front=True), refused()]


def test_columns_are_axes_and_figures() -> None:
    first = flat(ROWS[0])
    assert (first["memory.fast"], first["ram_bytes"], first["used.ram"], first["front"]) == ("16384", 5, 5, True)
    assert first["target"] == "plain"


def test_csv_can_be_read_back() -> None:
    first, second = csv.DictReader(io.StringIO(csv_text(ROWS)))
    assert (first["cycles"], first["fits"], second["fits"], second["cycles"], second["used.ram"]) == (
        *("7", "True", "False", "", ""),
    )


def test_parquet_holds_the_same(tmp_path: Path) -> None:
    write_parquet(ROWS, tmp_path / "rows.parquet")
    assert pyarrow.parquet.read_table(tmp_path / "rows.parquet").to_pylist()[0]["ram_bytes"] == 5


def test_what_parquet_needs_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(TilewrightError, match="pip install pyarrow"):
        write_parquet(ROWS, tmp_path / "rows.parquet")
