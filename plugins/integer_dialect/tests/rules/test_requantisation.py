"""RequantShift in the encodings that files have, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from dialect_models import Net, requantised, scalar

Compute = Callable[..., list[Any]]


@pytest.mark.parametrize("domain", ["", "PACTOps", "ai.onnx.contrib"])
@pytest.mark.parametrize(
    "numbers",
    [
        {"div": scalar(64), "n_levels": scalar(256), "signed": scalar(0)},
        {"div": 64, "n_levels_out": 256, "signed": 0},
        {"div": 64.0, "n_levels": [256], "signed": 0.0},
    ],
)
def test_domains_and_encodings_mean_the_same(domain: str, numbers: dict[str, Any], compute: Compute) -> None:
    net = Net()
    x = np.arange(-128, 128, dtype=np.int8)
    shifted = net.node(
        "RequantShift", net.input("x", (256,)), net.constant(77), net.constant([-50]), domain=domain, **numbers
    )
    model = net.model(shifted, domains=[domain] if domain else [])
    np.testing.assert_array_equal(compute(model, {"x": x})[0], requantised(x, 77, -50, 64, 0, 255))


@pytest.mark.parametrize(
    ("numbers", "reason"),
    [
        ({"div": 100, "n_levels": 256}, "div is 100, and no power of two"),
        ({"n_levels": 256}, "attribute div is missing"),
        ({"div": 4, "n_levels": 1}, "1 levels"),
        ({"div": 4.5, "n_levels": 256}, "no whole number"),
        ({"div": [4, 4], "n_levels": 256}, "has 2 numbers"),
    ],
)
def test_numbers_that_say_nothing_are_refused(numbers: Any, reason: str, read_in: Callable[..., Any]) -> None:
    net = Net()
    model = net.model(net.node("RequantShift", net.input("x", (4,)), net.constant(1), net.constant(0), **numbers))
    with pytest.raises(Exception, match="1 node of this network of whole numbers cannot be taken") as caught:
        read_in(model)
    assert reason in str(caught.value)


def test_a_multiplier_with_fractions_is_refused(read_in: Callable[..., Any]) -> None:
    net = Net()
    with pytest.raises(Exception, match="cannot be taken") as caught:
        read_in(net.model(net.shift(net.input("x", (4,)), 1.5, 0)))
    assert "has fractions" in str(caught.value)


def test_halves_go_up_and_chains_down(compute: Compute) -> None:
    net = Net()
    x = net.input("x", (4,))
    half = net.shift(x, 1, 0, 2)
    sums = net.node("Div", net.node("Add", net.node("Mul", x, net.constant(3)), net.constant(1)), net.constant(4))
    floored = net.node("Clip", net.node("Floor", sums), net.constant(-8), net.constant(8))
    values = np.array([-3, -1, 1, 127], np.int8)
    found = compute(net.model(half, floored), {"x": values})
    assert found[0].tolist() == [-1, 0, 1, 64]
    assert found[1].tolist() == [-2, -1, 1, 8]
