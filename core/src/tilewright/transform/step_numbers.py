"""Knows what may differ between steps that are otherwise the same code: where operands begin, and numbers.
Does not know which steps share a function, nor what that costs.

Every such place of a step is handed to a function, in the order of the text, which says what stands there instead. So
the same walk takes a step's numbers out, and puts others in. Numbers stay in the text where C needs them, or where they
make a step what it is: divisors, lengths of arrays, and numbers on which a kernel's code is folded (`Sharing.folds`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.programs.expressions import (
    ALWAYS,
    Expression,
    FunctionCall,
    Name,
    Number,
    Operation,
    Struct,
    Sum,
    added,
    multiplied,
)
from tilewright.ir.programs.program import StepCode
from tilewright.ir.programs.statements import Comment, Declare, KernelCall, Mark, PartCall, Statement
from tilewright.ir.programs.subexpressions import parts, with_parts

Take = Callable[[Expression, str], Expression]  # what stands there, and a name for it -> what stands there instead
_FOLDED = ("/", "%")  # a number on the right is a shift or a multiplication


@dataclass(frozen=True, slots=True, kw_only=True)
class StepNumbers:
    """`offsets` are the enumerators that say where buffers begin; `kernels` those that the program calls, by name."""

    offsets: frozenset[str]
    kernels: Mapping[str, Kernel]

    def replaced(self, step: StepCode, take: Take) -> StepCode:
        """The step with what `take` makes of each offset and number."""
        return replace(
            step,
            parts=tuple(
                replace(
                    part,
                    body=self._body(part.body, take),
                    result=part.result and self._expression(part.result, part.role, take),
                )
                for part in step.parts
            ),
            body=self._body(step.body, take),
        )

    def _body(self, body: tuple[Statement, ...], take: Take) -> tuple[Statement, ...]:
        return tuple(self._statement(statement, take) for statement in body)

    def _statement(self, statement: Statement, take: Take) -> Any:
        if isinstance(statement, (Comment, Mark)):
            return statement
        hint = statement.name if isinstance(statement, Declare) else ""
        folds: Collection[str] | None = ()
        if isinstance(statement, KernelCall):
            known = self.kernels.get(statement.kernel)
            folds = known.sharing.folds if known and known.sharing else None
        printed = [field.name for field in fields(statement) if field.name != "tile"]
        return replace(
            statement, **{name: self._field(getattr(statement, name), hint, take, folds) for name in printed}
        )

    def _field(self, value: Any, hint: str, take: Take, folds: Collection[str] | None) -> Any:
        if isinstance(value, Expression):
            return self._expression(value, hint, take, folds)
        if isinstance(value, tuple):
            return tuple(self._field(part, hint, take, folds) for part in value)
        return self._statement(value, take) if isinstance(value, Statement) else value

    def _expression(
        self, expression: Expression, hint: str, take: Take, folds: Collection[str] | None = ()
    ) -> Expression:
        """`folds`: members whose numbers stay; None: all numbers stay."""
        match expression:
            case Number():
                return expression if folds is None else take(expression, hint or "number")
            case Name(text=text):
                return take(expression, hint or "place") if text in self.offsets else expression
            case Sum():
                return self._sum(expression, hint, take, folds)
            case Operation(operator=operator) if operator in _FOLDED:
                kept = expression.right.number is not None
                left = self._expression(expression.left, hint, take, folds)
                right = self._expression(expression.right, hint, take, None if kept else folds)
                return with_parts(expression, (left, right))
            case Struct(values=values, members=members) if members:
                return with_parts(
                    expression,
                    tuple(
                        self._expression(value, member, take, None if folds is None or member in folds else folds)
                        for value, member in zip(values, members, strict=True)
                    ),
                )
            case _:
                before = parts(expression)
                after = tuple(self._expression(part, hint, take, folds) for part in before)
                return expression if after == before else with_parts(expression, after)

    def _sum(self, total: Sum, hint: str, take: Take, folds: Collection[str] | None) -> Expression:
        """A factor of 1 is none, and what is subtracted stays so."""
        products = []
        for factor, term in total.terms:
            inner = self._expression(term, hint, take, folds)
            if abs(factor) == 1 or folds is None:
                products.append((factor, inner))
            else:
                stride = take(Number(abs(factor)), f"{hint or 'number'}_stride")
                products.append((1 if factor > 0 else -1, multiplied((stride, inner))))
        if not total.constant or folds is None:
            return added((total.constant, ALWAYS), *products)
        sign = 1 if total.constant > 0 else -1
        return added((sign, take(Number(abs(total.constant)), f"{hint or 'number'}_more")), *products)


def names_in(value: Any) -> set[str]:
    """The variables in statements or in what has some, and the functions that they call."""
    if isinstance(value, Name):
        return {value.text}
    called = {value.function} if isinstance(value, (FunctionCall, PartCall)) else set[str]()
    if isinstance(value, tuple):
        return called.union(*map(names_in, value))
    if is_dataclass(value):
        return called.union(*(names_in(getattr(value, field.name)) for field in fields(value)))
    return called
