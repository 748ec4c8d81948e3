"""Knows which steps are the same code but for offsets and numbers, and makes one function of them.
Does not know any operator, nor what surrounds the steps.

Such steps are found by their form: statements with every offset and number left out that may differ (`step_numbers`),
without the step's own name and without notes of buffers. The function takes what differs from a constant structure,
one for each step. That costs a call, a load for each use of a member, and what a kernel says of its code where the
compiler does not know its numbers (`Kernel.sharing`). A step keeps its own code where this may be more than MOST_COST
of what the step is estimated to take.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from tilewright.c_text.identifiers import unique_identifiers
from tilewright.c_text.layout import WIDTH, laid_out
from tilewright.ir.programs.expressions import NEVER, Expression, Field, FunctionCall, Name, Number, Reference, Struct
from tilewright.ir.programs.program import Parameter, Part, Program, StepCode
from tilewright.ir.programs.statements import ByteRange, Comment, For, Mark, PartCall, Statement, statements_in
from tilewright.ir.programs.statements import replaced as replaced_statements
from tilewright.ir.programs.subexpressions import parts as inside
from tilewright.ir.programs.subexpressions import with_parts
from tilewright.transform.step_numbers import StepNumbers, names_in

MOST_COST = 0.002
LOAD_CYCLES, CALL_CYCLES, UNKNOWN_EXTENT = 2, 12, 16
LAYER = "layer"  # the parameter that points to what differs
_NOTES = ("step", "comment", "buffer", "transfer", "waits")  # fields that say whose a statement is, and change no code


@dataclass(frozen=True, slots=True, kw_only=True)
class _Taken:
    """A step, and the offsets and numbers that were taken out of it, each with a name for it."""

    number: int  # of the step
    step: StepCode
    values: tuple[Expression, ...]
    hints: tuple[str, ...]


def shared_steps(program: Program) -> Program:
    """The program with one function for all steps that have the same form."""
    numbers = StepNumbers(
        offsets=frozenset(program.offsets.values()),
        kernels={
            binding.kernel.name: binding.kernel for binding in program.allocated.tiled.scheduled.bound.bindings.values()
        },
    )
    groups: dict[object, list[_Taken]] = {}
    for number, step in enumerate(program.steps):
        if step.body:
            form, taken = _form(number, step, numbers)
            groups.setdefault(form, []).append(taken)
    steps = list(program.steps)
    costs = _Costs(program)
    for alike in groups.values():
        differing = [column[0] for column in _differing(alike) if column]
        members = [item for item in alike if len(alike) > 1 and costs.pays(item.step, differing)]
        if len(members) > 1:
            made = _shared(members, numbers)
            for member, step in zip(members, made, strict=True):
                steps[member.number] = step
    return replace(program, steps=tuple(steps))


def _form(number: int, step: StepCode, numbers: StepNumbers) -> tuple[object, _Taken]:
    values, hints = list[Expression](), list[str]()

    def take(value: Expression, hint: str) -> Expression:
        values.append(value)
        hints.append(hint)
        return Name(f"#{len(values)}{_type(value)}")

    form = _signature(numbers.replaced(step, take), step.function)
    return form, _Taken(number=number, step=step, values=tuple(values), hints=tuple(hints))


def _type(value: Expression) -> str:
    return "uint32_t" if isinstance(value, Number) and value.unsigned else "int32_t"


def _signature(value: Any, function: str) -> object:
    """What makes two steps different code, whose steps they are left out."""
    if isinstance(value, str):
        return value.replace(function, "")
    if isinstance(value, (ByteRange, Comment, Mark)):
        return None
    if isinstance(value, tuple):
        return tuple(_signature(part, function) for part in value)
    if is_dataclass(value):
        kept = (_signature(getattr(value, part.name), function) for part in fields(value) if part.name not in _NOTES)
        return (type(value), *kept)
    return value


def _differing(members: Sequence[_Taken]) -> list[tuple[Expression, ...]]:
    """What stands in each place in every step; () where it is the same in all."""
    return [column if len({*column}) > 1 else () for column in zip(*(member.values for member in members), strict=True)]


class _Costs:
    """What steps are estimated to take, and what a shared function takes beside."""

    def __init__(self, program: Program) -> None:
        tiled = program.allocated.tiled
        self.bindings = tiled.scheduled.bound.bindings
        self.groups = {name: group for group in tiled.groups for name in group.steps}

    def pays(self, step: StepCode, differing: Sequence[Expression]) -> bool:
        """Whether what is added is small beside what the step takes."""
        group = self.groups[step.step]
        rows = group.region.line_buffers
        calls = len(rows.calls) if rows else max(1, _part_calls(step.body))
        slowdown = max(self._slowdown(name) for name in group.steps) if _any_number(differing) else 0.0
        added = CALL_CYCLES + LOAD_CYCLES * len(differing) * calls + slowdown * group.cycles
        return added <= MOST_COST * group.cycles

    def _slowdown(self, step: str) -> float:
        sharing = self.bindings[step].kernel.sharing
        return sharing.slowdown if sharing else 0.0


def _any_number(differing: Sequence[Expression]) -> bool:
    return any(isinstance(value, Number) for value in differing)


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
            inner = [part for part in statements_in((statement,)) if isinstance(part, PartCall)]
            calls += len(inner)
    return calls


def _shared(members: Sequence[_Taken], numbers: StepNumbers) -> Iterator[StepCode]:
    """The steps with the code of the first in a function that all of them call."""
    first, differing = members[0].step, _differing(members)
    named = _named(members[0].hints, differing)
    kind = f"{first.function}_layers"
    layer = Parameter(type=f"const {kind} *", name=LAYER)
    common = _handed_on(_with_members(first, numbers, [named.get(column) for column in differing]), layer)
    worker = Part(
        role="shared",
        function=f"{first.function}_shared",
        comment=(f"What {len(members)} steps compute, each of its own layer.",),
        parameters=(*first.parameters, layer),
        body=common.body,
    )
    for at, member in enumerate(members):
        step = member.step
        own = f"{step.function}_layer"
        arguments = (*(parameter.variable for parameter in first.parameters), Reference(Name(own)))
        listed = Struct("", tuple(column[at] for column in named), tuple(named.values()))
        table = laid_out(f"static const {kind} {own} = ", listed, ";")
        if len(table[0]) > WIDTH:
            table = [f"static const {kind}", *laid_out(f"{own} = ", listed, ";")]
        yield replace(
            step,
            declarations=(*((_typedef(kind, named), *first.declarations) if at == 0 else ()), "\n".join(table)),
            parts=(*common.parts, worker) if at == 0 else (),
            waits=first.waits if at == 0 else (),
            body=(PartCall(role="shared", function=worker.function, arguments=arguments, tile=NEVER),),
        )


def _named(hints: Sequence[str], differing: Sequence[tuple[Expression, ...]]) -> dict[tuple[Expression, ...], str]:
    """What differs, once each -> the member that holds it, named after where it comes first."""
    said: dict[tuple[Expression, ...], str] = {}
    for hint, column in zip(hints, differing, strict=True):
        if column:
            said.setdefault(column, hint)
    used = dict[str, int]()
    for column, hint in said.items():
        used[hint] = used.get(hint, 0) + 1
        said[column] = hint if used[hint] == 1 else f"{hint} {used[hint]}"
    unique = unique_identifiers(said.values())
    return {column: unique[hint] for column, hint in said.items()}


def _with_members(step: StepCode, numbers: StepNumbers, members: Sequence[str | None]) -> StepCode:
    """The step with members of the structure where it had what differs."""
    places = iter(members)

    def take(value: Expression, hint: str) -> Expression:
        member = next(places)
        return Field(Name(LAYER), member, arrow=True) if member else value

    return numbers.replaced(step, take)


def _handed_on(step: StepCode, layer: Parameter) -> StepCode:
    """The step with the structure as a parameter of every part that needs it, and where these are called."""
    taking = _taking(step.parts, layer.name)

    def expression(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(expression, value))
        if not isinstance(value, Expression):
            return value
        made = with_parts(value, tuple(map(expression, inside(value)))) if inside(value) else value
        if isinstance(made, FunctionCall) and made.function in taking:
            made = replace(made, arguments=(*made.arguments, layer.variable))
        return made

    def change(statement: Statement) -> tuple[Statement, ...]:
        made = replace(
            statement, **{field.name: expression(getattr(statement, field.name)) for field in fields(statement)}
        )
        if isinstance(made, PartCall) and made.function in taking:
            made = replace(made, arguments=(*made.arguments, layer.variable))
        return (made,)

    return replace(
        step,
        parts=tuple(
            replace(
                part,
                parameters=(*part.parameters, layer) if part.function in taking else part.parameters,
                body=replaced_statements(part.body, change),
                result=expression(part.result),
            )
            for part in step.parts
        ),
        body=replaced_statements(step.body, change),
    )


def _taking(parts: Sequence[Part], name: str) -> frozenset[str]:
    """The parts that have `name` in them, or call one that does."""
    mentioned = {part.function: names_in((part.body, part.result)) for part in parts}
    result = frozenset[str]()
    while True:
        more = frozenset(function for function, names in mentioned.items() if names & {name, *result})
        if more == result:
            return result
        result = more


def _typedef(kind: str, named: Mapping[tuple[Expression, ...], str]) -> str:
    lines = "".join(f"    {_type(column[0])} {member};\n" for column, member in named.items())
    said = "/* What differs between steps. Where operands begin: in bytes from the beginning of their memories. */"
    return f"{said}\ntypedef struct {{\n{lines}}} {kind};"
