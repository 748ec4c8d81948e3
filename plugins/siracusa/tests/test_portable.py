"""What plain C is said to take on a core of the cluster: for every operator of a kernel, and more for more work."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tilewright.api.graph import DType, Requant, Site
from tilewright.api.kernel import sum_bounds
from tilewright.api.testing import every_layer, refusal, site_of, vocabulary
from tilewright.ir.plans.layer import layer_of
from tilewright.testing.integer_recurrences import integer_recurrence
from tilewright_siracusa.kernels import KERNELS
from tilewright_siracusa.portable import portable_cycles

WINDOW = {"kernel_shape": (3, 3), "strides": (1, 1), "dilations": (1, 1), "pads": (1, 1, 1, 1)}


def conv(channels: int, outputs: int, group: int = 1, size: int = 8) -> Site:
    requant = Requant(scale=(0.01,), zero_point=0, low=-128, high=127)
    attributes = {
        **WINDOW, "group": group, "requant": requant, "x_zero_point": 0, "w_zero_point": (0,), "pad_value": 0,
        "output_type": "i8",
    }  # fmt: skip
    arrays = [np.zeros((1, channels, size, size), np.int8), np.zeros((outputs, channels // group, 3, 3), np.int8), None]
    return site_of(vocabulary()["QConv"], arrays, attributes, (1,))


def float_conv(channels: int, outputs: int) -> Site:
    arrays = [np.zeros((1, channels, 8, 8), np.float32), np.zeros((outputs, channels, 3, 3), np.float32), None]
    return site_of(vocabulary()["Conv"], arrays, {**WINDOW, "group": 1}, (1,))


def word_conv(channels: int, group: int = 1, weight: int = 1) -> Site:
    requant = Requant(scale=(0.001,), zero_point=0, low=-32768, high=32767)
    attributes = {
        **WINDOW, "group": group, "requant": requant, "x_zero_point": 0, "w_zero_point": (0,), "pad_value": 0,
        "output_type": "i16",
    }  # fmt: skip
    x, w = np.zeros((1, channels, 8, 8), np.int16), np.full((16, channels // group, 3, 3), weight, np.int8)
    return site_of(vocabulary()["QConv"], [x, w, None], attributes, (1,))


def word_sum(a_scale: float, y_scale: float = 1.0) -> Site:
    scales = {"a_scale": float(np.float32(a_scale)), "b_scale": 0.25, "y_scale": float(np.float32(y_scale))}
    zeros = {"a_zero_point": 0, "b_zero_point": 0, "zero_point": 0}
    attributes = {**scales, **zeros, "low": -32768, "high": 32767, "output_type": "i16"}
    return site_of(vocabulary()["QAdd"], [np.zeros((8, 64), np.int16)] * 2, attributes)


def recurrent(op: str, dtype: DType, units: int) -> Site:
    layer = integer_recurrence(
        np.random.default_rng(0), op, optional=False, dtype=dtype, shape=(4, 1, 8, units)
    )  # fmt: skip
    return site_of(vocabulary()[op], layer.inputs, layer.attributes, layer.constants)


def cost(site: Site) -> float:
    found = portable_cycles(site)
    assert found is not None
    return found


def test_every_operator_of_a_kernel_has_a_price() -> None:
    priced = set()
    for layer in every_layer():
        site = site_of(vocabulary()[layer.op], layer.inputs, layer.attributes, layer.constants)
        found = portable_cycles(site)
        if found is not None:
            assert found > 0, layer.name
            priced.add(layer.op)
    assert {kernel.op for kernel in KERNELS} <= priced


def test_integers_and_recurrences_have_a_price() -> None:
    """Without one, sums of 16 bits took up to 39 times what was said, recurrences up to five times."""
    unknown = set()
    for layer in every_layer():
        site = site_of(vocabulary()[layer.op], layer.inputs, layer.attributes, layer.constants)
        if layer.op.startswith("Q") or layer.op.endswith("Steps"):
            unknown |= {layer.op} if portable_cycles(site) is None else set()
    assert unknown == set()


def test_a_sum_of_16_bits_costs_what_its_form_does() -> None:
    short, long, divided = (cost(site) for site in (word_sum(0.5), word_sum(0.3), word_sum(0.3, 0.7)))
    assert 2 * short < long < divided / 5


def test_sums_of_64_bits_cost_more() -> None:
    narrow, wide = (word_conv(128, weight=weight) for weight in (1, 127))
    assert (sum_bounds(narrow).bits, sum_bounds(wide).bits) == (32, 64)
    assert cost(wide) > 2 * cost(narrow)


def test_bytes_made_of_16_bits_are_computed_as_these() -> None:
    site = word_conv(128, weight=127)
    requant = Requant(scale=(0.001,), zero_point=0, low=-128, high=127)
    node = replace(site.node, attributes={**site.node.attributes, "requant": requant, "output_type": "i8"})
    arrays = [np.zeros((1, 128, 8, 8), np.int16), site.constant(1), None]
    assert cost(site_of(vocabulary()["QConv"], arrays, node.attributes, (1,))) == cost(site)


@pytest.mark.parametrize(("less", "more"), [
    (word_conv(8), word_conv(16)), (word_conv(16, 16), word_conv(16)),
    (recurrent("QLSTM", DType.I8, 8), recurrent("QLSTM", DType.I16, 8)),
    (recurrent("QGRU", DType.I8, 8), recurrent("QLSTM", DType.I8, 8)),
    (recurrent("QGRU", DType.I16, 8), recurrent("QGRU", DType.I16, 9)),
    (conv(8, 8), conv(16, 8)), (conv(8, 8), conv(8, 16)), (conv(8, 8), conv(8, 8, size=9)),
    (conv(8, 1), conv(64, 1)), (conv(64, 1), conv(64, 2)), (float_conv(8, 1), float_conv(64, 1)),
])  # fmt: skip
def test_more_work_costs_more(less: Site, more: Site) -> None:
    assert cost(less) < cost(more)


def test_one_output_of_many_channels_is_no_depthwise_convolution() -> None:
    """It was priced as one, 14 times too low, so that plain C was bound where a kernel takes half as long."""
    site = conv(64, 1)
    assert cost(site) == pytest.approx(cost(conv(64, 2)) / 2)
    (kernel,) = (one for one in KERNELS if one.name == "siracusa.qconv")
    assert refusal(kernel, site) is None and kernel.cycles is not None
    assert kernel.cycles(layer_of(vocabulary()["QConv"], kernel, site).whole) < cost(site)
