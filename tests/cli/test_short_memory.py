"""What is said where memory is short: which steps have slower kernels, and the least memory that does."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

LEAST = "640"  # bytes, with portable kernels; the fastest of a Cortex-M4 take 840


def test_check_and_compile_agree_and_strict_is_about_warnings(tilewright: Any, int8: Path, tmp_path: Path) -> None:
    words = (int8, "-t", "cortex-m4", "--memory", f"ram={LEAST}", "--tiler", "whole", "--strict", "--json", "-")
    checked, compiled = tilewright("check", *words), tilewright("compile", *words, "-o", tmp_path / "out")
    assert (checked.code, compiled.code) == (0, 0), checked.err
    assert "note[TW5035]: memory is short (ram): " in checked.err
    one, other = checked.json(), compiled.json()
    assert one["pools"] == other["pools"] and one["steps"] == other["steps"]
    (note,) = (item for item in one["diagnostics"] if item["code"] == "TW5035")
    assert note["message"].endswith(" % longer on one core (estimate)")
    slower = {
        step["name"]: step["kernel"] for step in one["steps"] if f"'{step['name']}': " in "".join(note["details"])
    }
    assert 0 < len(slower) < len(one["steps"]) and all(kernel.startswith("portable.") for kernel in slower.values())


def test_what_the_error_asks_for_is_the_least(tilewright: Any, int8: Path) -> None:
    finished = tilewright("check", int8, "-t", "cortex-m4", "--memory", "ram=100")
    assert finished.code == 5
    (least,) = (int(found) for found in re.findall(r"try:  --memory ram=(\d+) ", finished.err))
    assert least < int(LEAST)  # by rows
    assert tilewright("check", int8, "-t", "cortex-m4", "--memory", f"ram={least}").code == 0
    assert tilewright("check", int8, "-t", "cortex-m4", "--memory", f"ram={least - 1}").code == 5


def test_a_saved_binding_has_the_kernels_that_fit(tilewright: Any, int8: Path, tmp_path: Path) -> None:
    words = ("compile", int8, "-t", "cortex-m4", "-q", "-o")
    short = ("--memory", f"ram={LEAST}")
    first = tilewright(*words, tmp_path / "a", *short, "--export-state", f"bound={tmp_path / 'bound'}")
    again = tilewright(*words, tmp_path / "b", "--import-state", tmp_path / "bound")
    assert (first.code, again.code) == (0, 0), again.err
    assert (tmp_path / "a" / "digits_int8.c").read_bytes() == (tmp_path / "b" / "digits_int8.c").read_bytes()
