"""Conversions stand where forms begin and end, and not between; a note counts them, and padding."""

from __future__ import annotations

from form_kernels import NEG
from networks_in_forms import bound, forms, network, ops


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
