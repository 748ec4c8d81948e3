"""The page of benchmarks shows what is kept of each script, and `tools/benchmark_tables.py` keeps what they print."""

from __future__ import annotations

import json
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
TOOL = ROOT / "tools" / "benchmark_tables.py"
PAGE = (ROOT / "docs" / "benchmarks.md").read_text("utf-8")
KEPT = sorted((ROOT / "benchmarks" / "results").glob("*.json"))
PRINTED = """Some words.

| network | L1, KiB | cycles |
| --- | ---: | ---: |
| ad | 64 | 1,200 |
| kws | 64 | 3,000 |
| kws | 16 | TW5101 it does not fit |

| another |
|---|
"""


@pytest.fixture(name="tool")
def _tool() -> dict[str, Any]:
    return runpy.run_path(str(TOOL))


def test_the_page_shows_what_is_kept(tool: dict[str, Any]) -> None:
    assert tool["rendered"](PAGE) == PAGE, "run: python tools/benchmark_tables.py"
    outside = re.sub(r"<!-- table .*?<!-- end -->", "", PAGE, flags=re.DOTALL)
    assert [line for line in outside.splitlines() if line.startswith("|")] == [], "a table that nothing wrote"


def test_the_page_is_short() -> None:
    assert len(PAGE.encode()) <= 31_641  # a third of what it was when tables and their history were written by hand


@pytest.mark.parametrize("file", KEPT, ids=lambda file: file.stem)
def test_a_table_is_whole_and_the_page_names_it(tool: dict[str, Any], file: Path) -> None:
    table = tool["read"](file.stem)
    assert {len(row) for row in table.rows} == {len(table.columns)} == {len(table.align)}
    assert f"<!-- table {file.stem} " in PAGE or f"`{file.stem}`" in PAGE
    assert file.read_text("utf-8") == tool["text_of"](table)


@pytest.mark.parametrize("file", KEPT, ids=lambda file: file.stem)
def test_the_script_that_printed_it_is_there(tool: dict[str, Any], file: Path) -> None:
    script = re.match(r"python (benchmarks/\w+\.py)", tool["read"](file.stem).command)
    assert script is None or (ROOT / script[1]).exists()


def test_what_is_printed_is_kept_and_shown(tool: dict[str, Any]) -> None:
    table = tool["taken"](PRINTED, "python x.py")
    assert json.loads(tool["text_of"](table)) == {
        "command": "python x.py",
        "columns": ["network", "L1, KiB", "cycles"],
        "align": "lrr",
        "rows": [["ad", "64", "1,200"], ["kws", "64", "3,000"], ["kws", "16", "TW5101 it does not fit"]],
    }
    assert (
        table.markdown()
        == "\n".join(PRINTED.splitlines()[2:7]).replace("| --- | ---: | ---: |", "|---|---:|---:|") + "\n"
    )
    assert table.markdown(["cycles", "network"], {"L1, KiB": ["64"]}) == (
        "| cycles | network |\n|---:|---|\n| 1,200 | ad |\n| 3,000 | kws |\n"
    )


def test_a_line_that_ends_early_is_filled_up(tool: dict[str, Any]) -> None:
    assert tool["taken"]("| a | b |\n|---|---|\n| x |\n", "").rows == (("x", ""),)


def test_what_a_table_does_not_have_is_refused(tool: dict[str, Any]) -> None:
    table = tool["taken"](PRINTED, "python x.py")
    with pytest.raises(ValueError, match="there is no column 'watts'"):
        table.markdown(["watts"])
    with pytest.raises(ValueError, match=r"no row has \['32'\] in column 'L1, KiB'"):
        table.markdown((), {"L1, KiB": ["64", "32"]})
    with pytest.raises(ValueError, match="there is no table"):
        tool["taken"]("nothing", "")


def test_the_command_line_takes_a_table(tmp_path: Path) -> None:
    for folder in ("tools", "docs", "benchmarks/results"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "tools" / TOOL.name).write_text(TOOL.read_text("utf-8"))
    page = tmp_path / "docs" / "benchmarks.md"
    page.write_text('# Page\n\n<!-- table new columns="network" where="L1, KiB: 16" -->\nold\n<!-- end -->\nbelow\n')
    command = [sys.executable, "tools/benchmark_tables.py", "take", "new", "python x.py"]
    subprocess.run(command, cwd=tmp_path, input=PRINTED, text=True, check=True)
    shown = "\n`python x.py`\n\n| network |\n|---|\n| kws |\n\n"
    assert page.read_text() == (
        f'# Page\n\n<!-- table new columns="network" where="L1, KiB: 16" -->\n{shown}<!-- end -->\nbelow\n'
    )
