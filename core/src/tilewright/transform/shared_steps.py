"""Knows which steps are the same code but for where their operands begin, and makes one function of them.
Does not know any operator, nor what surrounds the steps.

Such steps are found by their signature: statements, with every offset replaced by when it comes first, the step's own
name left out, and no notes of buffers. Other numbers must be equal: kernels are compiled for them. The function takes
its offsets from a constant structure, one for each step. That costs a load for each use of an offset, and a call: a
step keeps its own code where this may be more than MOST_COST of what the step is estimated to take.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

from tilewright.c_text.identifiers import unique_identifiers
from tilewright.c_text.layout import laid_out
from tilewright.ir.plans.region import LineBuffers
from tilewright.ir.programs.expressions import NEVER, Expression, Field, Name, Reference, Struct
from tilewright.ir.programs.program import Parameter, Part, Program, StepCode
from tilewright.ir.programs.statements import ByteRange, Comment, Declare, For, PartCall, Statement, statements_in
from tilewright.ir.programs.statements import replaced as replaced_statements
from tilewright.ir.programs.subexpressions import names, replaced

MOST_COST = 0.002
LOAD_CYCLES, CALL_CYCLES, UNKNOWN_EXTENT = 2, 12, 16
_NOTES = ("step", "comment", "buffer", "transfer", "waits")  # fields that say whose a statement is, and change no code


def shared_steps(program: Program) -> Program:
    """The program with one function for all steps that have the same signature."""
    offsets = frozenset(program.offsets.values())
    rows = {name: region.line_buffers for region in program.allocated.tiled.regions for name in region.steps}
    found: dict[object, list[int]] = {}
    for number, step in enumerate(program.steps):
        used = _offsets(step, offsets)
        if used and _pays(program, step, used, rows.get(step.step)):
            found.setdefault(_signature(step, used), []).append(number)
    steps = list(program.steps)
    for numbers in found.values():
        if len(numbers) > 1:
            made = _shared([program.steps[number] for number in numbers], offsets)
            for number, step in zip(numbers, made, strict=True):
                steps[number] = step
    return replace(program, steps=tuple(steps))


def _offsets(step: StepCode, offsets: frozenset[str]) -> tuple[str, ...]:
    """The offsets that a step names, in the order in which they come first."""
    return tuple(dict.fromkeys(one.text for one in _names((step.parts, step.body)) if one.text in offsets))


def _names(value: Any) -> Iterator[Name]:
    if isinstance(value, Name):
        yield value
    elif isinstance(value, tuple):
        for one in value:
            yield from _names(one)
    elif is_dataclass(value):
        for one in fields(value):
            yield from _names(getattr(value, one.name))


def _signature(step: StepCode, offsets: Sequence[str]) -> object:
    places = {name: number for number, name in enumerate(offsets)}

    def of(value: Any) -> object:
        if isinstance(value, Name) and value.text in places:
            return places[value.text]
        if isinstance(value, str):
            return value.replace(step.function, "")
        if isinstance(value, (ByteRange, Comment)):
            return None
        if isinstance(value, tuple):
            return tuple(map(of, value))
        if is_dataclass(value):
            kept = (of(getattr(value, one.name)) for one in fields(value) if one.name not in _NOTES)
            return (type(value), *kept)
        return value

    return of(step)


def _pays(program: Program, step: StepCode, offsets: Sequence[str], rows: LineBuffers | None) -> bool:
    """Whether what a shared function takes beside the step's own is small beside what the step takes."""
    binding = program.allocated.tiled.scheduled.bound.bindings[step.step]
    cycles = next(one.cycles for one in binding.candidates if one.kernel.name == binding.kernel.name)
    calls = len(rows.calls) if rows else max(1, _part_calls(step.body))
    return CALL_CYCLES + LOAD_CYCLES * len(offsets) * calls <= MOST_COST * cycles


def _part_calls(body: Sequence[Statement]) -> int:
    """How often functions of the step's own are called, as far as the loops around the calls are known."""
    calls = 0
    for statement in body:
        if isinstance(statement, For):
            ends = [end.number for end in (statement.start, statement.stop, statement.step)]
            known = [int(end) for end in ends if end is not None]
            extent = len(range(*known)) if len(known) == len(ends) else UNKNOWN_EXTENT
            calls += extent * _part_calls(statement.body)
        else:
            inner = [one for one in statements_in((statement,)) if isinstance(one, PartCall)]
            calls += len(inner)
    return calls


