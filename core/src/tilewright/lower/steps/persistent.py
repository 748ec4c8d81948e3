"""Knows the code about what lasts longer than a step: constants that are copied to another memory, once in the init
function or before each use, and the initialisation and update of state.
Does not know what a step does with them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from tilewright.c_text.rendering import rendered
from tilewright.errors import usage_error
from tilewright.ir.machines.platform import CopyPath
from tilewright.ir.plans.constant_copies import copies_of, copy_name, copying, has_runtime, initial_name, path_to
from tilewright.ir.plans.stages import Allocated, Step
from tilewright.ir.programs.expressions import Cast, Expression, Field, FunctionCall, Name, Number
from tilewright.ir.programs.program import StateInitialiser
from tilewright.ir.programs.statements import (
    Barrier,
    ByteRange,
    Code,
    Comment,
    CopyStart,
    CopyWait,
    Declare,
    If,
    Statement,
)
from tilewright.ir.rounding import align_down
from tilewright.lower.operands.addresses import Address, AddressBook
from tilewright.lower.operands.scope import declared
from tilewright.lower.steps.core_share import FIRST_CORE

CHANNEL = Name("tw_channel")


def copies_before(step: Step, book: AddressBook) -> tuple[Statement, ...]:
    """What brings the constants of a step where it reads them."""
    bound = book.allocated.tiled.scheduled.bound
    mine = set(bound.bindings[step.name].constants.values())
    body: list[Statement] = []
    for name, staging in copies_of(book.allocated.decisions, bound.constants):
        if staging.when == "use" and name in mine:
            source, target = book.of_buffer(name), book.of_buffer(copy_name(name, staging, step.name))
            body.extend(_copied(name, copy_name(name, staging, step.name), source, target, book))
    return _with_channel(body)


def copies_at_start(book: AddressBook) -> tuple[Statement, ...]:
    """The copies of the init function, which finds pools and constants in its arguments."""
    bound = book.allocated.tiled.scheduled.bound
    body: list[Statement] = []
    for name, staging in copies_of(book.allocated.decisions, bound.constants):
        copy = copy_name(name, staging, "")
        if staging.when == "init" and copy in book.buffers:
            source, target = _in_context(book.of_buffer(name)), _in_context(book.of_buffer(copy))
            body.extend(_copied(name, copy, source, target, book))
    return _with_channel(body)


def _copied(name: str, copy: str, source: Address, target: Address, book: AddressBook) -> Iterator[Statement]:
    """One transfer, padding included, or several where the copy takes no more at once. TilewrightError TW5033
    (exit 2) where nothing can.
    """
    bound = book.allocated.tiled.scheduled.bound
    platform = bound.platform
    by_core = has_runtime(platform) and copying(platform, target.where) == "memcpy"
    path = None if by_core else path_to(platform, source.where, target.where)
    size = bound.constants[name].nbytes if path is None else book.buffers[copy].size_bytes
    if path is None and copying(platform, target.where) != "memcpy":
        raise usage_error(
            "TW5033",
            f"constant '{name}' cannot be copied from '{source.where}' to '{target.where}': nothing brings it there",
            fix=("give the target a copy between them, or its first engine access to both",),
        )
    most = size if path is None or path.max_bytes is None else align_down(path.max_bytes, path.align)
    for start in range(0, size, max(most, 1)):
        part = min(most, size - start)
        there, here = target.outside + start, source.outside + start
        begun, wait = _transfer(path, there, here, part)
        yield CopyStart(
            transfer=copy,
            code=begun,
            source=ByteRange(buffer=name, offset_bytes=start, size_bytes=part),
            target=ByteRange(buffer=copy, offset_bytes=start, size_bytes=part),
        )
        if wait:
            yield CopyWait(transfer=copy, code=wait)


def _transfer(path: CopyPath | None, there: Expression, here: Expression, size: int) -> tuple[Code, Code | None]:
    if path is None:
        return FunctionCall("memcpy", (there, here, Number(size, unsigned=True))), None
    names = {
        "dst": there,
        "src": here,
        "bytes": f"{size}u",
        "rows": "1u",
        "dst_stride": f"{size}u",
        "src_stride": f"{size}u",
        "channel": CHANNEL,
    }
    return rendered(path.start, names), rendered(path.wait, names) if path.wait else None


def _with_channel(body: list[Statement]) -> tuple[Statement, ...]:
    """A variable for transfers that return something to wait for."""
    channel = Declare(type="uint32_t", name=CHANNEL.text, value=Number(0, unsigned=True))
    starts = [statement for statement in body if isinstance(statement, CopyStart)]
    return (*declared((channel,), starts), *body)


def _in_context(place: Address) -> Address:
    """The same where only the context leads to pools and constants."""
    kind, name = place.parameter.type, place.parameter.name
    struct = "constants" if kind == "const uint8_t *" else "pools"
    pointer = Cast(kind, Field(Field(Name("ctx"), struct, arrow=True), name))
    return replace(place, parameter=replace(place.parameter, given=pointer))


def state_initialisers(allocated: Allocated, book: AddressBook) -> tuple[StateInitialiser, ...]:
    """The parts of the state that do not begin with zeros, and the constants that they begin with."""
    initialisers = []
    for value in allocated.decisions.state:
        name = initial_name(value)
        if name in allocated.tiled.scheduled.bound.constants:
            source = book.of_buffer(name)
            initialisers.append(
                StateInitialiser(
                    offset=book.of_value(value).offset,
                    size_bytes=allocated.tiled.scheduled.bound.constants[name].nbytes,
                    pool=source.parameter.name,
                    source=source.offset,
                )
            )
    return tuple(initialisers)


def state_updates(allocated: Allocated, book: AddressBook, *, team: bool) -> tuple[Statement, ...]:
    """Copies, after the last step, of outputs that could not be written where the input of the next run is."""
    copies = tuple(_state_copies(allocated.decisions.state, book))
    if not copies:
        return ()
    comment = Comment(lines=("state of the next run",))
    if team:
        return (Barrier(), If(condition=FIRST_CORE, body=(comment, *copies)))
    return (comment, *copies)


def _state_copies(states: Mapping[str, str], book: AddressBook) -> Iterator[Statement]:
    scheduled = book.allocated.tiled.scheduled
    for present, following in states.items():
        old, new = scheduled.storage[present], scheduled.storage[following]
        size = scheduled.bound.graph.tensors[present].size_bytes
        if old == new or not size:
            continue
        target, source = book.of_value(present), book.of_value(following)
        yield CopyStart(
            transfer="state",
            code=FunctionCall("memcpy", (target.outside, source.outside, Number(size, unsigned=True))),
            source=ByteRange(buffer=new.buffer, offset_bytes=new.offset_bytes, size_bytes=size),
            target=ByteRange(buffer=old.buffer, offset_bytes=old.offset_bytes, size_bytes=size),
        )
