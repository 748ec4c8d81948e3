"""Gradients of convolutions against differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from dialect_models import Net


def _conv(x: Any, w: Any, stride: int, pad: int) -> Any:
    padded = np.pad(x, [(0, 0), (0, 0), (pad, pad), (pad, pad)])
    windows = np.lib.stride_tricks.sliding_window_view(padded, w.shape[2:], (2, 3))[:, :, ::stride, ::stride]
    return np.einsum("nchwyx,ocyx->nohw", windows, w)


@pytest.mark.parametrize(("stride", "pad", "size"), [(1, 0, 5), (1, 1, 5), (2, 1, 6), (2, 0, 6)])
def test_image_weights_and_bias(stride: int, pad: int, size: int, compute: Callable[..., list[Any]]) -> None:
    net = Net(1)
    x, w = (net.rng.standard_normal(shape).astype(np.float32) for shape in ((2, 3, size, size), (4, 3, 3, 3)))
    y = _conv(x.astype(np.float64), w, stride, pad)
    g = net.rng.standard_normal(y.shape).astype(np.float32)
    given = net.input("g", g.shape), net.input("x", x.shape), net.constant(w)
    words = {"strides": [stride] * 2, "pads": [pad] * 4, "kernel_shape": [3, 3], "dilations": [1, 1], "group": 1}
    first = net.node("ConvGrad", *given, domain="com.microsoft", outputs=3, **words)
    model = net.model(first, f"{first}_1", f"{first}_2", domains=["com.microsoft"])
    found = compute(model, {"g": g, "x": x}, {"g": "", "x": ""})
    for index, direction in enumerate(net.rng.standard_normal(shape) for shape in (x.shape, w.shape)):
        moved = (x + 1e-3 * direction, w) if index == 0 else (x, w + 1e-3 * direction)
        along = ((_conv(*moved, stride, pad) - y) * g).sum() / 1e-3  # a convolution is linear in either
        assert abs((found[index] * direction).sum() - along) < 1e-3
    np.testing.assert_allclose(found[2], g.sum(axis=(0, 2, 3)), atol=1e-4)


def test_weights_of_groups_are_refused(read_in: Callable[..., Any]) -> None:
    net = Net()
    given = net.input("g", (1, 4, 3, 3)), net.input("x", (1, 4, 5, 5)), net.constant(np.ones((4, 1, 3, 3)))
    net.node("ConvGrad", *given, domain="com.microsoft", outputs=2, group=4)
    with pytest.raises(Exception, match="1 node of this network cannot be taken") as caught:
        read_in(net.model("v0_1", domains=["com.microsoft"]), {"g": "", "x": ""})
    assert "weights of 4 groups" in str(caught.value)
