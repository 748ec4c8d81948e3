"""Knows what is inside an expression: its names, and the same expression with others in the places of some.
Does not know how expressions are simplified or written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any

from tilewright.ir.programs.expressions import (
    ALWAYS,
    Cast,
    Choice,
    Element,
    Expression,
    Field,
    FunctionCall,
    Name,
    Operation,
    Product,
    Reference,
    Struct,
    Sum,
    Verbatim,
    added,
    all_of,
    multiplied,
    operation,
)


def names(expressions: Iterable[Expression]) -> set[str]:
    """The variables and functions that they refer to; members of structs are none."""
    mentioned, waiting = set[str](), list(expressions)
    while waiting:
        expression = waiting.pop()
        if isinstance(expression, Name):
            mentioned.add(expression.text)
        elif isinstance(expression, Verbatim):
            mentioned |= expression.names
        elif inside := _INSIDE.get(type(expression)):
            waiting.extend(inside(expression))
            if isinstance(expression, FunctionCall):
                mentioned.add(expression.function)
    return mentioned


def replaced(expression: Expression, values: Mapping[Expression, Expression]) -> Expression:
    """The same with other expressions in the places of some."""
    if expression in values:
        return values[expression]
    before = parts(expression)
    after = tuple(replaced(part, values) for part in before)
    return expression if after == before else with_parts(expression, after)


def parts(expression: Expression) -> tuple[Expression, ...]:
    """The expressions directly inside one."""
    inside = _INSIDE.get(type(expression))
    return inside(expression) if inside else ()


_INSIDE: Mapping[type[Expression], Callable[[Any], tuple[Expression, ...]]] = {  # a tenth of a `match` in time
    Field: lambda one: (one.of,),
    Sum: lambda one: tuple([term for _, term in one.terms]),
    FunctionCall: attrgetter("arguments"),
    Product: attrgetter("factors"),
    Struct: attrgetter("values"),
    Operation: attrgetter("left", "right"),
    Element: attrgetter("of", "at"),
    Cast: lambda one: (one.value,),
    Reference: lambda one: (one.value,),
    Choice: attrgetter("condition", "yes", "no"),
}


def with_parts(expression: Expression, inner: Sequence[Expression]) -> Expression:
    """The same with others directly inside, as many as `parts` has."""
    match expression:
        case Field(member=member, arrow=arrow):
            return Field(inner[0], member, arrow)
        case Sum(constant=constant, terms=terms):
            return added((constant, ALWAYS), *((factor, part) for (factor, _), part in zip(terms, inner, strict=True)))
        case FunctionCall(function=function):
            return FunctionCall(function, tuple(inner))
        case Product():
            return multiplied(inner)
        case Struct(type=kind, members=members):
            return Struct(kind, tuple(inner), members)
        case Operation(operator="&&"):
            return all_of(*inner)
        case Operation(operator=operator):
            return operation(operator, *inner)
        case Cast(type=kind):
            return Cast(kind, inner[0])
        case Reference():
            return Reference(inner[0])
        case Element():
            return Element(*inner)
        case _:
            return Choice(*inner)
