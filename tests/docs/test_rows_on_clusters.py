"""The documents say what rows could save on clusters at most: the bound is worked out again of two plans."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest
from kit.networks import network_file

ROOT = Path(__file__).parents[2]
SAVED = re.compile(r"\| (\d+) \| \d+ of \d+ \| [\d,]+ \| [\d,]+ \| ([\d.]+) % \|")


@pytest.fixture(scope="module", name="script")
def _script() -> ModuleType:
    found = importlib.util.spec_from_file_location("rows_on_clusters", ROOT / "benchmarks" / "rows_on_clusters.py")
    assert found is not None and found.loader is not None
    module = importlib.util.module_from_spec(found)
    sys.modules[found.name] = module  # dataclasses look for their module there
    found.loader.exec_module(module)
    return module


def printed(*sizes: int) -> float:
    """The most per cent saved in any line of the table with one of these sizes of the scratchpad, in KiB."""
    text = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    table = text.partition("### Row by row on clusters")[2].partition("\n## ")[0]
    return max(float(percent) for size, percent in SAVED.findall(table) if int(size) in sizes)


@pytest.mark.parametrize("page", ["benchmarks.md", "design/rows.md"])
def test_no_line_of_the_table_is_above_what_the_text_says(page: str) -> None:
    text = " ".join((ROOT / "docs" / page).read_text(encoding="utf-8").split())
    assert re.search(rf"t most {printed(64)} % .*with 64 KiB", text)
    assert f"t most {printed(16, 8)} % with 16 or 8 KiB" in text
    assert printed(16, 8) < printed(64) == printed(64, 16, 8)


@pytest.mark.parametrize(("network", "size"), [("resnet8_int8", 16), ("kws_int8", 8)])
def test_the_bound_of_a_plan_is_as_small(script: ModuleType, network: str, size: int) -> None:
    _, plan, rows, saved = script.line(network_file(network), "siracusa", size).split(" | ")
    assert 0 < int(rows.replace(",", "")) <= int(plan.replace(",", ""))
    assert float(saved.rstrip("%")) <= printed(size)
