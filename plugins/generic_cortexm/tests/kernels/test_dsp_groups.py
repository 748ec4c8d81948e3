"""Convolutions of small groups on the DSP extension: equal to the reference, what is refused, and what it costs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from tilewright.api.testing import UBSAN, byte_array, make_requant, refusal, run_kernel, site_of, vocabulary
from tilewright.ir.graphs.graph import Attribute, Site
from tilewright.ir.plans.layer import layer_of
from tilewright.ir.tensors.dtypes import DType
from tilewright_cortexm.instructions import tables
from tilewright_cortexm.kernels import dsp_products
from tilewright_cortexm.kernels.dsp_groups import KERNELS
from tilewright_cortexm.work import whole_work

Array = npt.NDArray[np.generic]
(GROUPS,) = KERNELS


def layer(
    groups: int, channels: int, outputs: int, x_type: DType = DType.I8, **more: Attribute
) -> tuple[Site, list[Array | None]]:
    """`channels` and `outputs` are those of a group."""
    rng = np.random.default_rng(groups)
    x, w = (
        byte_array(rng, x_type, (2, groups * channels, 7, 6), False),
        byte_array(rng, DType.I8, (groups * outputs, channels, 3, 3), False),
    )
    attributes: dict[str, Attribute] = {
        "kernel_shape": (3, 3), "strides": (1, 1), "dilations": (1, 1), "pads": (1, 1, 1, 1), "group": groups,
        "ceil_mode": 0, "requant": make_requant(rng, groups * outputs, DType.I8, 60000.0, "random"), "x_zero_point": 3,
        "pad_value": 9, "w_zero_point": (0,), "output_type": "i8", **more,
    }  # fmt: skip
    inputs: list[Array | None] = [x, w, rng.integers(-5000, 5000, groups * outputs).astype(np.int32)]
    return site_of(vocabulary()["QConv"], inputs, attributes, (1, 2)), inputs


@pytest.mark.parametrize(
    ("groups", "channels", "outputs", "x_type", "more"),
    [
        (3, 4, 4, DType.I8, {}),
        (2, 4, 12, DType.U8, {}),
        (3, 8, 4, DType.I8, {"strides": (2, 1), "dilations": (1, 2)}),
        (2, 12, 8, DType.U8, {"pads": (0, 2, 2, 0)}),
    ],
)
def test_it_is_the_reference(
    groups: int, channels: int, outputs: int, x_type: DType, more: dict[str, Attribute], tmp_path: Path
) -> None:
    site, inputs = layer(groups, channels, outputs, x_type, **more)
    assert refusal(GROUPS, site) is None
    operator, layouts = vocabulary()["QConv"], {"X": (0, 2, 3, 1), "Y": (0, 2, 3, 1)}
    (found,) = run_kernel(operator, GROUPS, site, inputs, folder=tmp_path, layouts=layouts, flags=UBSAN)
    assert np.array_equal(found, operator.reference(site, inputs)[0])


def test_what_is_refused() -> None:
    assert "several groups of fours" in str(refusal(GROUPS, layer(1, 4, 4)[0]))
    assert "several groups of fours" in str(refusal(GROUPS, layer(2, 6, 4)[0]))
    assert "several groups of fours" in str(refusal(GROUPS, layer(2, 4, 2)[0]))
    assert "one output in every group" in str(refusal(GROUPS, layer(4, 4, 1)[0]))


def test_groups_of_four_channels_are_expected_to_cost_less_than_copies_and_those_of_sixteen_more() -> None:
    small, large = (layer(groups, channels, channels)[0] for groups, channels in ((4, 4), (2, 16)))
    assert _cost(GROUPS, small) < min(_cost(kernel, small) for kernel in dsp_products.KERNELS[:2])
    assert _cost(GROUPS, large) > _cost(dsp_products.KERNELS[0], large)
    portable = tables()["m4"].of_portable(whole_work("QConv", small))
    assert portable and 2 * _cost(GROUPS, small) < portable


def _cost(kernel: object, site: Site) -> float:
    assert isinstance(kernel, type(GROUPS))
    found = tables()["m4"].executed_by(kernel, layer_of(vocabulary()["QConv"], kernel, site).whole)
    assert found is not None
    return found
