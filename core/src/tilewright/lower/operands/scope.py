"""Knows which names statements refer to, and so what must be declared before them and handed to their function.
Does not know what the names stand for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, get_args

from tilewright.ir.programs.expressions import Expression
from tilewright.ir.programs.program import Parameter, Part
from tilewright.ir.programs.statements import (
    Coded,
    Declare,
    For,
    Foreign,
    If,
    PartCall,
    Statement,
    Switch,
    While,
    statements_in,
)
from tilewright.ir.programs.subexpressions import names
from tilewright.lower.operands.c_boxes import CSpan


def names_of(body: Iterable[Statement]) -> set[str]:
    """The variables and functions that statements refer to; of marks, which are no code, none."""
    expressions: list[Expression] = []
    mentioned = set[str]()
    for statement in statements_in(tuple(body)):
        written = _WRITTEN.get(type(statement))
        for expression in written(statement) if written else ():
            if isinstance(expression, Foreign):
                mentioned |= expression.names
            else:
                expressions.append(expression)
        if isinstance(statement, PartCall):
            mentioned.add(statement.function)
    return mentioned | names(expressions)


def used(parameters: Iterable[Parameter], body: Iterable[Statement]) -> tuple[Parameter, ...]:
    """Those of `parameters` that the statements name, each once."""
    mentioned = names_of(body)
    return tuple({parameter.name: parameter for parameter in parameters if parameter.name in mentioned}.values())


def declared(declarations: Iterable[Statement], body: Iterable[Statement]) -> tuple[Statement, ...]:
    """Those declarations that `body` names, or a later one of them."""
    mentioned = names_of(body)
    kept: list[Statement] = []
    for declaration in reversed(tuple(declarations)):
        if not isinstance(declaration, Declare):
            mentioned |= names_of((declaration,))
            kept.append(declaration)
        elif declaration.name in mentioned:
            mentioned |= names((declaration.value,))
            kept.append(declaration)
    return tuple(reversed(kept))


def spans_declared(spans: Iterable[CSpan], body: Iterable[Statement]) -> tuple[Statement, ...]:
    """Those of the windows' axes that the statements name."""
    every = {span.name: Declare(type="const tw_span", name=span.name, value=span.value) for span in spans if span.name}
    return declared(every.values(), body)


def called(parts: Sequence[Part], body: Iterable[Statement]) -> tuple[Part, ...]:
    """The parts without the boxes that nothing asks for."""
    if all(part.role != "box" for part in parts):
        return tuple(parts)
    mentioned = names_of([*body, *(statement for part in parts for statement in part.body)])
    return tuple(part for part in parts if part.role != "box" or part.function in mentioned)


_WRITTEN: Mapping[type, Callable[[Any], Iterable[Expression | Foreign]]] = {  # in statements themselves
    **{kind: lambda one: (one.code,) for kind in get_args(Coded)},
    Declare: lambda one: (one.value,),
    If: lambda one: (one.condition,),
    While: lambda one: (one.condition,),
    Switch: lambda one: (one.value,),
    For: attrgetter("start", "stop", "step"),
    PartCall: attrgetter("arguments"),
}
