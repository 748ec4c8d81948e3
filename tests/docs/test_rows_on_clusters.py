"""The documents say what rows could save on clusters at most: the bound is worked out again of two plans."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest
from kit.networks import network_file

ROOT = Path(__file__).parents[2]
SAVED = re.compile(r"\| (\d+) of \d+ \| [\d,]+ \| [\d,]+ \| ([\d.]+) % \|")


@pytest.fixture(scope="module", name="script")
def _script() -> ModuleType:
    found = importlib.util.spec_from_file_location("rows_on_clusters", ROOT / "benchmarks" / "rows_on_clusters.py")
    assert found is not None and found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def printed() -> list[tuple[int, float]]:
    """Of each line of the table, pairs that fit and per cent saved."""
    text = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    table = text.partition("### Row by row on clusters")[2].partition("\n## ")[0]
    return [(int(pairs), float(percent)) for pairs, percent in SAVED.findall(table)]


def test_no_line_of_the_table_is_above_what_the_text_says() -> None:
    most = max(percent for _, percent in printed())
    for page in ("benchmarks.md", "design/rows.md"):
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        assert f"t most {most} %" in " ".join(text.split()), page


@pytest.mark.parametrize(("network", "size"), [("resnet8_int8", 16), ("kws_int8", 8)])
def test_the_bound_of_a_plan_is_as_small(script: ModuleType, network: str, size: int) -> None:
    _, plan, rows, saved = script.line(network_file(network), "siracusa", size).split(" | ")
    assert 0 < int(rows.replace(",", "")) <= int(plan.replace(",", ""))
    assert float(saved.rstrip("%")) <= max(percent for _, percent in printed())
