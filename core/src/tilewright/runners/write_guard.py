"""Knows which bytes every step may write, the C that finds any other byte changed, and how such a change is reported.
Does not know how a program is built or executed, nor what the bytes should be.

A step may write the values that it computes, its scratch, and the tiles and copies that live while it runs. The
program copies all memory of the plan when a step begins and compares it when the step ends: a kernel that declares 16
bytes of scratch and writes 64 is found, though the other 48 may be nobody's at that moment.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from tilewright.c_text.templates import template
from tilewright.errors import TilewrightError, toolchain_error
from tilewright.ir.plans.stages import Buffer, Tiled
from tilewright.ir.programs.runner import Job
from tilewright.runners.areas import STATE, Area

if TYPE_CHECKING:
    from tilewright.lower.operands.addresses import AddressBook

RUNNING = "step.txt"  # that the program leaves where it does not end well: the step that it was in
FOUND = "trespass.txt"  # that the program leaves: step, area, first and last byte
_WHOLE = ("scratch", "tile", "staged", "resident")  # kinds that a step may fill as it likes while they live


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Writable:
    """Bytes of area number `area` that step number `step` may write."""

    step: int
    area: int
    offset_bytes: int
    size_bytes: int


def writable(book: AddressBook, area_of: Mapping[str, int], members: Mapping[str, str]) -> tuple[Writable, ...]:
    """Everything that each step may write, sorted, ranges that touch as one. `area_of`: `Area.assign` -> number."""
    ranges = sorted(
        Writable(
            step=step,
            area=area_of[_area(book, members, buffer)],
            offset_bytes=book.of_buffer(buffer).offset_bytes + at,
            size_bytes=size,
        )
        for step, buffer, at, size in _written(book.allocated.tiled, book.buffers)
    )
    return tuple(_merged(ranges))


def guard_text(ranges: Sequence[Writable], areas: Sequence[Area]) -> str:
    """C for a `main` that has `AREAS`, `area_base`, `area_bytes`, `bytes_copy` and `bytes_equal`."""
    return str(template(_text()).render(ranges=ranges, areas=areas, file=FOUND))


def trespass(job: Job, areas: Sequence[Area], folder: Path) -> TilewrightError | None:
    """What the program has left in `folder` about a step that wrote where it may not: error TW7007, or None."""
    file = folder / FOUND
    if not file.is_file():
        return None
    step, area, first, last = (int(word) for word in file.read_text(encoding="ascii").split())
    tiled = job.plan.tiled
    executed = [name for name, number in tiled.executed.items() if number == step]
    bindings = tiled.scheduled.bound.bindings
    nodes = {scheduled_step.name: scheduled_step.nodes for scheduled_step in tiled.scheduled.steps}
    kernels = dict.fromkeys(bindings[node].kernel.name for name in executed for node in nodes[name] if node in bindings)
    span = f"byte {first:,}" if first == last else f"bytes {first:,} to {last:,}"
    return toolchain_error(
        "TW7007",
        f"step '{executed[-1]}' wrote outside its outputs and its scratch: {span} of '{areas[area].name}'",
        where=f"kernel {', '.join(kernels)}",
        details=tuple(_there(job, areas[area], step, first, last)),
        fix=(
            "the kernel's author: declare all the scratch that it writes, and write no more of an output than its box",
        ),
    )


def running_step(job: Job, folder: Path) -> str:
    """The step that the program has left in `folder` as the one that it was in; "" where it has left none."""
    file = folder / RUNNING
    words = file.read_text(encoding="ascii").split() if file.is_file() else []
    executed = [name for name, number in job.plan.tiled.executed.items() if words and number == int(words[0])]
    return executed[-1] if executed else ""


def _written(tiled: Tiled, buffers: Mapping[str, Buffer]) -> Iterator[tuple[int, str, int, int]]:
    """(step, buffer, bytes into it, how many) of everything that may be written."""
    scheduled = tiled.scheduled
    graph, executed, completed = scheduled.bound.graph, tiled.executed, tiled.completed
    nodes = {node.name: node for node in graph.nodes}
    numbers: dict[int, list[int]] = {}
    for number, step in enumerate(scheduled.steps):
        numbers.setdefault(executed[step.name], []).append(number)
        for value in filter(None, nodes[step.nodes[-1]].outputs):
            storage = scheduled.storage[value]
            if storage.buffer in buffers:
                size = _with_padding(
                    tiled, buffers[storage.buffer], storage.offset_bytes, graph.tensors[value].size_bytes
                )
                for function in dict.fromkeys((executed[step.name], completed[step.name])):
                    yield function, storage.buffer, storage.offset_bytes, size
    for step_number, members in numbers.items():
        for buffer in buffers.values():
            if buffer.kind in _WHOLE and buffer.first <= max(members) and buffer.last >= min(members):
                yield step_number, buffer.name, 0, buffer.size_bytes


def _with_padding(tiled: Tiled, buffer: Buffer, offset_bytes: int, size_bytes: int) -> int:
    """What a value may take: what copies store more, behind the last byte of a buffer's values, is the buffer's own."""
    scheduled, end = tiled.scheduled, offset_bytes + size_bytes
    tensors = scheduled.bound.graph.tensors
    ends = (scheduled.storage[name].offset_bytes + tensors[name].size_bytes for name in buffer.values)
    return buffer.size_bytes - offset_bytes if end == max(ends, default=0) else size_bytes


def _area(book: AddressBook, members: Mapping[str, str], buffer: str) -> str:
    owner = book.owners.get(buffer)
    if owner is not None:
        struct = "outputs" if f"outputs.{owner}" in members else "inputs"
        return f"{struct}.{members[f'{struct}.{owner}']}"
    base = book.of_buffer(buffer).parameter.name
    return base if base == STATE else f"pools.{base}"


def _merged(ranges: Sequence[Writable]) -> Iterator[Writable]:
    last: Writable | None = None
    for one in ranges:
        if last is None or (one.step, one.area) != (last.step, last.area) or one.offset_bytes > _end(last):
            if last is not None:
                yield last
            last = one
        elif _end(one) > _end(last):
            size = _end(one) - last.offset_bytes
            last = Writable(step=last.step, area=last.area, offset_bytes=last.offset_bytes, size_bytes=size)
    if last is not None:
        yield last


def _end(area: Writable) -> int:
    return area.offset_bytes + area.size_bytes


def _there(job: Job, area: Area, step: int, first: int, last: int) -> Iterator[str]:
    """What lives in those bytes."""
    names = False
    for buffer in job.plan.tiled.buffers:
        place = job.plan.placements.get(buffer.name)
        if (
            place is None
            or place.memory != area.memory
            or area.role != "pool"
            or not buffer.first <= step <= buffer.last
        ):
            continue
        if place.offset_bytes <= last and place.offset_bytes + buffer.size_bytes > first:
            names = True
            yield f"{buffer.kind} '{buffer.name}' lives there"
    if not names and area.role == "pool":
        yield "nothing lives there at that time"


@cache
def _text() -> str:
    return (files("tilewright.runners") / "text" / "write_guard.mako").read_text(encoding="utf-8")
