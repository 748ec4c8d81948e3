"""Assembler of Cortex-M kernels is written once in a program, however many layers differ in what is filled in."""

from __future__ import annotations

import re

import pytest

import tilewright
from networks import network_file

LINES = 20  # of assembler that follow one another
_RUN = re.compile(r'(?:^ +".*"[^"\n]*\n)+', re.MULTILINE)


@pytest.mark.parametrize("target", ["cortex-m4", "cortex-m55"])
@pytest.mark.parametrize("name", ["kws_int8", "vww_int8"])
def test_no_run_of_instructions_stands_twice(name: str, target: str) -> None:
    compiled = tilewright.compile(network_file(name), target)
    text = "".join(value.decode() for file, value in compiled.files.items() if file.endswith(".c"))
    found = [window for run in _RUN.findall(text) for window in _windows(_unfilled(run).splitlines())]
    assert found
    assert len(found) == len(set(found))


def _unfilled(run: str) -> str:
    """Without numbers, which is what may differ from use to use."""
    return re.sub(r"#\d+", "#", run)


def _windows(lines: list[str]) -> list[tuple[str, ...]]:
    return [tuple(lines[at : at + LINES]) for at in range(len(lines) - LINES + 1)]
