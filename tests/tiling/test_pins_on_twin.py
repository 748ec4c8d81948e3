"""Values that are pinned on the way from the backing memory to the scratchpad, run on the twin."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import tilewright

DIGITS = Path(__file__).parents[2] / "examples" / "digits" / "digits_int8.onnx"


@pytest.mark.slow
@pytest.mark.parametrize("pins", [["image=l2", "scores=l2"], ["image=l2"]], ids=" ".join)
def test_every_step_is_exact(pins: list[str], tool: Callable[[str], str]) -> None:
    tool("cc")
    compiled = tilewright.compile(DIGITS, "siracusa", set={"home": "l3"}, memory={"l1": "16K"}, pin=pins)
    pinned = [
        buffer for buffer in compiled.report.data["buffers"] if buffer["kind"] != "tile" and buffer["pool"] == "l2"
    ]
    assert len(pinned) >= len(pins)
    assert compiled.validate(on="twin", sets=1).passed


@pytest.mark.parametrize("apart", [{}, {"groups": 1}], ids=["as one", "alone"])
def test_a_pin_that_no_place_can_keep_is_named(apart: dict[str, int]) -> None:
    compiled = tilewright.compile(DIGITS, "siracusa", memory={"l1": "16K"}, pin=["*=l2"], **apart)
    notes = [note for note in compiled.diagnostics if note.code == "TW1123"]
    assert any("run as one" in line for note in notes for line in note.details) is not bool(apart)
