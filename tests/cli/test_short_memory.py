"""What is said where memory is short: which steps have slower kernels, and the least memory that does."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from networks import network_file

MORE_CYCLES = re.compile(r"row by row: .* about ([\d.]+) % more cycles")
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
    assert 0 < len(slower) < len(one["steps"])
    assert all(kernel.startswith("portable.") or kernel.endswith("_single") for kernel in slower.values())


def test_what_the_error_asks_for_is_the_least(tilewright: Any, int8: Path) -> None:
    finished = tilewright("check", int8, "-t", "cortex-m4", "--memory", "ram=100")
    assert finished.code == 5
    (least,) = (int(found) for found in re.findall(r"try:  --memory ram=(\d+) ", finished.err))
    assert least < int(LEAST)  # by rows
    assert tilewright("check", int8, "-t", "cortex-m4", "--memory", f"ram={least}").code == 0
    assert tilewright("check", int8, "-t", "cortex-m4", "--memory", f"ram={least - 1}").code == 5


def test_what_would_fit_moves_ends_that_flags_name(tilewright: Any, int8: Path) -> None:
    """`--io user` alone leaves an output where a flag has put it."""
    words = ("check", int8, "-t", "generic", "--io", "user", "--io", "image=pool", "--memory", "ram=264")
    finished = tilewright(*words)
    assert finished.code == 5
    (line,) = re.findall(r"try:  (--io .*?) {2,}.* -> fits", finished.err)
    assert line == "--io user --io image=user"
    assert tilewright(*words, *line.split()).code == 0


def test_a_saved_binding_has_the_kernels_that_fit(tilewright: Any, int8: Path, tmp_path: Path) -> None:
    words = ("compile", int8, "-t", "cortex-m4", "-q", "-o")
    short = ("--memory", f"ram={LEAST}")
    first = tilewright(*words, tmp_path / "a", *short, "--export-state", f"bound={tmp_path / 'bound'}")
    again = tilewright(*words, tmp_path / "b", "--import-state", tmp_path / "bound")
    assert (first.code, again.code) == (0, 0), again.err
    assert (tmp_path / "a" / "digits_int8.c").read_bytes() == (tmp_path / "b" / "digits_int8.c").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "limit"), [("resnet8_int8", 16_000), ("kws_int8", 6_300)])
def test_a_limit_that_costs_much_names_what_costs_less(tilewright: Any, name: str, limit: int) -> None:
    """The line is typed, and gives its bytes and its cycles."""
    words = ("check", network_file(name), "-t", "cortex-m4", "--memory", f"ram={limit}")
    costly = tilewright(*words)
    said = re.search(r"limit of memory costs about ([\d.]+) % more", costly.err)
    line = re.search(
        r"try:  (--io user) .* -> fits, ram ([\d,]+) of .*, about ([\d.]+) % more cycles$", costly.err, re.M
    )
    assert said and line, costly.err
    assert MORE_CYCLES.findall(costly.err) == [said[1]]
    cheap = tilewright(*words, *line[1].split())
    assert "TW5039" not in cheap.err
    assert MORE_CYCLES.findall(cheap.err) == [line[3]]
    assert re.findall(r"^  ram +([\d,]+) B", cheap.out, re.M) == [line[2]]
    assert 100 + float(said[1]) > 1.25 * (100 + float(line[3]))


def test_steps_by_rows_have_kernels_of_less_scratch_before_plain_ones(tilewright: Any) -> None:
    """Of resnet8, less than the fastest kernels take by rows: one step or two are slower, not all."""
    checked = tilewright("check", network_file("resnet8_int8"), "-t", "cortex-m4", "--memory", "ram=17400")
    assert checked.code == 0
    assert 1 <= checked.err.count("cortex-m.dsp.qconv_single instead of cortex-m.dsp.qconv, ") <= 2
    assert "portable." not in checked.err
    (more,) = MORE_CYCLES.findall(checked.err)
    assert float(more) < 20


@pytest.mark.parametrize(
    "words", [("--memory", "ram=30000"), ("--optimize", "ram"), ("--memory", "ram=17000", "--io", "user")]
)
def test_nothing_is_said_where_nothing_costs_much(tilewright: Any, words: tuple[str, ...]) -> None:
    checked = tilewright("check", network_file("resnet8_int8"), "-t", "cortex-m4", *words)
    assert checked.code == 0 and "TW5039" not in checked.err
