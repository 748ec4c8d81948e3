"""What an operator is: shapes from inputs alone, a reference that fits them, and no value in the place of another."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tilewright.ir.graphs.operator import Alias, Operator, no_alias
from tilewright.ir.tensors.dtypes import DType
from tilewright.testing.one_step import vocabulary
from tilewright.testing.operator_layers import every_layer
from tilewright.testing.operator_sites import site_of

CHEAP = [layer for layer in every_layer() if sum(array.nbytes for array in layer.inputs if array is not None) < 40_000]


def test_shapes_and_types_come_from_inputs_only() -> None:
    """Placeholders for outputs, of any shape, change nothing."""
    for layer in CHEAP:
        operator = vocabulary()[layer.op]
        site = site_of(operator, layer.inputs, layer.attributes, layer.constants)
        odd = replace(site, outputs=tuple(replace(one, dtype=DType.I64, shape=(9, 9)) for one in site.outputs))
        assert operator.infer(odd) == site.outputs, layer.name


def test_costs_are_not_negative_and_accesses_name_the_operands() -> None:
    for layer in CHEAP:
        operator = vocabulary()[layer.op]
        site = site_of(operator, layer.inputs, layer.attributes, layer.constants)
        assert operator.macs(site) >= 0
        assert set(operator.access(site).outputs) == set(operator.outputs[: len(site.outputs)]), layer.name


def test_an_operator_that_computes_something_has_no_alias() -> None:
    site = site_of(vocabulary()["Neg"], [np.ones(3, np.float32)])
    plain = Operator(
        name="Own", inputs=("X",), outputs=("Y",), infer=lambda site: site.outputs,
        reference=lambda site, arrays: (), access=vocabulary()["Neg"].access,
    )  # fmt: skip
    assert no_alias(site, {}) == plain.alias(site, {}) == ()
    assert plain.macs(site) == 0 and plain.tolerance is None and plain.imports == ()
    assert Alias(value="y", of="x").offset == 0


def test_every_operator_has_a_line_for_the_list() -> None:
    assert [operator.name for operator in vocabulary().values() if not operator.summary] == []
