"""Knows the memory around a generated network, area by area: pools, state, and the caller's tensors.
Does not know how it is guarded, or who fills it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from tilewright.ir.machines.platform import caller_memory
from tilewright.ir.programs.program import Port
from tilewright.ir.programs.runner import Job

if TYPE_CHECKING:
    from tilewright.lower.operands.addresses import AddressBook

STATE = "state"  # role of an area, and the name that steps have for it


@dataclass(frozen=True, slots=True, kw_only=True)
class Area:
    """Guarded memory of the harness: a pool, the state, or a tensor. `assign`: the member that points to it."""

    name: str
    role: Literal["pool", "state", "input", "output"]
    size_bytes: int
    assign: str
    type: str
    memory: str = ""  # that it is in, where it is a part of the plan; the caller's memory otherwise
    lasting: bool = False  # its bytes are kept from run to run


def areas_of(job: Job, book: AddressBook, inputs: Sequence[Port], outputs: Sequence[Port]) -> tuple[Area, ...]:
    """Every area, in the order in which the harness numbers them."""
    return (*_pools(book), *_state(job), *_tensors(job, "input", inputs), *_tensors(job, "output", outputs))


def _pools(book: AddressBook) -> Iterator[Area]:
    for pool in book.pools:
        yield Area(
            name=pool.base,
            role="pool",
            size_bytes=pool.size_bytes,
            assign=f"pools.{pool.base}",
            type="void",
            memory=pool.memory,
            lasting=bool(pool.copies),
        )


def _state(job: Job) -> Iterator[Area]:
    states = [use for use in job.plan.pools if use.kind == "state"]
    if size := sum(use.used_bytes for use in states):
        yield Area(
            name=STATE, role="state", size_bytes=size, assign="", type="void", memory=states[0].memory, lasting=True
        )


def _tensors(job: Job, role: Literal["input", "output"], ports: Sequence[Port]) -> Iterator[Area]:
    platform = job.plan.tiled.scheduled.bound.platform
    for port in ports:
        yield Area(
            name=f"{role} {port.member}",
            role=role,
            size_bytes=port.tensor.size_bytes,
            assign=f"{role}s.{port.member}",
            type=("const " if role == "input" else "") + port.tensor.dtype.c_type,
            memory=(caller_memory(platform) if port.pool else platform.backing_memory()).name,
        )
