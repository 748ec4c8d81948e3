"""What an operator is: shapes from inputs alone, a reference that fits them, and no value in the place of another."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tilewright.errors import Diagnostic, TilewrightError
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.graphs.operator import Alias, GraphPass, Operator, PassContext, PassResult, input_names, no_alias
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite import rewrite
from tilewright.testing.one_step import vocabulary
from tilewright.testing.operator_layers import every_layer
from tilewright.testing.operator_sites import site_of
from tilewright.testing.sketch import Sketch

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


@pytest.mark.parametrize(
    ("op", "count", "names"),
    [("Add", 2, ("A", "B")), ("Gemm", 2, ("A", "B")), ("Gemm", 3, ("A", "B", "C")), ("Concat", 3, ("X0", "X1", "X2"))],
)
def test_absent_inputs_at_the_end_have_no_name_and_lists_are_spelled_out(
    op: str, count: int, names: tuple[str, ...]
) -> None:
    site = site_of(vocabulary()[op], [np.zeros((4, 4), np.float32)] * count, {"axis": 0} if op == "Concat" else {})
    assert input_names(vocabulary()[op], site) == names


def graph() -> Graph:
    sketch = Sketch(operators=vocabulary())
    return sketch.finish(sketch.node("Neg", [sketch.input("x", DType.F32, (3,))], name="neg"))


def renamed(of: Graph, context: PassContext) -> PassResult:
    """The node has another name."""
    assert context.operators.keys() >= {"Neg"}
    nodes = tuple(replace(node, name=f"{node.name}'") for node in of.nodes)
    note = Diagnostic(code="TW1209", severity="note", message="renamed")
    return PassResult(graph=replace(of, nodes=nodes), diagnostics=(note,))


def test_what_a_pass_does_and_says_is_kept() -> None:
    one = GraphPass(name="rename", summary="", apply=renamed)
    found = rewrite(graph(), vocabulary(), [one])
    assert found.graph.nodes[0].name.startswith("neg'")
    assert found.diagnostics[0].message == "renamed"
    assert [record.name for record in found.trail if record.added] == ["rename"]


def test_a_pass_that_changes_nothing_returns_the_same_object_and_leaves_no_trail() -> None:
    idle = GraphPass(name="idle", summary="", apply=lambda of, _: PassResult(graph=of))
    before = graph()
    found = rewrite(before, vocabulary(), [idle])
    assert found.graph is before or found.graph == before
    assert not any(record.added or record.removed or record.changed for record in found.trail)


def test_a_graph_that_is_not_sound_after_a_pass_is_an_error_that_names_it() -> None:
    broken = GraphPass(
        name="breaks", summary="", apply=lambda of, _: PassResult(graph=replace(of, outputs=("nothing",)))
    )
    with pytest.raises(TilewrightError) as caught:
        rewrite(graph(), vocabulary(), [broken])
    assert "breaks" in str(caught.value)
