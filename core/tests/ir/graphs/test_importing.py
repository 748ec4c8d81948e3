"""What an import function is given: attributes of the right type or a bug told, and bounds on what is made of them."""

from __future__ import annotations

from typing import Any

import pytest

from tilewright.ir.graphs.importing import (
    MOST_ELEMENTS,
    MOST_OPERANDS,
    Import,
    OnnxNode,
    need_few_operands,
    need_room,
    with_halves,
)


def node(inputs: int = 1, **attributes: object) -> OnnxNode:
    names = tuple(f"x{at}" for at in range(inputs))
    return OnnxNode(name="n", op_type="Op", domain="", version=17, inputs=names, outputs=("y",), attributes=attributes)


class Refusing:
    """A conversion that can only refuse."""

    def refuse(self, _: OnnxNode, reason: str) -> Exception:
        return ValueError(reason)


GRAPH: Any = Refusing()


def test_attributes_have_their_types_and_defaults() -> None:
    one = node(axis=3, alpha=0.5, mode="linear", pads=(1, 2))
    assert (one.integer("axis"), one.number("alpha"), one.text("mode"), one.integers("pads")) == (
        3,
        0.5,
        "linear",
        (1, 2),
    )
    assert (one.integer("group", 1), one.number("beta", 2.0), one.text("auto", "no"), one.integers("k", (7,))) == (
        *(1, 2.0, "no"),
        (7,),
    )
    assert one.number("axis") == 3.0 and isinstance(one.number("axis"), float)


@pytest.mark.parametrize(
    ("read", "value"), [("integer", "3"), ("integer", 1.5), ("number", "1"), ("text", 3), ("integers", 3)]
)
def test_a_value_of_another_type_is_a_bug_of_the_import(read: str, value: object) -> None:
    with pytest.raises(TypeError, match="attribute a is"):
        getattr(node(a=value), read)("a")


def test_tables_and_operands_have_a_bound_that_is_said() -> None:
    need_room(node(), GRAPH, MOST_ELEMENTS)
    need_few_operands(node(MOST_OPERANDS), GRAPH)
    with pytest.raises(ValueError, match="8,388,609 elements; at most 8,388,608"):
        need_room(node(), GRAPH, MOST_ELEMENTS + 1)
    with pytest.raises(ValueError, match="1,025 operands; at most 1,024"):
        need_few_operands(node(MOST_OPERANDS + 1), GRAPH)


def test_a_family_that_takes_halves_says_so_of_each_of_its_imports() -> None:
    imports = [Import(op_type=name, since=1, attributes={}, convert=lambda *_: None) for name in ("A", "B")]
    assert [(one.op_type, one.halves) for one in with_halves(*imports)] == [("A", True), ("B", True)]
    assert not any(one.halves for one in imports)
