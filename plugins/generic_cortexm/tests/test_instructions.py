"""What plain C is said to take: for every operator that kernels compute as well, more for more work, and no depthwise
convolution where there is none."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright.api.graph import DType, Requant, Site
from tilewright.api.testing import every_layer, site_of, vocabulary
from tilewright_cortexm.kernels import KERNELS
from tilewright_cortexm.portable import portable_cycles


def conv(channels: int, outputs: int, group: int = 1, size: int = 8) -> Site:
    requant = Requant(scale=(0.01,), zero_point=0, low=-128, high=127)
    attributes = {
        "kernel_shape": (3, 3), "strides": (1, 1), "dilations": (1, 1), "pads": (1, 1, 1, 1), "group": group,
        "requant": requant, "x_zero_point": 0, "w_zero_point": (0,), "pad_value": 0, "output_type": "i8",
    }  # fmt: skip
    arrays = [np.zeros((1, channels, size, size), np.int8), np.zeros((outputs, channels // group, 3, 3), np.int8), None]
    return site_of(vocabulary()["QConv"], arrays, attributes, (1,))


def cost(site: Site) -> float:
    found = portable_cycles(site)
    assert found is not None
    return found


def test_every_operator_of_a_kernel_has_a_price_and_floats_have_none() -> None:
    priced = set()
    for layer in every_layer():
        site = site_of(vocabulary()[layer.op], layer.inputs, layer.attributes, layer.constants)
        if portable_cycles(site) is not None:
            priced.add(layer.op)
            assert cost(site) > 0
            assert site.output.dtype in (DType.I8, DType.U8), layer.name
    assert priced == {kernel.op for kernel in KERNELS}


@pytest.mark.parametrize(("less", "more"), [
    (conv(8, 8), conv(16, 8)), (conv(8, 8), conv(8, 16)), (conv(8, 8), conv(8, 8, size=9)),
    (conv(64, 1), conv(64, 2)), (conv(64, 64, group=64), conv(64, 64, group=2)),
])  # fmt: skip
def test_more_work_costs_more(less: Site, more: Site) -> None:
    assert cost(less) < cost(more)


def test_one_output_of_many_channels_is_no_depthwise_convolution() -> None:
    assert cost(conv(64, 1)) > 0.4 * cost(conv(64, 2))
