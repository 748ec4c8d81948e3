"""Fields of images and windows: one axis is a single row."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from tilewright.operators.shared.images import image_fields, tap_fields
from tilewright.operators.shared.windows import Windows

LINE = Windows(kernel=(3,), strides=(2,), dilations=(4,), before=(5,), after=(6,))
IMAGE = Windows(kernel=(1, 3), strides=(1, 2), dilations=(1, 4), before=(0, 5), after=(0, 6))


def test_taps() -> None:
    assert tap_fields(LINE) == tap_fields(IMAGE) == {
        "row_taps": 1, "column_taps": 3, "row_stride": 1, "column_stride": 2, "row_dilation": 1, "column_dilation": 4
    }  # fmt: skip


def call(*extents: int) -> Any:
    """Channels last, N C H W in order of the axes: what `image_fields` looks at."""
    axes = len(extents)
    steps = (900, 1, 80, 4)[:2] + ((80, 4) if axes == 4 else (4,))
    operand = SimpleNamespace(
        shape=extents, extents=tuple(map(str, extents)), before=tuple(f"b{axis}" for axis in range(axes)), strides=steps
    )  # fmt: skip
    return SimpleNamespace(operands={"X": operand, "Y": operand})


def test_fields_of_an_image() -> None:
    found = image_fields(call(1, 8, 5, 6))
    assert (found["rows"], found["columns"], found["outputs"], found["in_rows"]) == ("5", "6", "8", "5")
    assert (found["top"], found["left"]) == ("b2", "b3")
    assert (found["x_batch"], found["x_row"], found["x_column"]) == (900, 80, 4)


def test_fields_of_a_line() -> None:
    found = image_fields(call(1, 8, 6))
    assert (found["rows"], found["columns"], found["outputs"], found["in_rows"]) == ("1", "6", "8", "1")
    assert (found["top"], found["left"], found["y_row"], found["y_column"]) == ("0", "b2", 0, 4)
