"""RequantShift by itself: along which axis its numbers go, its reference, its C."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from dialect_models import Net, requantised

from tilewright.api.graph import MultiplyShift, Requant

Compute = Callable[..., list[Any]]


@pytest.mark.parametrize(
    ("shape", "dims", "axis"),
    [
        ((2, 3, 4, 5), (3, 1, 1), 1),
        ((2, 3, 4, 5), (1, 3, 1, 1), 1),
        ((2, 3, 4), (3, 1, 1), 1),  # channels of a row of pixels, where numpy would see images
        ((3, 3, 4), (1, 3, 1, 1), 1),
        ((2, 3, 4), (3, 1), 1),
        ((6, 3), (6, 1), 0),
        ((6, 3), (1, 3), 1),
        ((6, 3), (3,), 1),
        ((2, 3, 4), (1, 1), None),
    ],
)
def test_numbers_belong_to_channels(shape: Any, dims: Any, axis: int | None, compute: Compute) -> None:
    net = Net()
    mul = net.rng.integers(1, 200, dims)
    add = net.rng.integers(-999, 999, dims)
    x = net.rng.integers(-128, 128, shape).astype(np.int8)
    model = net.model(net.shift(net.input("x", shape), mul, add))
    along = [-1 if each == axis else 1 for each in range(len(shape))]
    expected = requantised(x, mul.reshape(along), add.reshape(along), 256, -128, 127)
    np.testing.assert_array_equal(compute(model, {"x": x})[0], expected)


def test_numbers_that_fit_no_axis_are_refused(read_in: Callable[..., Any]) -> None:
    net = Net()
    model = net.model(net.shift(net.input("x", (2, 3, 4)), np.ones((5, 1, 1)), 0))
    with pytest.raises(Exception, match=r"mul has the shape \[5, 1, 1\], and x \[2, 3, 4\]"):
        read_in(model)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32])
@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("rounding", ["half-up", "floor"])
def test_the_c_is_exact(dtype: Any, channels: int, rounding: Any, right_in_c: Callable[..., list[str]]) -> None:
    rng = np.random.default_rng(3)
    limits = np.iinfo(dtype)
    x = rng.integers(limits.min, int(limits.max) + 1, (2, 3, 7), np.int64).astype(dtype)
    shift = 20 if dtype is np.int32 else 6
    multiplier = tuple(int(each) for each in rng.integers(-50, 90, channels))
    requant = Requant(
        scale=tuple(each / 2**shift for each in multiplier),
        zero_point=0,
        low=-128,
        high=127,
        rounding=MultiplyShift(
            multiplier=multiplier, addend=(2**35 + 5,) * channels, shift=(shift,), rounding=rounding, bits=64
        ),
    )
    assert right_in_c("integer.Shift", [x], {"requant": requant, "axis": 1 if channels > 1 else 2}) == []


def test_results_have_the_smallest_type(read_in: Callable[..., Any]) -> None:
    for levels, signed, found in ((256, 1, "i8"), (256, 0, "u8"), (128, 0, "i8"), (1 << 16, 1, "i32")):
        net = Net()
        graph = read_in(net.model(net.shift(net.input("x", (4,)), 3, 1, signed=signed, levels=levels))).graph
        assert graph.tensors[graph.outputs[0]].dtype.value == found
