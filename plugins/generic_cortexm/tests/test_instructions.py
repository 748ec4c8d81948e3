"""What cores are said to execute: for every operator, more for more work, and more in float without an FPU; and no
depthwise convolution where there is none."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright.api.graph import Requant, Site
from tilewright.api.testing import every_layer, site_of, vocabulary
from tilewright_cortexm.cores import CORES
from tilewright_cortexm.instructions import instruction_costs, table_of, tables
from tilewright_cortexm.kernels import KERNELS
from tilewright_cortexm.work import whole_work


def conv(channels: int, outputs: int, group: int = 1, size: int = 8) -> Site:
    requant = Requant(scale=(0.01,), zero_point=0, low=-128, high=127)
    attributes = {
        "kernel_shape": (3, 3), "strides": (1, 1), "dilations": (1, 1), "pads": (1, 1, 1, 1), "group": group,
        "requant": requant, "x_zero_point": 0, "w_zero_point": (0,), "pad_value": 0, "output_type": "i8",
    }  # fmt: skip
    arrays = [np.zeros((1, channels, size, size), np.int8), np.zeros((outputs, channels // group, 3, 3), np.int8), None]
    return site_of(vocabulary()["QConv"], arrays, attributes, (1,))


def cost(site: Site, core: str = "m4") -> float:
    found = tables()[core].of_portable(whole_work(site.node.op, site))
    assert found is not None
    return found


def test_there_is_a_table_for_every_core() -> None:
    assert set(tables()) == {core.name for core in CORES}


@pytest.mark.parametrize("core", [core.name for core in CORES])
def test_every_operator_has_a_figure(core: str) -> None:
    """Also those that a core's own kernels compute: planning compares."""
    for layer in every_layer():
        site = site_of(vocabulary()[layer.op], layer.inputs, layer.attributes, layer.constants)
        assert cost(site, core) > 0, layer.name


@pytest.mark.parametrize("core", [core.name for core in CORES])
def test_an_instruction_takes_a_cycle_where_one_is_issued_at_a_time(core: str) -> None:
    least = 0.5 if core in ("m7", "m55") else 1.0  # these issue two, or overlap vectors
    assert all(each >= least for each in table_of(core).cycles_each.values())


def test_kernels_are_counted_on_the_cores_that_have_them() -> None:
    costs = instruction_costs("m55")
    missing = [kernel.name for kernel in KERNELS if kernel.engine == "mve" and costs.cycles_each(kernel) < 0.5]
    assert not missing


def test_floats_cost_more_without_a_unit_for_them() -> None:
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal((4, 64)).astype(np.float32), rng.standard_normal((64, 16)).astype(np.float32), None]
    product = site_of(vocabulary()["Gemm"], arrays, {}, (1,))
    assert cost(product, "m0plus") > 10 * cost(product, "m4")


@pytest.mark.parametrize(("less", "more"), [
    (conv(8, 8), conv(16, 8)), (conv(8, 8), conv(8, 16)), (conv(8, 8), conv(8, 8, size=9)),
    (conv(64, 1), conv(64, 2)), (conv(64, 64, group=64), conv(64, 64, group=2)),
])  # fmt: skip
def test_more_work_costs_more(less: Site, more: Site) -> None:
    assert cost(less) < cost(more)


def test_one_output_of_many_channels_is_no_depthwise_convolution() -> None:
    assert cost(conv(64, 1)) > 0.4 * cost(conv(64, 2))
