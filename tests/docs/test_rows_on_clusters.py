"""The documents say what rows could save on clusters at most: the bound is worked out again of two plans."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest
from kit.networks import network_file

ROOT = Path(__file__).parents[2]
EXCEPTION = ("resnet8_f32", "snitch", "64")  # named by the text


@pytest.fixture(scope="module", name="script")
def _script() -> ModuleType:
    found = importlib.util.spec_from_file_location("rows_on_clusters", ROOT / "benchmarks" / "rows_on_clusters.py")
    assert found is not None and found.loader is not None
    module = importlib.util.module_from_spec(found)
    sys.modules[found.name] = module  # dataclasses look for their module there
    found.loader.exec_module(module)
    return module


def printed() -> dict[tuple[str, ...], float]:
    """Per cent saved, of each line of the table that is kept: network, target, size of the scratchpad in KiB."""
    rows = json.loads((ROOT / "benchmarks" / "results" / "rows_on_clusters.json").read_text(encoding="utf-8"))["rows"]
    return {tuple(row[:3]): float(row[-1].rstrip(" %")) for row in rows}


def most(*sizes: int) -> float:
    """Of all lines with one of these sizes, but for the exception."""
    return max(percent for line, percent in printed().items() if int(line[2]) in sizes and line != EXCEPTION)


@pytest.mark.parametrize("page", ["benchmarks.md", "design/line-buffers.md"])
def test_no_line_of_the_table_is_above_what_the_text_says(page: str) -> None:
    text = " ".join((ROOT / "docs" / page).read_text(encoding="utf-8").split())
    said = re.search(r"t most ([\d.]+) % .{,260}ith 64 KiB (?:it is )?at most ([\d.]+) %, but .{,70}?([\d.]+) %", text)
    assert said is not None
    assert tuple(map(float, said.groups())) == (most(16, 8), most(64), printed()[EXCEPTION])


@pytest.mark.slow
@pytest.mark.parametrize(("network", "size"), [("resnet8_int8", 16), ("kws_int8", 8)])
def test_the_bound_of_a_plan_is_as_small(script: ModuleType, network: str, size: int) -> None:
    _, plan, rows, saved = script.line(network_file(network), "siracusa", size).split(" | ")
    assert 0 < int(rows.replace(",", "")) <= int(plan.replace(",", ""))
    assert float(saved.rstrip("%")) <= most(size)
