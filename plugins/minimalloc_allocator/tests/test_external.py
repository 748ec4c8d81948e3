"""The adapter to an installed program, with programs that are scripts: good, failing, silent, lying, missing."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from tilewright.allocate.solving import solved
from tilewright.api import Exit, TilewrightError
from tilewright.api.allocator import Block, Budget, Pool, Problem
from tilewright.check.allocations.allocation import peaks, violations
from tilewright_minimalloc.exact import Exact
from tilewright_minimalloc.external import External
from tilewright_minimalloc.greedy import height, quick
from tilewright_minimalloc.pool import make_task

STACKING = """
import csv, sys
flags = dict(part[2:].split("=", 1) for part in sys.argv[1:])
rows = list(csv.DictReader(open(flags["input"])))
placed, level = [], 0
for row in sorted(rows, key=lambda row: int(row["lower"])):
    low, high, size = int(row["lower"]), int(row["upper"]), int(row["size"])
    offset = 0
    for l, h, at, s in sorted(placed, key=lambda p: p[2]):
        if l < high and low < h and at < offset + size and offset < at + s:
            offset = at + s
    placed.append((low, high, offset, size))
    row["offset"] = offset
    level = max(level, offset + size)
if level > int(flags["capacity"]):
    sys.exit(1)
with open(flags["output"], "w", newline="") as stream:
    out = csv.DictWriter(stream, [*rows[0]])
    out.writeheader()
    out.writerows(rows)
"""
CRASHING = "import sys; sys.stderr.write('unknown flag --input'); sys.exit(3)"
LYING = STACKING.replace('row["offset"] = offset', 'row["offset"] = 0').replace("level = max(level, offset + size)", "")
MUMBLING = 'import sys; open([a for a in sys.argv if "output" in a][0].split("=", 1)[1], "w").write("no columns")'


def install(folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.mkdir(exist_ok=True)
    program = folder / "minimalloc"
    program.write_text(f"#!{sys.executable}\n{text}")
    program.chmod(0o755)
    monkeypatch.setenv("MINIMALLOC_INSTALL_DIR", str(folder))


def hard() -> Problem:
    """A problem whose bound no quick plan meets, so that the program has to be asked."""
    for seed in range(1000):
        chance = Random(seed)
        blocks = tuple(
            Block(
                name=f"b{number}",
                size_bytes=chance.randint(1, 9),
                lifetimes=((first := chance.randrange(9), first + chance.randrange(5)),),
                pools=("ram",),
            )
            for number in range(14)
        )
        made = Problem(blocks=blocks, pools=(Pool(name="ram", capacity_bytes=None),))
        task = make_task(made, made.pools[0], blocks)
        if height(task.instance, quick(task.instance)) > task.floor:
            return made
    raise ValueError("no such problem")


def test_its_plans_are_checked_like_any_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path / "a", STACKING, monkeypatch)
    solution = solved(hard(), External(), Budget())
    assert solution.status in ("optimal", "feasible")
    assert violations(hard(), solution) == ()


@pytest.mark.parametrize(
    ("text", "words"), [(CRASHING, "unknown flag --input"), (MUMBLING, "no offset for every buffer")]
)
def test_a_program_that_fails_is_named_with_its_words(
    text: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path / "a", text, monkeypatch)
    with pytest.raises(TilewrightError) as caught:
        External().solve(hard(), Budget())
    assert (caught.value.code, caught.value.exit_code) == ("TW7021", Exit.TOOLCHAIN)
    assert words in str(caught.value).replace("block", "buffer")


def test_a_program_that_lies_is_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path / "a", LYING, monkeypatch)
    with pytest.raises(TilewrightError) as caught:
        solved(hard(), External(), Budget())
    assert caught.value.code == "TW8050"


def test_a_program_that_finds_nothing_leaves_the_quick_plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path / "a", "import sys; sys.exit(1)", monkeypatch)
    assert solved(hard(), External(), Budget()).status == "feasible"


def test_a_missing_program_is_an_error_that_says_where_it_was_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MINIMALLOC_INSTALL_DIR", str(tmp_path))
    with pytest.raises(TilewrightError) as caught:
        External().solve(hard(), Budget())
    assert caught.value.message.endswith("no program 'minimalloc' is there")
    assert (caught.value.code, caught.value.exit_code) == ("TW7020", Exit.TOOLCHAIN)
    monkeypatch.delenv("MINIMALLOC_INSTALL_DIR")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(TilewrightError, match="is not on PATH"):
        External().solve(hard(), Budget())


def test_what_its_files_cannot_say_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path / "a", STACKING, monkeypatch)
    with pytest.raises(TilewrightError, match="conflicts that do not follow from lifetimes") as caught:
        External().solve(replace(hard(), conflicts=(("b0", "b4"),)), Budget())
    assert caught.value.code == "TW7022"


@pytest.mark.skipif(
    not os.environ.get("MINIMALLOC_INSTALL_DIR") and not shutil.which("minimalloc"),
    reason="the minimalloc program is not installed",
)
def test_the_real_program_finds_the_optimum() -> None:
    solution = solved(hard(), External(), Budget())
    assert peaks(hard(), solution) == peaks(hard(), solved(hard(), Exact(), Budget()))
