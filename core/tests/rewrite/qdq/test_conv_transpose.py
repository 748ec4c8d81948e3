"""A quantised ConvTranspose becomes one QConv for all phases of its strides, exactly; what has no such form stays."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.requant import Requant, requantise
from tilewright.rewrite.passes import PASSES
from tilewright.testing.sketch import Sketch

X_SCALE, Y_SCALE = np.float32(0.037), np.float32(0.21)


def sums(
    x: npt.NDArray[np.int64], w: npt.NDArray[np.int64], strides: tuple[int, ...], pads: tuple[int, ...], shape: Any
) -> npt.NDArray[np.int64]:
    """By definition: every input times every tap, where it lands."""
    total = np.zeros(shape, np.int64)
    for (h, v), (y, z) in ((a, b) for a in np.ndindex(*x.shape[2:]) for b in np.ndindex(*w.shape[2:])):
        place = h * strides[0] + y - pads[0], v * strides[1] + z - pads[1]
        if all(0 <= at < extent for at, extent in zip(place, shape[2:], strict=True)):
            total[:, :, place[0], place[1]] += x[:, :, h, v] @ w[:, :, y, z]
    return total


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(data=st.data(), per_channel=st.booleans(), bias=st.booleans())
def test_every_phase_is_exact(data: st.DataObject, per_channel: bool, bias: bool, operators: Any, bench: Any) -> None:
    random, s = np.random.default_rng(data.draw(st.integers(0, 2**32))), Sketch(operators=operators)
    kernel, strides = (tuple(data.draw(st.integers(1, 4)) for _ in range(2)) for _ in range(2))
    pads = tuple(data.draw(st.integers(0, (kernel[axis % 2] - 1) // 2)) for axis in range(4))
    extra = tuple(data.draw(st.integers(0, stride - 1)) for stride in strides)
    weights = random.integers(-128, 128, (3, 2, *kernel)).astype(np.int8)
    w_scale = np.array([0.013, 0.05], np.float32) if per_channel else np.float32(0.02)
    zeros = [3, -7] if per_channel else 5
    x = s.dequantize(s.input("x", DType.I8, (2, 3, 3, 4)), float(X_SCALE), -7)
    inputs = [x, s.dequantize(s.constant(weights), w_scale, zeros, axis=1)]
    biases = random.integers(-900, 900, 2).astype(np.int32)
    if bias:
        inputs.append(s.dequantize(s.constant(biases), np.broadcast_to(X_SCALE * w_scale, 2)))
    windows: dict[str, Any] = {"kernel_shape": kernel, "strides": strides, "dilations": (1, 1), "pads": pads}
    y = s.node("ConvTranspose", inputs, {**windows, "group": 1, "output_padding": extra}, name="up")
    graph = s.finish(s.quantize(y, float(Y_SCALE), 4, name="q"))
    lowered = bench.apply(graph, *PASSES)
    assert [node.op for node in lowered.nodes if node.op not in ("Reshape", "Transpose", "Slice")] == ["QConv"]
    assert "up" in lowered.nodes[0].origin
    given_inputs = bench.inputs(graph, 1)
    centred = weights.astype(np.int64) - np.reshape(zeros, (1, -1, 1, 1))
    total = sums(given_inputs["x"].astype(np.int64) + 7, centred, strides, pads, graph.tensors["up:0"].shape)
    total += biases.reshape(1, 2, 1, 1) if bias else 0
    scale = tuple(float(one) for one in (X_SCALE * np.atleast_1d(w_scale) / Y_SCALE).astype(np.float32))
    wanted = requantise(total, Requant(scale=scale, zero_point=4, low=-128, high=127), 1)
    assert np.array_equal(bench.values(lowered, given_inputs)[graph.outputs[0]], wanted)


@pytest.mark.parametrize("changes", [{"group": 2}, {"dilations": (2, 2)}])
def test_what_has_no_integer_form_stays_with_a_warning(changes: dict[str, Any], operators: Any, bench: Any) -> None:
    s = Sketch(operators=operators)
    x = s.dequantize(s.input("x", DType.I8, (1, 4, 5, 5)), 0.1)
    w = s.dequantize(s.constant(np.ones((4, 2, 2, 2), np.int8)), 0.1)
    plain: dict[str, Any] = {"kernel_shape": (2, 2), "strides": (1, 1), "dilations": (1, 1), "pads": (0, 0, 0, 0)}
    y = s.node("ConvTranspose", (x, w), {**plain, "group": 1, "output_padding": (0, 0), **changes}, name="up")
    graph = s.finish(s.quantize(y, 0.1, 0))
    assert "ConvTranspose" in [node.op for node in bench.apply(graph, *PASSES).nodes]
    (warning,) = bench.diagnostics(graph, *PASSES)
    assert warning.code == "TW3001" and "one group and no dilation" in warning.message