def _shared(steps: Sequence[StepCode], offsets: frozenset[str]) -> Iterator[StepCode]:
    """The steps with the code of the first in a function that all of them call."""
    first, used = steps[0], _offsets(steps[0], offsets)
    members, kind = _members(first, used), f"{first.function}_places"
    places = Parameter(type=f"const {kind} *", name="at")
    values: Mapping[Expression, Expression] = {
        Name(name): Field(places.variable, member, arrow=True) for name, member in members.items()
    }
    taking = _taking(first.parts, frozenset(used))
    worker = Part(
        role="shared",
        function=f"{first.function}_shared",
        comment=(f"What {len(steps)} steps compute, each at its own places.",),
        parameters=(*first.parameters, places),
        body=_replaced(first.body, taking, values),
    )
    parts = tuple(
        replace(
            part,
            parameters=(*part.parameters, places) if part.function in taking else part.parameters,
            body=_replaced(part.body, taking, values),
        )
        for part in first.parts
    )
    for step in steps:
        own = f"{step.function}_at"
        given = (*(one.variable for one in first.parameters), Reference(Name(own)))
        listed = Struct("", tuple(map(Name, _offsets(step, offsets))))
        table = "\n".join(laid_out(f"static const {kind} {own} = ", listed, ";"))
        yield replace(
            step,
            declarations=(*((_typedef(kind, members), *first.declarations) if step is first else ()), table),
            parts=(*parts, worker) if step is first else (),
            waits=first.waits if step is first else (),
            body=(PartCall(role="shared", function=worker.function, arguments=given, tile=NEVER),),
        )


def _members(step: StepCode, offsets: Sequence[str]) -> dict[str, str]:
    """Offset -> member: after the variable that it is first declared for, where there is one."""
    said: dict[str, str] = {}
    for statement in step.statements:
        if isinstance(statement, Declare):
            for name in sorted(names((statement.value,)) & {*offsets}):
                said.setdefault(name, statement.name)
    unique = unique_identifiers(f"{said.get(name, 'place')} {number}" for number, name in enumerate(offsets))
    return dict(zip(offsets, unique.values(), strict=True))


def _taking(parts: Sequence[Part], offsets: frozenset[str]) -> frozenset[str]:
    """The parts that name an offset, or call one that does."""
    found: set[str] = set()
    while True:
        more = {
            part.function
            for part in parts
            if (
                part.function not in found
                and any(name.text in offsets or name.text in found for name in _names((part.body, part.result)))
            )
            or any(isinstance(one, PartCall) and one.function in found for one in statements_in(part.body))
        } - found
        if not more:
            return frozenset(found)
        found |= more


def _replaced(
    body: tuple[Statement, ...], taking: frozenset[str], values: Mapping[Expression, Expression]
) -> tuple[Statement, ...]:
    """`body` with the members of the structure instead of offsets, and calls that hand the structure on."""

    def change(statement: Statement) -> tuple[Statement, ...]:
        changed = {one.name: _expressions(getattr(statement, one.name), values) for one in fields(statement)}
        made = replace(statement, **changed)
        if isinstance(made, PartCall) and made.function in taking:
            made = replace(made, arguments=(*made.arguments, Name("at")))
        return (made,)

    return replaced_statements(body, change)


def _expressions(value: Any, values: Mapping[Expression, Expression]) -> Any:
    """A field of a statement; statements inside are changed already."""
    if isinstance(value, Expression):
        return replaced(value, values)
    if isinstance(value, tuple) and value and all(isinstance(one, Expression) for one in value):
        return tuple(replaced(one, values) for one in value)
    return value


def _typedef(kind: str, members: Mapping[str, str]) -> str:
    lines = "".join(f"    int32_t {member};\n" for member in members.values())
    said = "/* Where the operands begin, in bytes from the beginning of their memories. */"
    return f"{said}\ntypedef struct {{\n{lines}}} {kind};"
