"""Products learn which values their input can have: through what clamps, selects and joins, and nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tilewright.ir.graphs.graph import Attribute
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.requant import Requant
from tilewright.rewrite.bound_inputs import PASS
from tilewright.testing.sketch import Sketch


def _product(s: Sketch, x: str, low: int, high: int) -> str:
    weights = s.constant(np.random.default_rng(0).integers(-9, 10, (6, 6)).astype(np.int8))
    requant = Requant(scale=(0.02,), zero_point=1, low=low, high=high)
    attributes: dict[str, Attribute] = {"a_zero_point": 0, "requant": requant, "output_type": "i8"}
    return s.node("QGemm", (x, weights), attributes)


def test_products_learn_the_range_of_their_input(operators: Any, bench: Any) -> None:
    s = Sketch(operators=operators)
    x = s.input("x", DType.I8, (4, 6))
    y = _product(s, s.node("Reshape", (_product(s, x, 0, 90),), {"shape": (4, 6)}), -128, 127)
    graph = s.finish(_product(s, y, -128, 127))
    bounded = bench.apply(graph, PASS)
    assert [node.attributes.get("x_range") for node in bounded.nodes] == [None, None, (0, 90), None]
    assert bench.same_bits(graph, bounded)
    assert bench.apply(bounded, PASS) is bounded


def _table(s: Sketch, low: int, high: int) -> str:
    return s.constant(np.clip(np.arange(-128, 128), low, high).astype(np.int8))


ADD: dict[str, Attribute] = {
    "a_scale": 0.5, "b_scale": 0.5, "a_zero_point": 0, "b_zero_point": 0, "zero_point": 0, "output_type": "i8"
}  # fmt: skip


@pytest.mark.parametrize(("op", "attributes", "expected"), [
    ("QAdd", {**ADD, "low": -7, "high": 100}, (-7, 100)),
    ("QAdd", {**ADD, "low": -128, "high": 127}, None),  # all that the type can hold
    ("QLookup", {}, (-3, 60)),
    ("Transpose", {"perm": (0, 1)}, (5, 9)),
    ("Slice", {"starts": (0, 0), "steps": (1, 1), "shape": (4, 6)}, (5, 9)),
    ("Pad", {"pads": (0, 0, 0, 0), "mode": "constant", "value": 0.0}, None),  # brings values of its own
])  # fmt: skip
def test_what_is_known_of_a_value(
    op: str, attributes: dict[str, Attribute], expected: tuple[int, int] | None, operators: Any, bench: Any
) -> None:
    s = Sketch(operators=operators)
    narrow = s.node("QLookup", (s.input("x", DType.I8, (4, 6)), _table(s, 5, 9)))
    others = {"QAdd": [narrow], "QLookup": [_table(s, -3, 60)]}.get(op, [])
    bounded = bench.apply(s.finish(_product(s, s.node(op, (narrow, *others), attributes), 0, 90)), PASS)
    assert bounded.nodes[-1].attributes.get("x_range") == expected


@pytest.mark.parametrize(("second", "expected"), [((-20, 7), (-20, 9)), ((-128, 127), None)])
def test_parts_that_are_joined(
    second: tuple[int, int], expected: tuple[int, int] | None, operators: Any, bench: Any
) -> None:
    """The range of all parts, and none where one part can hold anything."""
    s = Sketch(operators=operators)
    x = s.input("x", DType.I8, (2, 6))
    parts = [s.node("QLookup", (x, _table(s, *ends))) for ends in ((5, 9), second)]
    bounded = bench.apply(s.finish(_product(s, s.node("Concat", parts, {"axis": 0}), 0, 90)), PASS)
    assert bounded.nodes[-1].attributes.get("x_range") == expected
