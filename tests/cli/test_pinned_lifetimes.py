"""Inputs and outputs that are pinned to the scratchpad share its bytes, over time, with tiles; the marks say when."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


@pytest.mark.slow
@pytest.mark.parametrize("pins", [("image*",), ("scores*",), ("image*", "scores*"), ("*",)])
@pytest.mark.parametrize("target", ["siracusa", "snitch"])
def test_marks_of_what_is_pinned_are_true(tilewright: Any, int8: Path, target: str, pins: tuple[str, ...]) -> None:
    near = {"siracusa": "l1", "snitch": "tcdm"}[target]
    words = [word for pin in pins for word in ("--pin", f"{pin}={near}")]
    done = tilewright("validate", int8, "-t", target, *words, "--code-pass", "lifetimes", "--on", "twin")
    assert (done.code, "PASS" in done.out) == (0, True), done.err
