"""Values are stored as kernels want them where that pays, converted where forms begin and end, and not between: there
elementwise steps compute on forms, and padding is what it follows from theirs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from form_kernels import CLEAN_NEG, GROUPS, NEG, NEG_ROWS, SUM

from tilewright.bind import bind
from tilewright.check.stages import verify_bound
from tilewright.errors import TilewrightError
from tilewright.ir.graphs.graph import Attribute, Graph
from tilewright.ir.graphs.stored_sites import stored_operator, stored_values
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.stages import Bound
from tilewright.ir.plans.stored_kernel import storing
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.stored_form import Groups, Rows, Stored
from tilewright.testing.cluster import CLUSTER
from tilewright.testing.one_step import portable_kernels, vocabulary
from tilewright.testing.sketch import Sketch

CHANNELS: Mapping[str, Attribute] = {"axes": (1,), "keepdims": 1}
DEAR = 1e6  # cycles: nobody wants it
_SLOW = ("Neg", "ReduceSum")  # as portable C


def network(*ops: str | tuple[str, Any], channels: int = 20) -> Graph:
    """Operators one after the other; of a pair the second is a constant, or "x", the input."""
    sketch = Sketch(operators=vocabulary())
    x = value = sketch.input("x", DType.F32, (1, channels, 4, 6))
    for number, entry in enumerate(ops):
        op, other = entry if isinstance(entry, tuple) else (entry, None)
        more = (
            [] if other is None else [x if isinstance(other, str) else sketch.constant(np.asarray(other, np.float32))]
        )
        value = sketch.node(op, (value, *more), CHANNELS if op == "ReduceSum" else None, name=f"{op.lower()}{number}")
    return sketch.finish(value)


def bound(graph: Graph, *kernels: Kernel, fit: bool = True, **decided: Any) -> Bound:
    operators = vocabulary()
    dear = {
        each.name: replace(each, cycles=lambda tile: DEAR) for each in portable_kernels().values() if each.op in _SLOW
    }
    offered = {**portable_kernels(), **dear, **{each.name: storing(each, operators[each.op]) for each in kernels}}
    made = {f"{each.op}@stored": stored_operator(operators[each.op]) for each in kernels}
    return verify_bound(bind(graph, CLUSTER, {**operators, **made}, offered, Decisions(**decided), chains=fit))


def ops(found: Bound) -> list[str]:
    return [node.op for node in found.graph.nodes]


def forms(found: Bound, *kernels: Kernel) -> Sequence[Stored]:
    operators = vocabulary()
    made = {f"{each.op}@stored": stored_operator(operators[each.op]) for each in kernels}
    return [value.stored for value in stored_values(found.graph, {**operators, **made}).values()]


def test_conversions_stand_where_forms_begin_and_end() -> None:
    found = bound(network("Neg", "Abs", ("Add", "x"), "Neg", "Softmax"), NEG)
    assert ops(found)[:6] == ["ToStored", "Neg@stored", "Abs", "Add", "Neg@stored", "FromStored"]
    assert found.graph.tensors["abs1:0:a1x16"].shape == (1, 2, 4, 6, 16)
    assert {found.bindings[name].kernel.name for name in ("neg0", "neg3")} == {"acme.neg16"}
    assert [each.fill for each in forms(found, NEG)] == [0, None, None, None, None]


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


def test_what_conversions_take_is_weighed() -> None:
    """A layer that saves less than two conversions of a value take is computed as the network has it."""
    barely = replace(NEG, cycles=lambda tile: DEAR - 100)
    alone = bound(network("Neg"), barely)
    assert ops(alone) == ["Neg"]
    (refused,) = (each.reason for each in alone.bindings["neg0"].refusals if each.candidate == "acme.neg16")
    assert refused.startswith("stores X in axis 1 in groups of 16, Y in axis 1 in groups of 16; with conversions ")
    assert not [note for note in alone.diagnostics if note.code == "TW5081"]
    assert ops(bound(network(*["Neg"] * 12), barely)) == ["ToStored", *["Neg@stored"] * 12, "FromStored"]


def test_a_note_counts_padding_and_conversions() -> None:
    (note,) = (each for each in bound(network("Neg", "Abs"), NEG).diagnostics if each.code == "TW5081")
    padding = len(forms(bound(network("Neg", "Abs"), NEG), NEG)) * 12 * 24 * 4
    assert note.message.endswith(f"axis 1 in groups of 16: {padding:,} B of padding in all, 2 conversions")


def test_a_pinned_kernel_has_its_forms_and_a_pinned_layout_has_none() -> None:
    dear = replace(NEG, cycles=lambda tile: 2 * DEAR)
    pinned = bound(network("Neg", "Softmax"), dear, kernels={"neg0": "acme.neg16"})
    assert ops(pinned)[:3] == ["ToStored", "Neg@stored", "FromStored"]
    other = bound(network("Neg", "Softmax"), NEG, kernels={"neg0": "portable.neg"})
    assert ops(other)[:1] == ["Neg"]
    laid = bound(network("Neg", "Softmax"), NEG, layouts={"neg0:0": (0, 2, 3, 1)})
    (refused,) = (each.reason for each in laid.bindings["neg0"].refusals if each.candidate == "acme.neg16")
    assert refused == "a layout or memory is pinned for 'neg0:0', which it would store in a form of its own"


def test_what_was_decided_with_forms_is_bound_again() -> None:
    """A file of decisions names kernels and layouts of values in forms."""
    first = bound(network("Neg", "Abs", "Neg", "Softmax"), NEG)
    kernels = {name: each.kernel.name for name, each in first.bindings.items()}
    again = bound(network("Neg", "Abs", "Neg", "Softmax"), NEG, kernels=kernels, layouts=dict(first.layouts))
    assert again.graph.nodes == first.graph.nodes


def test_where_memory_is_short_values_are_as_the_network_has_them() -> None:
    found = bound(network("Neg"), NEG, fit=False)
    assert ops(found) == ["Neg"]
    (refused,) = (each.reason for each in found.bindings["neg0"].refusals if each.candidate == "acme.neg16")
    assert refused == "memory is short: with values in forms of its own, no plan fits (TW5082)"


@pytest.mark.parametrize(
    ("stored", "reason"),
    [
        (
            {"X": Stored(form=Groups(axis=7, size=16))},
            "[1, 20, 4, 6] has no form 'axis 7 in groups of 16': there is no",
        ),
        ({"Z": Stored(form=GROUPS)}, "there is no operand Z"),
        ({"X": "NHWC"}, "'NHWC' is no Stored(form=..., fill=...)"),
        ({"X": Stored(form=Rows(axes=(), multiple_bytes=4))}, "[] are no axes of a row"),
    ],
)
def test_a_form_that_values_cannot_have_is_the_kernels_fault(stored: Any, reason: str) -> None:
    with pytest.raises(TilewrightError) as caught:
        bound(network("Neg"), replace(NEG, stored=lambda site: stored))
    assert caught.value.code == "TW5080"
    assert "kernel 'acme.neg16' stores" in caught.value.message and reason in caught.value.message
    assert "test_stored_graph.py:" in caught.value.where
    assert "match" in caught.value.fix[0]


def test_a_kernel_with_forms_says_what_it_reads_of_them() -> None:
    with pytest.raises(ValueError, match=r"'acme.neg16' has `stored`, and says no `access`"):
        replace(NEG, access=None)
    with pytest.raises(ValueError, match=r"'acme.neg16' has `stored`, and computes a chain"):
        replace(NEG, pattern=("Abs", "Neg"))
