"""Which bytes each operand of a step is."""

from __future__ import annotations

from typing import Any

from tilewright.ir.programs.expressions import Name
from tilewright.ir.programs.statements import ByteRange
from tilewright.ir.tensors.dtypes import DType
from tilewright.lower.operands.addresses import address_book, members_of
from tilewright.lower.operands.operand_bindings import operand_bindings, pointer_to, scratch_operand


def bindings(toy: Any, inner: Any = None) -> Any:
    """Of the first step: mfcc:0 and the constant make `biased`."""
    plan = toy.plan(toy.graph())
    bound = plan.tiled.scheduled.bound
    node = bound.graph.nodes[0]
    book = address_book(plan, members_of(bound.graph, "toy"))
    return operand_bindings(bound.site(node), toy.operators[node.op], bound.bindings[node.name], book, inner or {})


def test_inputs_then_outputs_each_with_its_bytes(toy: Any) -> None:
    x, b, y = bindings(toy)
    assert [(one.operand, one.what, one.written) for one in (x, b, y)] == [
        ("X", "mfcc:0", False), ("B", "/bias.B", False), ("Y", "biased", True)
    ]  # fmt: skip
    assert x.region == ByteRange(buffer="mfcc:0", offset_bytes=0, size_bytes=10)
    assert (b.shape, b.dtype, b.place.where) == ((1, 10), DType.I8, "flash")


def test_a_value_or_constant_that_is_nearer_is_there(toy: Any) -> None:
    """All of the buffer counts: it may have room for more than the value."""
    x, b, _ = bindings(toy, {"mfcc:0": "turned", "/bias.B": "again"})
    assert (x.region.buffer, x.place.where) == ("turned", "ram")
    assert (b.region.buffer, b.place.where) == ("again", "ram")


def test_pointers_have_the_type_of_their_elements() -> None:
    ram = Name("ram")
    floats = pointer_to(ram, "x", DType.F32, written=False)
    assert (floats.type, str(floats.value)) == ("const float *const", "(const float *)ram")
    raw = pointer_to(ram, "x", DType.U8, written=True)
    assert (raw.type, str(raw.value)) == ("uint8_t *const", "ram")


def test_scratch_is_bytes() -> None:
    scratch = scratch_operand("scratch", 24)
    assert (str(scratch), scratch.dtype, scratch.shape, scratch.extents) == ("scratch", DType.U8, (24,), ("24",))
