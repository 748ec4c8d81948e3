"""A node from arrays, the points of its loops, and what is wrong with windows or results: said, and said right."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.ir.access.index_map import Box, Loop, MapAccess, Span, Window
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.tensors.dtypes import DType
from tilewright.testing.one_step import vocabulary
from tilewright.testing.operator_sites import (
    Sample,
    byte_array,
    make_requant,
    points,
    position,
    refusal,
    result_errors,
    site_of,
    window_errors,
)

CONV = vocabulary()["Conv"]
WINDOWS = {"kernel_shape": (3, 3), "strides": (2, 1), "dilations": (1, 1), "pads": (1, 1, 1, 1), "group": 1}


def conv() -> Any:
    arrays = [np.ones((1, 2, 6, 5), np.float32), np.ones((3, 2, 3, 3), np.float32), None]
    return site_of(CONV, arrays, WINDOWS, (1,)), arrays


def access() -> MapAccess:
    found: Any = CONV.access(conv()[0])
    return found


def test_a_site_has_its_tensors_its_constants_and_what_is_inferred() -> None:
    site, _ = conv()
    assert [tensor and tensor.shape for tensor in site.inputs] == [(1, 2, 6, 5), (3, 2, 3, 3), None]
    assert site.node.inputs == ("in0", "in1", "") and list(site.constants) == ["in1"]
    assert site.output.shape == (1, 3, 3, 5)


def test_points_are_all_trips_or_those_of_a_box() -> None:
    loops = (Loop(name="a", extent=2, kind="parallel"), Loop(name="b", extent=3, kind="reduce"))
    whole = list(points(type("Two", (), {"loops": loops})()))
    assert len(whole) == 6 and len({tuple(point.items()) for point in whole}) == 6
    part = points(type("Two", (), {"loops": loops})(), {"a": (1, 2), "b": (0, 2)})
    assert list(part) == [{"a": 1, "b": 0}, {"a": 1, "b": 1}]


def test_a_point_touches_an_element_or_padding() -> None:
    found = [position(access(), "X", point) for point in points(access())]
    assert None in found  # the first row of the first window
    inside = {at for at in found if at}
    assert inside == {(0, c, h, w) for c in range(2) for h in range(6) for w in range(5)}


def test_windows_of_an_operator_are_right_and_wrong_ones_are_told() -> None:
    sound = access()
    box = {loop.name: (0, loop.extent) for loop in sound.loops}
    assert window_errors(sound, box) == []

    class Wrong:
        loops, axes, inputs, outputs = sound.loops, sound.axes, sound.inputs, sound.outputs

        def window(self, operand: str, box: Box) -> Window:
            first, *rest = sound.window(operand, box)
            return (Span(low=first.low, high=first.high + 1, before=first.before, after=first.after), *rest)

    errors = window_errors(Wrong(), box)  # type: ignore[arg-type]
    assert len(errors) == 3 and all("axis 0" in error for error in errors)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [(1, "[0, 0]"), (np.nan, "[0, 0]"), (np.inf, "1 differ")],
)
def test_a_result_that_differs_is_told_with_its_place(wrong: float, told: str) -> None:
    operator, array = vocabulary()["Neg"], np.array([[1.0, np.nan]], np.float32)
    site = site_of(operator, [array])
    right = -array
    assert result_errors(operator, site, [array], [right]) == []
    right[0, 0] += wrong
    (error,) = result_errors(operator, site, [array], [right])
    assert error.startswith("out0") and told in error
    (shape,) = result_errors(operator, site, [array], [right[0]])
    assert "(2,)" in shape


def test_a_kernel_refuses_with_a_sentence_and_accepts_with_anything_else() -> None:
    answers: Mapping[str, object] = {"no": "it is too large", "yes": None, "analysis": 7}
    found = {
        name: refusal(Kernel(name=name, op="Conv", match=lambda _, answer=answer: answer), conv()[0])
        for name, answer in answers.items()
    }
    assert found == {"no": "it is too large", "yes": None, "analysis": None}


def test_names_are_identifiers() -> None:
    assert Sample(op="Conv", inputs=()).name == "Conv"
    assert Sample(op="Conv", kind="computed weights", inputs=()).name == "Conv_computed_weights"


BYTES = st.sampled_from([DType.I8, DType.U8])
KINDS = st.sampled_from(["random", "ties", "coarse"])


@pytest.mark.parametrize("dtype", [DType.I8, DType.U8])
def test_bytes(dtype: DType) -> None:
    rng = np.random.default_rng(0)
    every, ends = byte_array(rng, dtype, (40, 50), False), byte_array(rng, dtype, (40, 50), True)
    assert every.dtype == ends.dtype == dtype.numpy and every.shape == (40, 50)
    assert (every.min(), every.max()) == dtype.limits
    assert set(ends.ravel().tolist()) == set(dtype.limits)


@given(
    st.integers(0, 2**32), st.integers(1, 9), BYTES, st.floats(0, 1e6), st.sampled_from(["random", "ties", "coarse"])
)
def test_requantisations(seed: int, channels: int, dtype: DType, reach: float, kind: str) -> None:
    """Limits are the type's, or begin at the zero point; scales are float32, and powers of two for ties."""
    found = make_requant(np.random.default_rng(seed), channels, dtype, reach, kind)
    low, high = dtype.limits
    assert found.high == high and found.low in (low, found.zero_point) and low <= found.zero_point <= high
    assert len(found.scale) == channels
    results = [scale * max(reach, 1.0) for scale in found.scale]
    factor = 64 if kind == "coarse" else 1
    assert all(factor * 200 / 6 <= result <= factor * 200 * 6 for result in results)
    assert all(scale == float(np.float32(scale)) for scale in found.scale)
    assert kind != "ties" or all(np.frexp(scale)[0] == 0.5 for scale in found.scale)
