"""What stays in float is called by its name in the file, once for all of a kind, with what can be done about it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilewright.rewrite.qdq as package
from tilewright.errors import Diagnostic
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.passes import PASSES
from tilewright.rewrite.qdq.left_in_float import _ADVICE
from tilewright.testing.sketch import Sketch

ACCEPT = "accept the float step"


def network(operators: Any, *ops: tuple[str, int]) -> Graph:
    """Operators of one tensor and one scale per column, each between integers; `times` of each."""
    s = Sketch(operators=operators)
    ends = []
    for number, (op, times) in enumerate(ops):
        for again in range(times):
            sides = [s.dequantize(s.input(f"{name}{number}_{again}", DType.I8, (4,)), 0.05, 3) for name in "ab"]
            ends.append(s.quantize(s.node(op, sides, name=f"{op}_{again}"), 0.05, 3))
    return s.finish(*ends)


def only(found: Any) -> Diagnostic:
    (diagnostic,) = found
    assert isinstance(diagnostic, Diagnostic)
    return diagnostic


def test_equal_warnings_are_one(operators: Any, bench: Any) -> None:
    warning = only(bench.diagnostics(network(operators, ("Div", 6)), *PASSES))
    assert warning.message.startswith("Div is computed in float (6 times), though")
    assert warning.where == "Div_0, Div_1, Div_2, Div_3 and 2 more"
    assert warning.fix == (f"{ACCEPT}: no quantisation makes Div integers here",)


def test_others_have_their_own(operators: Any, bench: Any) -> None:
    found = bench.diagnostics(network(operators, ("Div", 1), ("Pow", 1)), *PASSES)
    assert sorted(each.where for each in found) == ["Div_0", "Pow_0"]


def test_what_is_written_with_others_has_its_own_name(operators: Any, bench: Any) -> None:
    """PRelu is imported as four nodes, which nobody finds in the file."""
    from dataclasses import replace

    s = Sketch(operators=operators)
    x = s.dequantize(s.input("x", DType.I8, (2, 3)), 0.05, 3)
    zero, slope = s.constant(np.zeros((), np.float32)), s.input("slope", DType.F32, (3,))
    above, below = s.node("Max", (x, zero), name="act/above"), s.node("Min", (x, zero), name="act/below")
    total = s.node("Add", (above, s.node("Mul", (below, slope), name="act/scaled")), name="act")
    graph = s.finish(s.quantize(total, 0.05, 3))
    nodes = tuple(replace(node, origin=("act",)) if node.name.startswith("act") else node for node in graph.nodes)
    warning = only(bench.diagnostics(replace(graph, nodes=nodes), *PASSES))
    assert (warning.where, warning.message.split(" is ")[0]) == ("act", "PRelu")


def test_a_clip_behind_it_is_part_of_it(operators: Any, bench: Any) -> None:
    s = Sketch(operators=operators)
    sides = [s.dequantize(s.input(name, DType.I8, (4,)), 0.05, 3) for name in "ab"]
    clipped = s.node("Clip", (s.node("Div", sides, name="ratio"),), {"min": 0.0})
    assert only(bench.diagnostics(s.finish(s.quantize(clipped, 0.05, 3)), *PASSES)).where == "ratio"


def test_what_can_be_done_is_said(operators: Any, bench: Any) -> None:
    s = Sketch(operators=operators)
    sides = [s.dequantize(s.input(name, DType.I8, (4,)), 0.05, 3) for name in "ab"]
    graph = s.finish(s.node("Add", sides, name="sum"))
    assert only(bench.diagnostics(graph, *PASSES)).fix == (
        f"quantise its result, too: a QuantizeLinear behind it, or {ACCEPT}",
    )


ELSEWHERE = ("left_in_float.py", "gate_weights.py", "recurrences.py")  # the last two say TW3030, with its own advice


def test_every_reason_has_its_advice() -> None:
    """Each text that a family gives as a reason is known, so that nothing is called hopeless by mistake."""
    hopeless = 0
    files = sorted(Path(str(package.__file__)).parent.glob("*.py"))
    for file in files:
        for text in re.findall(r'return f?"([^"]+)"', file.read_text("utf-8")):
            if " " not in text or file.name in ELSEWHERE:
                continue
            found = [advice for pattern, advice in _ADVICE if re.search(pattern, text)]
            assert found, text
            hopeless += not found[0]
    assert 0 < hopeless < 20


@pytest.mark.parametrize("pattern", [pattern for pattern, _ in _ADVICE])
def test_patterns_are_right(pattern: str) -> None:
    re.compile(pattern)
