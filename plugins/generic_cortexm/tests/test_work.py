"""What loops go through: products of the taps that are inside, four outputs at a time, parts in proportion."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tilewright.api.graph import Requant, Site
from tilewright.api.testing import every_layer, site_of, vocabulary
from tilewright.ir.plans.layer import layer_of
from tilewright_cortexm.work import whole_work, work_of


def conv(channels: int, outputs: int, group: int = 1, pad_value: int = 0) -> Site:
    attributes = {
        "kernel_shape": (3, 3), "strides": (1, 1), "dilations": (1, 1), "pads": (1, 1, 1, 1), "group": group,
        "requant": Requant(scale=(0.01,), zero_point=0, low=-128, high=127), "x_zero_point": 0, "w_zero_point": (0,),
        "pad_value": pad_value,
    }  # fmt: skip
    arrays = [np.zeros((1, channels, 5, 6), np.int8), np.ones((outputs, channels // group, 3, 3), np.int8), None]
    return site_of(vocabulary()["QConv"], arrays, attributes, (1,))


def test_products_on_padding_are_none() -> None:
    """Of 5 rows 13 of 15 taps are inside, of 6 columns 16 of 18."""
    trips = whole_work("QConv", conv(8, 6)).trips
    assert trips["product of four"] == 13 * 16 * 8 * 4
    assert trips["product of one"] == 13 * 16 * 8 * 2
    assert trips["product outside"] == 0
    assert whole_work("QConv", conv(8, 6, pad_value=3)).trips["product outside"] == (15 * 18 - 13 * 16) * 8 * 6


def test_padding_that_is_not_named_counts_as_zero() -> None:
    site = conv(8, 6)
    attributes = {name: value for name, value in site.node.attributes.items() if name != "pad_value"}
    quiet = replace(site, node=replace(site.node, attributes={**attributes, "x_zero_point": -128}))
    assert whole_work("QConv", quiet).trips["product outside"] == 0


def test_outputs_are_proved_or_in_float() -> None:
    trips = whole_work("QConv", conv(8, 6)).trips
    assert trips["output"] + trips["float output"] == 5 * 6 * 6


@pytest.mark.parametrize(("group", "kind"), [(1, "QConv i8"), (2, "QConv grouped i8"), (8, "QConv depthwise i8")])
def test_other_code_is_another_kind(group: int, kind: str) -> None:
    assert whole_work("QConv", conv(8, 8, group)).kind == kind


def test_a_row_is_its_part_of_an_image() -> None:
    portable = next(kernel for kernel in portable_kernels() if kernel.name == "portable.qconv")
    layer = layer_of(vocabulary()["QConv"], portable, conv(8, 6))
    whole, row = layer.whole, layer.tile({**layer.whole.box, "h": (0, 1)})
    all_of_it, part = work_of("QConv", whole).trips, work_of("QConv", row).trips
    assert part["window"] == pytest.approx(all_of_it["window"] / 5)
    assert part["call"] == all_of_it["call"] == 1


def test_every_layer_has_work() -> None:
    for one in every_layer():
        work = whole_work(one.op, site_of(vocabulary()[one.op], one.inputs, one.attributes, one.constants))
        assert work.trips["call"] == 1
        assert sum(work.trips.values()) > 1, one.name


def portable_kernels() -> tuple:
    from tilewright.operators.quantised import qconv

    return qconv.KERNELS
