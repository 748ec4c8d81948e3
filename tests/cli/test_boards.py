"""Boards and parts that are installed: they bring target, memories and clock, and `fit` says what `check` says."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


def pools(report: Any) -> dict[str, int]:
    return {level["name"]: level["used_bytes"] for level in report["levels"]}


def test_a_board_brings_target_memories_and_clock(tilewright: Run, int8: Path) -> None:
    finished = tilewright("check", int8, "--board", "nucleo-f446re", "--json", "-")
    report = json.loads(finished.out)
    assert (finished.code, report["target"]["name"], report["time"]["clock_hz"]) == (0, "cortex-m4", 180_000_000)
    assert [(level["name"], level["limit_bytes"]) for level in report["levels"]] == [
        ("ram", 128 << 10),
        ("flash", 512 << 10),
    ]
    assert report["time"]["kind"] == "estimate"


def test_what_is_typed_next_names_the_board(tilewright: Run, int8: Path, tmp_path: Path) -> None:
    said = tilewright("check", int8, "--board", "NUCLEO_F446RE").out.rstrip().split("\n")[-1]
    words = shlex.split(said.split("Next: ")[1])[1:]
    assert words[:3] == ["compile", str(int8), "--board"]
    assert tilewright(*words, cwd=tmp_path).code == 0


@pytest.mark.slow
def test_portable_c_for_a_chip_without_a_target_of_its_own(tilewright: Run, int8: Path) -> None:
    assert tilewright("check", int8, "--board", "esp32-s3-devkitc-1").code == 0


def test_another_target_than_the_board_s_is_refused(
    tilewright: Run, int8: Path, demand_proper: Callable[..., None]
) -> None:
    finished = tilewright("check", int8, "-t", "cortex-m7", "--board", "nucleo-f446re")
    demand_proper(finished, "TW1403", 2, "it is for target 'cortex-m4', not 'cortex-m7'")


def test_more_than_the_part_has_is_said(tilewright: Run, int8: Path) -> None:
    finished = tilewright("check", int8, "--board", "nucleo-f446re", "--memory", "ram=1M")
    assert finished.code == 0 and "warning[TW5034]" in finished.err and "the machine has 131,072 B" in finished.err


@pytest.mark.slow
@pytest.mark.parametrize("network", ["int8", "float32"])
def test_fit_says_what_check_says(network: str, tilewright: Run, request: pytest.FixtureRequest) -> None:
    """On small parts, where limits count, and on parts with several memories."""
    file = request.getfixturevalue(network)
    patterns = ("stm32l0*", "stm32f103*", "stm32f3*", "stm32h7*", "efm32*", "nrf5*", "rp2*")
    chips = [word for pattern in patterns for word in ("--chips", pattern)]
    rows = json.loads(tilewright("fit", file, *chips, "--processes", 2, "--json", "-").out)
    kept = {(row["target"], row["fits"], tuple(row["used_bytes"].values()), row["cycles"]): row for row in rows}
    assert len(kept) > 6 and {row["fits"] for row in rows} >= {True}
    for row in kept.values():
        finished = tilewright("check", file, *shlex.split(row["flags"]), "--json", "-")
        assert (finished.code == 0) == row["fits"], row
        if row["fits"]:
            report = json.loads(finished.out)
            assert (pools(report), report["cycles"]["total"]) == (row["used_bytes"], row["cycles"]), row
            assert (report.get("time") or {"milliseconds": None})["milliseconds"] == row["milliseconds"]
        else:
            assert f"error[{row['code']}]" in finished.err
