"""Knows the jobs of engines that a program starts, by following its statements in the order in which they are executed:
each is waited for, and nobody touches what belongs to it before.
Does not know what was decided about waits, nor tiles, places and costs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tilewright.ir.programs.statements import (
    ByteRange,
    KernelCall,
    KernelWait,
    PartCall,
    Statement,
    statements_in,
    touched,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepText:
    """A step as it is followed: its name, statements of its function and of its parts, and the bytes of its outputs,
    which are complete once its jobs were waited for.
    """

    name: str
    body: tuple[Statement, ...]
    parts: Mapping[str, tuple[Statement, ...]]
    outputs: tuple[ByteRange, ...]


@dataclass(frozen=True, slots=True)
class _Pending:
    step: str
    kernel: str
    reads: tuple[ByteRange, ...]
    writes: tuple[ByteRange, ...]

    def meets(self, region: ByteRange, written: bool) -> bool:
        owned = (*self.writes, *self.reads) if written else self.writes
        return any(_overlap(region, own) for own in owned)


def job_fault(steps: Iterable[StepText]) -> str:
    """The first thing that is wrong with the jobs of these steps, in order; "" where nothing is.

    A step may touch what its own jobs own: its tiles come and go beside them, which the twin looks at.
    """
    pending: list[_Pending] = []
    for step in steps:
        for statement in _executed(step.body, step.parts):
            if isinstance(statement, KernelWait):
                pending = [job for job in pending if job.kernel != statement.kernel]
            if fault := _conflict(step.name, statement, [job for job in pending if job.step != step.name]):
                return fault
            if isinstance(statement, KernelCall) and statement.awaited:
                writes = (*statement.writes, *step.outputs)
                pending.append(_Pending(step.name, statement.kernel, statement.reads, writes))
    return (
        f"step {pending[0].step!r} starts a job of kernel {pending[0].kernel!r}, and waits for none" if pending else ""
    )


def _conflict(step: str, statement: Statement, pending: Sequence[_Pending]) -> str:
    for region, written in touched([statement]):
        for job in pending:
            if job.meets(region, written):
                what = "writes" if written else "reads"
                return (
                    f"step {step!r} {what} buffer {region.buffer!r} before a job of kernel {job.kernel!r} "
                    f"of step {job.step!r} was waited for"
                )
    return ""


def _executed(body: tuple[Statement, ...], parts: Mapping[str, tuple[Statement, ...]]) -> Iterator[Statement]:
    """Statements in order, those of parts where these are called; loops once."""
    for statement in statements_in(body):
        yield statement
        if isinstance(statement, PartCall):
            yield from _executed(parts.get(statement.function, ()), parts)


def _overlap(one: ByteRange, other: ByteRange) -> bool:
    ends = one.offset_bytes + one.size_bytes, other.offset_bytes + other.size_bytes
    return one.buffer == other.buffer and one.offset_bytes < ends[1] and other.offset_bytes < ends[0]
