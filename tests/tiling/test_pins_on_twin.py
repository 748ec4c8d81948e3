"""Values that are pinned on the way from the backing memory to the scratchpad, run on the twin."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import tilewright

DIGITS = Path(__file__).parents[2] / "examples" / "digits" / "digits_int8.onnx"


@pytest.mark.parametrize("pins", [["image=l2", "scores=l2"], ["image=l2"]], ids=" ".join)
def test_every_step_is_exact(pins: list[str], tool: Callable[[str], str]) -> None:
    tool("cc")
    compiled = tilewright.compile(DIGITS, "siracusa", set={"home": "l3"}, memory={"l1": "16K"}, pin=pins)
    pinned = [
        buffer for buffer in compiled.report.data["buffers"] if buffer["kind"] != "tile" and buffer["pool"] == "l2"
    ]
    assert len(pinned) >= len(pins)
    assert compiled.validate(on="twin", sets=1).passed
