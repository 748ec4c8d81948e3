"""Knows the code about what lasts from run to run: initialisation and update of state, which constants are copied once.
Does not know steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tilewright.ir.plans.constant_copies import initial_name
from tilewright.ir.plans.stages import Allocated
from tilewright.ir.programs.expressions import FunctionCall, Number
from tilewright.ir.programs.program import StateInitialiser
from tilewright.ir.programs.statements import Barrier, ByteRange, Comment, CopyStart, If, Statement
from tilewright.lower.operands.addresses import AddressBook
from tilewright.lower.steps.core_share import FIRST_CORE


def state_initialisers(allocated: Allocated, book: AddressBook) -> tuple[StateInitialiser, ...]:
    """The parts of the state that do not begin with zeros, and the constants that they begin with."""
    found = []
    for value in allocated.decisions.state:
        name = initial_name(value)
        if name in allocated.tiled.scheduled.bound.constants:
            source = book.of_buffer(name)
            found.append(
                StateInitialiser(
                    offset=book.of_value(value).offset,
                    size_bytes=allocated.tiled.scheduled.bound.constants[name].nbytes,
                    pool=source.parameter.name,
                    source=source.offset,
                )
            )
    return tuple(found)


def state_updates(allocated: Allocated, book: AddressBook, *, team: bool) -> tuple[Statement, ...]:
    """Copies, after the last step, of outputs that could not be written where the input of the next run is."""
    copies = tuple(_copies(allocated.decisions.state, book))
    if not copies:
        return ()
    comment = Comment(lines=("state of the next run",))
    if team:
        return (Barrier(), If(condition=FIRST_CORE, body=(comment, *copies)))
    return (comment, *copies)


def _copies(states: Mapping[str, str], book: AddressBook) -> Iterator[Statement]:
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
