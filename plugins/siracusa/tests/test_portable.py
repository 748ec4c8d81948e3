"""What plain C is said to take on a core of the cluster: for every operator of a kernel, and more for more work."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright.api.graph import Requant, Site
from tilewright.api.testing import every_layer, refusal, site_of, vocabulary
from tilewright.ir.plans.layer import layer_of
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


@pytest.mark.parametrize(("less", "more"), [
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
