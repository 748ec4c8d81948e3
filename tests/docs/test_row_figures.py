"""Bytes that the documents print of line-buffered networks, planned again. The widest network is planned only where the
trained one is: the one that is made for tests is smaller. Instructions are left to `benchmarks/cortex_m_rows.py`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from kit.networks import network_file

import tilewright

ROOT = Path(__file__).parents[2]
FILES = {"resnet8": "resnet8_int8", "kws": "kws_int8", "vww": "vww_int8"}
ASKED = {
    "layer by layer, in one piece": {"tiler": "whole"},
    "with aliased outputs, `--optimize speed`": {},
    "line-buffered": {"optimize": "ram"},
    "and the input is the caller's (`--io user`)": {"optimize": "ram", "io": "user"},
    "or the input is streamed (`--io push`)": {"optimize": "ram", "io": "push"},
    "line-buffered, the input is streamed": {"optimize": "ram", "io": "push"},
}


def printed() -> Iterator[tuple[str, str, str, int]]:
    """Target, network, what a column is about, and the bytes in it; whatever else a table has is skipped."""
    columns: list[str] = []
    for line in (ROOT / "docs/design/line-buffers.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if ASKED.keys() & set(cells):
            columns = cells
        network, _, own = cells[0].partition(", ")
        if network in FILES:
            target = re.search(r"`(generic|cortex-m4)`", own or columns[0])
            for column, cell in zip(columns, cells, strict=False):
                if target and column in ASKED and (bytes_ := re.match(r"[\d,]+\b", cell)):
                    yield target[1], network, column, number(bytes_[0].rstrip(","))


def number(cell: str) -> int:
    return int(cell.replace(",", ""))


PRINTED = list(printed())
HERE = [one for one in PRINTED if one[1] != "vww" or "TILEWRIGHT_TEST_NETWORKS" in os.environ]


def test_three_tables_are_read() -> None:
    assert len(PRINTED) == 3 * 4 + 6 * 1 + 3 * 3


@pytest.mark.parametrize(("target", "network", "column", "expected"), HERE)
def test_bytes_are_as_printed(target: str, network: str, column: str, expected: int) -> None:
    report = tilewright.compile(network_file(FILES[network]), target, **ASKED[column]).report.data
    (used,) = (pool["used_bytes"] for pool in report["pools"] if pool["name"] == "ram")
    assert used == expected


def test_the_readme_says_what_the_table_says() -> None:
    of = {column: found for target, network, column, found in PRINTED if (target, network) == ("cortex-m4", "resnet8")}
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    layers, rows = (f"{of[column]:,} B" for column in ("layer by layer, in one piece", "line-buffered"))
    assert f"takes {rows} instead of {layers} of RAM on a Cortex-M4" in text
    assert f"By default it takes {of['with aliased outputs, `--optimize speed`']:,} B" in text
