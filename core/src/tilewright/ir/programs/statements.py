"""Knows the statements that a program is made of: loops, copies, kernel calls, marks; and how to go through them.
Does not know programs, steps or plans, nor how anything is printed.

C in a statement is an expression; text is only what others wrote that is no plain call: a kernel's loops, a pass's C.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from tilewright.ir.programs.expressions import Expression

Phase = Literal["begin", "end"]
Role = Literal["box", "fetch", "compute", "store", "pipeline", "rows", "shared"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ByteRange:
    """Bytes of a buffer that a statement touches. With loops around it: the bytes that all iterations touch."""

    buffer: str
    offset_bytes: int
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreign:
    """Whole statements that a kernel's or a platform's author wrote, but for those that are one call.

    `names` are the identifiers in them, `lines` the same statements with how deep they stand; () is `text` as it is.
    """

    text: str
    names: frozenset[str] = frozenset()
    lines: tuple[tuple[int, Expression | str], ...] = ()

    def __str__(self) -> str:
        return self.text


Code = Expression | Foreign


@dataclass(frozen=True, slots=True, kw_only=True)
class Comment:
    """Lines of text, already safe."""

    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Raw:
    """C that no other node expresses: whole statements, from a code pass."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Declare:
    """`type name = value;`, or an array of `count`."""

    type: str
    name: str
    value: Expression
    count: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class For:
    """`for (int32_t variable = start; variable < stop; variable += step)`."""

    variable: str
    start: Expression
    stop: Expression
    step: Expression
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class While:
    """`while (condition) { body }`."""

    condition: Expression
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class If:
    """`if (condition) { body } else { otherwise }`."""

    condition: Expression
    body: tuple[Statement, ...]
    otherwise: tuple[Statement, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """`switch (value)` with a body for 0, 1, .. and for any further value the last one."""

    value: Expression
    bodies: tuple[tuple[Statement, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelCall:
    """One tile computed by one kernel. One that is `awaited` is only started: its step has a KernelWait, too."""

    kernel: str
    code: Code
    reads: tuple[ByteRange, ...]
    writes: tuple[ByteRange, ...]
    awaited: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelWait:
    """Waits for an asynchronous kernel."""

    kernel: str
    code: Code


@dataclass(frozen=True, slots=True, kw_only=True)
class JobStart:
    """Tells the runtime that a job of an engine has been started, and which bytes it owns from here on; or, around the
    call of a kernel with `pack_placed`, which bytes its commands name.
    """

    kernel: str
    code: Code


@dataclass(frozen=True, slots=True, kw_only=True)
class JobWait:
    """Tells the runtime that a job has been waited for: its bytes are everybody's again."""

    kernel: str
    code: Code


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyStart:
    """Starts a transfer between two memories. The source must stay as it is until the matching CopyWait."""

    transfer: str  # name that the CopyWait repeats
    code: Code
    source: ByteRange
    target: ByteRange
    more_sources: tuple[ByteRange, ...] = ()  # buffers that take the source's place in other tiles
    more_targets: tuple[ByteRange, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyWait:
    """Waits until every transfer of that name has arrived."""

    transfer: str
    code: Code
    outgoing: bool = False  # the transfers leave the scratchpad


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """From here on the buffer's bytes mean something. Of a tile, `tw_rt` is told."""

    buffer: str
    pointer: Expression
    size_bytes: int
    tile: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Dead:
    """From here on nobody reads the buffer's bytes before they are written again. Of a tile, `tw_rt` is told."""

    buffer: str
    pointer: Expression
    size_bytes: int
    tile: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Barrier:
    """No core goes on before every core of the team is here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """Adds estimated cycles to a virtual clock."""

    code: Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """Where a tile buffer begins (`live`) or ends (`dead`) to hold data. Printed as nothing; see pass `lifetimes`."""

    event: Literal["live", "dead"]
    buffer: str
    pointer: Expression
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PartCall:
    """Calls a part of the same step."""

    role: Role
    function: str
    arguments: tuple[Expression, ...]
    tile: Expression  # which one it is about


@dataclass(frozen=True, slots=True, kw_only=True)
class StepCall:
    """Runs step number `step`. Only in `Program.body`."""

    step: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Hook:
    """Calls the application's `on_step`; its answer may abort the run. Only in `Program.body`."""

    step: int
    phase: Phase


Statement = (
    Comment
    | Raw
    | Declare
    | For
    | While
    | If
    | Switch
    | KernelCall
    | KernelWait
    | JobStart
    | JobWait
    | CopyStart
    | CopyWait
    | Live
    | Dead
    | Barrier
    | Charge
    | Mark
    | PartCall
    | StepCall
    | Hook
)


Coded = (
    KernelCall | KernelWait | JobStart | JobWait | CopyStart | CopyWait | Charge
)  # which are their `code`, and nothing around it


def statements_in(body: tuple[Statement, ...]) -> Iterator[Statement]:
    """Every statement of `body`, those inside loops and branches included, in order of text."""
    for statement in body:
        yield statement
        inside = _INSIDE.get(type(statement))
        for inner in inside(statement) if inside else ():
            yield from statements_in(inner)


_INSIDE: Mapping[type, Callable[[Any], tuple[tuple[Statement, ...], ...]]] = {  # statements inside one, in order
    For: lambda one: (one.body,),
    While: lambda one: (one.body,),
    If: lambda one: (one.body, one.otherwise),
    Switch: lambda one: one.bodies,
}


def replaced(
    body: tuple[Statement, ...], change: Callable[[Statement], tuple[Statement, ...]]
) -> tuple[Statement, ...]:
    """`body` with every statement replaced by what `change` makes of it, inside loops and branches first."""
    made: list[Statement] = []
    for statement in body:
        inner = statement
        if isinstance(inner, (For, While, If)):
            inner = replace(inner, body=replaced(inner.body, change))
        if isinstance(inner, If):
            inner = replace(inner, otherwise=replaced(inner.otherwise, change))
        if isinstance(inner, Switch):
            inner = replace(inner, bodies=tuple(replaced(case, change) for case in inner.bodies))
        made.extend(change(inner))
    return tuple(made)


def touched(statements: Iterable[Statement]) -> Iterator[tuple[ByteRange, bool]]:
    """Every region that these statements themselves touch, and whether it is written."""
    for statement in statements:
        if isinstance(statement, KernelCall):
            yield from ((region, False) for region in statement.reads)
            yield from ((region, True) for region in statement.writes)
        elif isinstance(statement, CopyStart):
            yield from ((region, False) for region in (statement.source, *statement.more_sources))
            yield from ((region, True) for region in (statement.target, *statement.more_targets))
