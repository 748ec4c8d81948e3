"""Conversions stand where forms begin and end, and not between; a note counts them, and padding."""

from __future__ import annotations

from form_kernels import NEG, NEG_ROWS, SUM
from networks_in_forms import CHANNELS, bound, forms, network, ops

from tilewright.ir.tensors.dtypes import DType
from tilewright.testing.one_step import vocabulary
from tilewright.testing.sketch import Sketch


def test_conversions_stand_where_forms_begin_and_end() -> None:
    found = bound(network("Neg", "Abs", ("Add", "x"), "Neg", "Softmax"), NEG)
    assert ops(found)[:6] == ["ToStored", "Neg@stored", "Abs", "Add", "Neg@stored", "FromStored"]
    assert found.graph.tensors["abs1:0:a1x16"].shape == (1, 2, 4, 6, 16)
    assert {found.bindings[name].kernel.name for name in ("neg0", "neg3")} == {"acme.neg16"}
    assert [each.fill for each in forms(found, NEG)] == [0, None, None, None, None]


def test_a_note_counts_padding_and_conversions() -> None:
    (note,) = (each for each in bound(network("Neg", "Abs"), NEG).diagnostics if each.code == "TW5081")
    padding = len(forms(bound(network("Neg", "Abs"), NEG), NEG)) * 12 * 24 * 4
    assert note.message.endswith(f"axis 1 in groups of 16: {padding:,} B of padding in all, 2 conversions")


def test_a_value_may_be_wanted_in_two_forms() -> None:
    sketch = Sketch(operators=vocabulary())
    x = sketch.input("x", DType.F32, (1, 20, 4, 6))
    signs, sums = sketch.node("Neg", (x,)), sketch.node("ReduceSum", (x,), CHANNELS)
    found = bound(sketch.finish(sketch.node("Add", (signs, sums))), NEG_ROWS, SUM)
    assert [node.name for node in found.graph.nodes if node.op == "ToStored"] == ["x:r3x16:to", "x:a1x16:to"]
