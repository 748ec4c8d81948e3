"""Small layers of many kinds, drawn by hypothesis, each as one scheduled step on the made-up cluster."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from tilewright.ir.machines.platform import Platform
from tilewright.ir.plans.stages import Scheduled
from tilewright.ir.rounding import ceil_div
from tilewright.testing.one_step import one_step


@st.composite
def layers(draw: st.DrawFn) -> dict[str, Any]:
    """Arguments of `one_step`, the platform excepted."""
    kind = draw(st.sampled_from(["conv", "pool", "gemm", "matmul", "add", "softmax", "slice", "reduce", "concat"]))
    layer: dict[str, Any] = globals()[f"_{kind}"](draw)
    return layer


def schedule_on(layer: dict[str, Any], platform: Platform) -> Scheduled:
    return one_step(platform=platform, **layer)


def _zeros(*shape: int) -> np.ndarray:
    return np.zeros(shape, np.float32)


def _windows(draw: st.DrawFn) -> dict[str, Any]:
    kernel = tuple(draw(st.integers(1, 3)) for _ in range(2))
    dilations = tuple(draw(st.integers(1, 2)) for _ in range(2))
    return {
        "kernel_shape": kernel,
        "strides": tuple(draw(st.integers(1, 3)) for _ in range(2)),
        "dilations": dilations,
        "pads": tuple(draw(st.integers(0, (kernel[axis % 2] - 1) * dilations[axis % 2])) for axis in range(4)),
    }


def _conv(draw: st.DrawFn) -> dict[str, Any]:
    group, inside, outside = (draw(st.integers(1, 3)) for _ in range(3))
    attributes = {**_windows(draw), "group": group}
    x = _zeros(draw(st.integers(1, 2)), group * inside, draw(st.integers(5, 12)), draw(st.integers(5, 12)))
    w = _zeros(group * outside, inside, *attributes["kernel_shape"])
    return {"op": "Conv", "inputs": [x, w, _zeros(group * outside)], "attributes": attributes, "constants": (1, 2)}


def _pool(draw: st.DrawFn) -> dict[str, Any]:
    attributes = _windows(draw)
    attributes["pads"] = tuple(
        min(pad, attributes["kernel_shape"][axis % 2] - 1) for axis, pad in enumerate(attributes["pads"])
    )
    x = _zeros(1, draw(st.integers(1, 6)), draw(st.integers(5, 12)), draw(st.integers(5, 12)))
    ceil = draw(st.integers(0, 1))
    return {"op": "MaxPool", "inputs": [x], "attributes": {**attributes, "ceil_mode": ceil}}


def _gemm(draw: st.DrawFn) -> dict[str, Any]:
    m, n, k = (draw(st.integers(1, 20)) for _ in range(3))
    return {"op": "Gemm", "inputs": [_zeros(m, k), _zeros(k, n), _zeros(n)], "constants": (1, 2)}


def _matmul(draw: st.DrawFn) -> dict[str, Any]:
    m, n, k = (draw(st.integers(1, 12)) for _ in range(3))
    return {"op": "MatMul", "inputs": [_zeros(2, m, k), _zeros(2, k, n)]}


def _add(draw: st.DrawFn) -> dict[str, Any]:
    shape = tuple(draw(st.integers(1, 9)) for _ in range(draw(st.integers(1, 4))))
    other = tuple(draw(st.sampled_from([1, extent])) for extent in shape[draw(st.integers(0, len(shape) - 1)) :])
    return {"op": "Add", "inputs": [_zeros(*shape), _zeros(*other)]}


def _softmax(draw: st.DrawFn) -> dict[str, Any]:
    shape = tuple(draw(st.integers(1, 9)) for _ in range(3))
    return {"op": "Softmax", "inputs": [_zeros(*shape)], "attributes": {"axis": draw(st.integers(0, 2))}}


def _slice(draw: st.DrawFn) -> dict[str, Any]:
    extents = [draw(st.integers(2, 12)) for _ in range(2)]
    steps = tuple(draw(st.sampled_from([1, 2, 3])) for _ in extents)
    starts = tuple(draw(st.integers(0, extent - 1)) for extent in extents)
    shape = tuple(
        draw(st.integers(1, ceil_div(extent - start, step)))
        for extent, start, step in zip(extents, starts, steps, strict=True)
    )
    attributes = {"starts": starts, "steps": steps, "shape": shape}
    return {"op": "Slice", "inputs": [_zeros(*extents)], "attributes": attributes}


def _reduce(draw: st.DrawFn) -> dict[str, Any]:
    shape = tuple(draw(st.integers(1, 8)) for _ in range(3))
    attributes = {"axes": (draw(st.integers(0, 2)),), "keepdims": draw(st.integers(0, 1))}
    return {"op": "ReduceSum", "inputs": [_zeros(*shape)], "attributes": attributes}


def _concat(draw: st.DrawFn) -> dict[str, Any]:
    rows = draw(st.integers(2, 5))
    return {"op": "Concat", "inputs": [_zeros(rows, 3), _zeros(rows, 4)], "attributes": {"axis": 1}}
