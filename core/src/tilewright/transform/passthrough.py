"""Knows the pass `passthrough`: marks of the buffers in memories that the application manages itself.
Does not know where such a buffer is: the application hands its address over as a pool of its own, and nothing of it was
allocated. Setting `memory`: a pattern with `*` and `?` on memories' names; asking for the pass is also what makes them
the application's, before anything is planned (`platform_for`).

A buffer is marked live before the values that are kept in it, each value before its views and before what overwrites
it in place. The marks are TW_LIVE and TW_DEAD, once for each buffer; the values are named in a comment.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from graphlib import CycleError, TopologicalSorter

from tilewright.c_text.identifiers import comment_text
from tilewright.errors import plugin_error, typed, usage_error
from tilewright.ir.machines.platform import Platform
from tilewright.ir.plans.stages import Buffer, Scheduled
from tilewright.ir.programs.expressions import FunctionCall
from tilewright.ir.programs.program import CodePass, CodePassContext, Program
from tilewright.ir.programs.statements import Comment, Dead, If, Live, Statement, StepCall
from tilewright.transform.transform import demand_known

NAME = "passthrough"


def managed_by_application(platform: Platform, settings: Mapping[str, str]) -> Platform:
    """The platform with the memories that the pass's settings name left to the application.

    Raises TilewrightError TW1112 (exit 2) where no memory of kind ram has such a name.
    """
    pattern = _pattern(settings)
    chosen = [memory.name for memory in platform.of_kind("ram") if fnmatchcase(memory.name, pattern)]
    if not chosen:
        offered = ", ".join(memory.name for memory in platform.of_kind("ram"))
        raise usage_error(
            "TW1112",
            f"code pass '{NAME}': no memory is named like '{pattern}'",
            details=(f"there are: {offered}",),
            fix=(typed("--code-pass", f"{NAME}:memory={platform.of_kind('ram')[0].name}"),),
        )
    return replace(
        platform,
        memories=tuple(
            replace(memory, managed_by="application") if memory.name in chosen else memory
            for memory in platform.memories
        ),
    )


def in_dependency_order(values: Sequence[str], refers_to: Mapping[str, str]) -> tuple[str, ...]:
    """`values`, each after the one it refers to, otherwise as they were. TilewrightError TW8032 for a circle."""
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for value in values:
        target = refers_to.get(value, "")
        sorter.add(value, *([target] if target in values else []))
    try:
        sorter.prepare()
    except CycleError as error:
        raise plugin_error("TW8032", f"values refer to each other in a circle: {' -> '.join(error.args[1])}") from error
    ordered: list[str] = []
    while sorter.is_active():
        ready = sorted(sorter.get_ready(), key=values.index)
        ordered.extend(ready)
        sorter.done(*ready)
    return tuple(ordered)


def _apply(program: Program, context: CodePassContext) -> Program:
    pattern = _pattern(context.settings)
    if "lifetimes" in program.passes:
        return program  # which marked them all
    own = {pool.buffer for pool in program.pools if pool.buffer and fnmatchcase(pool.memory, pattern)}
    buffers = [buffer for buffer in program.allocated.tiled.buffers if buffer.name in own and buffer.kind != "tile"]
    body = tuple(marked for statement in program.body for marked in _marked(statement, buffers, program))
    return replace(program, body=body)


def _marked(statement: Statement, buffers: Sequence[Buffer], program: Program) -> Iterator[Statement]:
    if not isinstance(statement, StepCall):
        yield statement
        return
    final = len(program.steps) - 1
    live = [buffer for buffer in buffers if buffer.first == statement.step and buffer.kind != "input"]
    dead = [
        buffer
        for buffer in buffers
        if buffer.last == statement.step and (buffer.kind != "output" or buffer.last < final)
    ]
    refers_to = references(program.allocated.tiled.scheduled)
    for buffer in live:
        values = in_dependency_order(buffer.values or (buffer.name,), refers_to)
        yield Comment(lines=(f"holds {', '.join(comment_text(value) for value in values)}",))
        mark = Live(buffer=buffer.name, pointer=program.address(buffer.name), size_bytes=buffer.size_bytes)
        yield _by_dma_core(mark, program)
    yield statement
    for buffer in dead:
        mark_dead = Dead(buffer=buffer.name, pointer=program.address(buffer.name), size_bytes=buffer.size_bytes)
        yield _by_dma_core(mark_dead, program)


def references(scheduled: Scheduled) -> dict[str, str]:
    """Value -> the value of the same buffer that it is a view of, or whose bytes it overwrites."""
    executed = {name for step in scheduled.steps for name in step.nodes}
    refers_to = dict(scheduled.in_place)
    for node in scheduled.bound.graph.nodes:
        if node.name in executed:
            continue
        for output in node.outputs:
            same = [name for name in node.inputs if _buffer(name, scheduled) == _buffer(output, scheduled) != ""]
            if same:
                refers_to[output] = same[0]
    return refers_to


def _buffer(value: str, scheduled: Scheduled) -> str:
    storage = scheduled.storage.get(value)
    return storage.buffer if storage else ""


def _by_dma_core(mark: Statement, program: Program) -> Statement:
    return If(condition=FunctionCall("tw_rt_is_dma_core"), body=(mark,)) if program.team else mark


def _pattern(settings: Mapping[str, str]) -> str:
    if set(settings) != {"memory"}:
        raise usage_error(
            "TW1112", f"code pass '{NAME}' takes one setting", fix=(f"write it as --code-pass {NAME}:memory=NAME",)
        )
    return settings["memory"]


PASSTHROUGH = CodePass(
    name=NAME,
    summary="mark buffers in memories that the application manages live and dead; allocate none of them",
    apply=_apply,
    before=("hooks",),
    after=("lifetimes", "print-tensors"),
)


def platform_for(platform: Platform, passes: Sequence[CodePass], settings: Mapping[str, Mapping[str, str]]) -> Platform:
    """The machine for a program with these passes (name -> settings). TilewrightError (exit 2): TW1111 an unknown pass,
    TW1112 a setting that it does not have.
    """
    demand_known(tuple(settings), passes, settings)
    if PASSTHROUGH.name in settings:
        return managed_by_application(platform, settings[PASSTHROUGH.name])
    return platform
