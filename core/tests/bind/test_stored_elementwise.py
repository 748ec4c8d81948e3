"""Elementwise steps compute on values in forms: padding follows from theirs, and constants are stored alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from form_kernels import CLEAN_NEG, NEG, NEG_ROWS, SUM
from networks_in_forms import bound, network, ops

from tilewright.bind.stored_elementwise import is_elementwise
from tilewright.testing.one_step import vocabulary
from tilewright.testing.operator_layers import every_layer
from tilewright.testing.operator_sites import site_of


@pytest.mark.parametrize(("between", "conversions"), [("Abs", 1), ("Cosh", 3), (("Add", 0.5), 3), (("Mul", 0.5), 1)])
def test_padding_follows_through_elementwise_steps(between: Any, conversions: int) -> None:
    """0 stays 0 under Abs and times a half; the sum of channels would count the 1 of Cosh, and the half."""
    found = bound(network("Neg", between, "ReduceSum"), CLEAN_NEG, SUM)
    assert ops(found).count("ToStored") + ops(found).count("FromStored") == conversions


def test_constants_are_stored_in_the_form_of_what_they_are_added_to() -> None:
    """Of one element, of one for each channel, and of one for each element."""
    numbers = np.random.default_rng(1)
    shapes = ((1,), (20, 1, 1), (1, 20, 4, 6), (4, 1))
    found = bound(network("Neg", *(("Add", numbers.standard_normal(shape)) for shape in shapes), "Neg"), NEG)
    assert ops(found) == ["ToStored", "Neg@stored", *["Add"] * 4, "Neg@stored", "FromStored"]
    held = [found.graph.tensors[node.inputs[1]].shape for node in found.graph.nodes if node.op == "Add"]
    assert held == [(1,), (1, 2, 1, 1, 16), (1, 2, 4, 6, 16), (1, 1, 4, 1, 1)]


def test_rows_take_elementwise_steps_and_refuse_constants_of_channels() -> None:
    assert ops(bound(network("Neg", ("Add", 0.5), "Neg"), NEG_ROWS)) == [
        "ToStored", "Neg@stored", "Add", "Neg@stored", "FromStored",
    ]  # fmt: skip
    found = bound(network("Neg", ("Add", np.ones((20, 1, 1))), "Neg"), NEG_ROWS)
    assert ops(found) == ["ToStored", "Neg@stored", "FromStored", "Add", "ToStored", "Neg@stored", "FromStored"]


def test_nothing_is_elementwise_that_looks_at_neighbours() -> None:
    found = set()
    for layer in every_layer():
        operator = vocabulary()[layer.op]
        if not operator.members and is_elementwise(
            site_of(operator, layer.inputs, layer.attributes, layer.constants), operator
        ):
            found.add(layer.op)
    assert {"Abs", "Clip", "QLookup", "Sigmoid"} <= found
    moving = {
        "Concat",
        "Flatten",
        "Gather",
        "Pad",
        "Reshape",
        "Slice",
        "ToStored",
        "FromStored",
        "Transpose",
        "Upsample",
    }
    assert not found & {*moving, "Conv", "CumSum", "MaxPool", "QConv", "ReduceSum", "Softmax", "QSoftmax"}
