"""Knows what a target or a memory hierarchy must be for anything to be planned on it, and says what one is not.
Does not know any of them, nor what the user asks of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import get_args, get_type_hints

from tilewright.ir.machines.platform import CopyPath, Engine, Memory, MemoryHierarchy, Platform
from tilewright.ir.machines.routes import most_in_flight


def machine_fault(machine: Platform | MemoryHierarchy) -> str:
    """The first thing that is wrong with `machine`, as the end of a sentence about it; "" where nothing is."""
    return next(_faults(machine), "")


def _faults(machine: Platform | MemoryHierarchy) -> Iterator[str]:
    yield from _typed("memories", machine.memories, Memory)
    for memory in machine.memories:
        yield from _of_memory(memory)
    yield from _named_once("memories", machine.memories)
    if all(memory.kind == "const" for memory in machine.memories):
        yield "has no memory that can be written: one needs kind='ram'"
    yield from _typed("copies", machine.copies, CopyPath)
    names = {memory.name for memory in machine.memories}
    for path in machine.copies:
        yield from _known(f"copies from '{path.source}' to '{path.target}'", (path.source, path.target), names)
        yield from _of_path(path, machine.memories)
        yield from _of_queues(path, machine.copies)
    if isinstance(machine, Platform):
        yield from _of_target(machine, names)


def _of_target(target: Platform, names: set[str]) -> Iterator[str]:
    yield from _typed("engines", target.engines, Engine)
    yield from _named_once("engines", target.engines)
    if not target.engines:
        yield "has no engine"
    for field in ("backing", "inner"):
        yield from _known(f"has {field}='{getattr(target, field)}'", (getattr(target, field) or None,), names)
    yield from _known("has runtime_bytes of other memories", target.runtime_bytes, names)
    for option in target.options:
        if option.choices and option.default not in option.choices:
            yield f"has the option '{option.name}' with default '{option.default}', which is not among its choices"


def _of_memory(memory: Memory) -> Iterator[str]:
    kinds = get_args(get_type_hints(Memory)["kind"])
    if not (isinstance(memory.name, str) and memory.name.isidentifier() and memory.name.isascii()):
        yield f"has a memory named {memory.name!r}, which is no name in C"
    if memory.kind not in kinds:
        yield f"has memory '{memory.name}' of kind '{memory.kind}': there are {' and '.join(kinds)}"
    if memory.size_bytes is not None and (type(memory.size_bytes) is not int or memory.size_bytes < 0):
        yield f"has memory '{memory.name}' with size_bytes={memory.size_bytes!r}: a number of bytes, or None, is needed"
    if type(memory.align) is not int or memory.align < 1 or memory.align & (memory.align - 1):
        yield f"has memory '{memory.name}' with align={memory.align!r}: a power of two is needed"


def _of_path(path: CopyPath, memories: Sequence[Memory]) -> Iterator[str]:
    ends = f"has copies from '{path.source}' to '{path.target}'"
    if type(path.align) is not int or path.align < 1 or path.align & (path.align - 1):
        yield f"{ends} with align={path.align!r}: a power of two is needed"
        return
    if path.dimensions not in (1, 2, 3):
        yield f"{ends} with dimensions={path.dimensions!r}: there are 1, 2 and 3"
    for memory in memories:
        if memory.name in (path.source, path.target) and memory.align % path.align:
            yield f"{ends} with align={path.align}, and memory '{memory.name}' begins at multiples of {memory.align}"


def _of_queues(path: CopyPath, copies: Sequence[CopyPath]) -> Iterator[str]:
    """A program has no more transfers in flight than each of its paths allows."""
    ends, most = f"has copies from '{path.source}' to '{path.target}'", most_in_flight(copies)
    if type(path.queues) is not int or path.queues < 1:
        yield f"{ends} with queues={path.queues!r}: a number of transfers, 1 or more, is needed"
    elif path.queues > max(most, 1):
        yield f"{ends} with queues={path.queues}: at most {most} are in flight, see the channels of all copies"


def _typed(field: str, values: object, expected: type) -> Iterator[str]:
    if not isinstance(values, tuple) or not all(isinstance(value, expected) for value in values):
        yield f"has {field} that are no tuple of {expected.__name__}"


def _named_once(field: str, values: Sequence[Memory | Engine]) -> Iterator[str]:
    names = [value.name for value in values]
    for name in names:
        if names.count(name) > 1:
            yield f"has two {field} named '{name}'"


def _known(what: str, wanted: Iterable[str | None], names: set[str]) -> Iterator[str]:
    for name in wanted:
        if name is not None and name not in names:
            yield f"{what}, and no memory '{name}'"
