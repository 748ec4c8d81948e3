"""The README's chart and its table are what benchmarks have left in benchmarks/results."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_chart_is_drawn_from_the_tables(tmp_path: Path) -> None:
    chart = tmp_path / "chart.svg"
    subprocess.run([sys.executable, ROOT / "tools" / "draw_beside_others.py", chart], check=True)
    kept = ROOT / "docs" / "images" / "beside-others.svg"
    assert kept.read_text(encoding="utf-8") == chart.read_text(encoding="utf-8"), "python tools/draw_beside_others.py"


def test_the_table_is_the_benchmarks() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    found = re.search(r"<!-- table on_parts -->\n(.*?)<!-- end -->", text, re.DOTALL)
    assert found
    lines = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in found[1].splitlines()]
    kept = json.loads((ROOT / "benchmarks" / "results" / "on_parts.json").read_text(encoding="utf-8"))
    assert [lines[0], *lines[2:]] == [kept["columns"], *kept["rows"]]
