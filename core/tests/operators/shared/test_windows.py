"""Sliding windows: counted one by one, seen through numpy, read from ONNX attributes, written as C."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from core.tests.operators.plain_calls import plain_operand
from core.tests.operators.plain_imports import Inputs, Refused, onnx_node
from tilewright.errors import TilewrightError
from tilewright.ir.graphs.graph import Node, Site, Tensor
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.shared.windows import (
    Windows,
    c_axes,
    image_fields,
    import_windows,
    inferred_outputs,
    tap_fields,
    tap_views,
    windows_of,
)

GRAPH = Inputs({})
PLAIN = Windows(kernel=(3, 2), strides=(2, 1), dilations=(1, 2), before=(1, 0), after=(0, 1))


@st.composite
def windows(draw: st.DrawFn, rank: int) -> Windows:
    def some(low: int, high: int) -> tuple[int, ...]:
        return tuple(draw(st.integers(low, high)) for _ in range(rank))

    return Windows(
        kernel=some(1, 3), strides=some(1, 3), dilations=some(1, 2), before=some(0, 2), after=some(0, 2),
        ceil_mode=draw(st.booleans()),
    )  # fmt: skip


@given(one=windows(1), extent=st.integers(1, 9))
def test_windows_are_counted(one: Windows, extent: int) -> None:
    """A window starts every stride and ends inside the padding. With `ceil_mode` one more may reach beyond it; then the
    last one does not count if it starts in the padding after the input (ONNX, MaxPool, output shape)."""
    start, end = -one.before[0], extent + one.after[0]
    assume(start + one.reach[0] <= end)
    starts = [at for at in range(start, end, one.strides[0]) if at + one.reach[0] <= end]
    if one.ceil_mode and starts[-1] + one.reach[0] < end:
        starts.append(starts[-1] + one.strides[0])
    if one.ceil_mode and starts[-1] >= extent:
        starts.pop()
    assert one.outputs((extent,)) == (len(starts),)


def test_no_window_fits() -> None:
    assert replace(PLAIN, kernel=(9, 2)).outputs((4, 4))[0] < 1


@pytest.mark.slow
@given(found=windows(2), extents=st.tuples(st.integers(1, 6), st.integers(1, 6)))
def test_taps_see_what_the_index_map_says(found: Windows, extents: tuple[int, int]) -> None:
    """`view[tap][h, w]` is the input at `h*sh + y*dh - ph`, or the fill outside."""
    outputs = found.outputs(extents)
    assume(min(outputs) >= 1)
    x = np.arange(1, 1 + extents[0] * extents[1]).reshape(1, 1, *extents)
    values = found.map_values()
    views = list(tap_views(x, found, -7))
    assert len(views) == found.kernel[0] * found.kernel[1]
    for (y, x_tap), view in zip(product(*map(range, found.kernel)), views, strict=True):
        assert view.shape == (1, 1, *outputs)
        for h, w in product(*map(range, outputs)):
            names = {**values, "h": h, "w": w, "y": y, "x": x_tap}
            at = tuple(eval(index.removesuffix("?"), {}, names) for index in found.map_indices())
            inside = all(0 <= place < extent for place, extent in zip(at, extents, strict=True))
            assert view[0, 0, h, w] == (x[0, 0, *at] if inside else -7)


def test_loops_are_named_from_the_last_axis() -> None:
    one, three = (Windows(**dict.fromkeys(("kernel", "strides", "dilations", "before", "after"), (1,) * rank))
                  for rank in (1, 3))  # fmt: skip
    assert (one.output_loops, one.tap_loops) == (("w",), ("x",))
    assert (three.output_loops, three.tap_loops) == (("d", "h", "w"), ("z", "y", "x"))
    assert PLAIN.map_indices() == ("h*sh+y*dh-ph?", "w*sw+x*dw-pw?")
    assert PLAIN.map_values() == {"sh": 2, "dh": 1, "ph": 1, "ky": 3, "sw": 1, "dw": 2, "pw": 0, "kx": 2}


def site(found: Windows, shape: tuple[int, ...]) -> Site:
    node = Node(name="pool", op="MaxPool", inputs=("x",), outputs=("y",), attributes=found.attributes())
    return Site(node=node, inputs=(Tensor(name="x", dtype=DType.F32, shape=shape),), outputs=(), constants={})


@pytest.mark.parametrize("ceil_mode", [False, True])
def test_normal_form_and_back(ceil_mode: bool) -> None:
    found = replace(PLAIN, ceil_mode=ceil_mode)
    assert windows_of(site(found, ()).node) == found
    assert inferred_outputs(site(found, (1, 4, 6, 7))) == found.outputs((6, 7))


@pytest.mark.parametrize(("shape", "reason"), [
    ((1, 4, 6), r"X has 1 spatial axes, the kernel \[3, 2\] 2"),
    ((1, 4, 1, 7), r"reaches over \[3, 3\] does not fit"),
])  # fmt: skip
def test_shapes_that_do_not_fit(shape: tuple[int, ...], reason: str) -> None:
    with pytest.raises(TilewrightError, match=reason) as caught:
        inferred_outputs(site(PLAIN, shape))
    assert (caught.value.code, caught.value.where) == ("TW1310", "pool")


def test_attributes_that_are_absent() -> None:
    found = import_windows(onnx_node(), GRAPH, (5, 6), (3, 2), ceil_mode=True)
    assert found == Windows(
        kernel=(3, 2), strides=(1, 1), dilations=(1, 1), before=(0, 0), after=(0, 0), ceil_mode=True
    )  # fmt: skip


@given(extent=st.integers(1, 12), kernel=st.integers(1, 4), stride=st.integers(1, 4), dilation=st.integers(1, 2))
def test_same_gives_an_output_for_every_stride(extent: int, kernel: int, stride: int, dilation: int) -> None:
    found = {}
    for mode in ("SAME_UPPER", "SAME_LOWER"):
        node = onnx_node(auto_pad=mode, strides=(stride,), dilations=(dilation,))
        found[mode] = import_windows(node, GRAPH, (extent,), (kernel,))
        assert found[mode].outputs((extent,)) == (-(-extent // stride),)
    upper, lower = found["SAME_UPPER"], found["SAME_LOWER"]
    assert (upper.before, upper.after) == (lower.after, lower.before)
    assert upper.after[0] - upper.before[0] in (0, 1)


def test_valid_is_no_padding() -> None:
    found = import_windows(onnx_node(auto_pad="VALID", pads=(1, 1)), GRAPH, (5,), (3,))
    assert (found.before, found.after) == ((0,), (0,))


@pytest.mark.parametrize(("extents", "kernel", "attributes", "reason"), [
    ((), (), {}, "0 spatial axes"),
    ((2,) * 4, (1,) * 4, {}, "4 spatial axes"),
    ((5,), (0,), {}, r"kernel_shape is \[0\]"),
    ((5,), (2, 2), {}, r"kernel_shape is \[2, 2\]; 1 values"),
    ((5,), (2,), {"strides": (0,)}, "strides is"),
    ((5,), (2,), {"dilations": (2**31,)}, "dilations is"),
    ((5,), (2,), {"pads": (1,)}, r"pads is \[1\]; 2 values"),
    ((5,), (2,), {"pads": (0, -1)}, "between 0 and"),
    ((5,), (2,), {"auto_pad": "SAME"}, "auto_pad is 'SAME'"),
    ((5,), (2,), {"pads": (2**30, 0)}, "longer than"),
    ((5,), (3,), {"dilations": (2**29,)}, "longer than"),
])  # fmt: skip
def test_refusals(extents: tuple[int, ...], kernel: tuple[int, ...], attributes: dict[str, Any], reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        import_windows(onnx_node(**attributes), GRAPH, extents, kernel)


def test_windows_as_c() -> None:
    """A tile that starts at row `top`: what padding counts is measured from there; columns are known numbers."""
    x, y = plain_operand("X", DType.I8, (1, 2, 6, 8)), plain_operand("Y", DType.I8, (1, 2, 3, 7))
    x = replace(x, extents=("1", "2", "rows", "8"), origin=("0", "0", "top", "3"), before=("0", "0", "above", "0"))
    axes = c_axes(PLAIN, x, y, (2, 1))
    assert axes["depth"] == "{.outputs = 1, .inputs = 1, .taps = 1, .stride = 1, .dilation = 1, .counted = 1}"
    assert axes["row"] == (
        "{.outputs = 3, .inputs = rows, .taps = 3, .stride = 2, .dilation = 1, .before = above, "
        ".counted = 6 - top, .x_step = 8, .y_step = 7, .w_step = 2}"
    )
    assert axes["column"] == (
        "{.outputs = 7, .inputs = 8, .taps = 2, .stride = 1, .dilation = 2, .before = 0, "
        ".counted = 6, .x_step = 1, .y_step = 1, .w_step = 1}"
    )
    assert ".w_step = 0" in c_axes(PLAIN, x, y)["row"]


def test_along_one_tap_there_is_no_dilation() -> None:
    column = replace(PLAIN, kernel=(3, 1), dilations=(2, 3))
    assert windows_of(site(column, ()).node) == replace(column, dilations=(2, 1))


def test_one_axis_becomes_one_row_of_two() -> None:
    line = Windows(kernel=(3,), strides=(2,), dilations=(4,), before=(5,), after=(6,), ceil_mode=True)
    image = Windows(kernel=(1, 3), strides=(1, 2), dilations=(1, 4), before=(0, 5), after=(0, 6), ceil_mode=True)
    assert line.two_axes == image and image.two_axes is image
    assert image.outputs((1, 40)) == (1, *line.outputs((40,)))


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
