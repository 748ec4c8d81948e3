"""The target as the twin plays it: where arenas are, which engine copies what, and tiles that come and go."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from tilewright.ir.machines.platform import CopyPath, Memory, Platform
from tilewright.ir.programs.runner import Job
from tilewright.runners.twin import _spans
from tilewright.runners.twin_machine import FIRST_ADDRESS, GAP, TwinMachine, _path, engine_names, engine_of, machine_of
from tilewright.testing.cluster import CLUSTER


def job_of(toy: Any, base: int | None = None, size: int | None = None) -> Job:
    """The toy network, its RAM at this address."""
    program = toy.program(toy.graph())
    plan, scheduled = program.allocated, program.allocated.tiled.scheduled
    platform = scheduled.bound.platform
    memories = tuple(replace(memory, base=base if memory.name == "ram" else None) for memory in platform.memories)
    bound = replace(scheduled.bound, platform=replace(platform, memories=memories))
    moved = replace(plan, tiled=replace(plan.tiled, scheduled=replace(scheduled, bound=bound)))
    return Job(artifact=toy.artifact(program, wanted=()), plan=moved, prefix="toy", input_sets=())


def apart(machine: TwinMachine) -> bool:
    """Whether there is room for guard pages around every arena."""
    ranges = sorted((arena.address, arena.address + arena.size_bytes) for arena in machine.arenas)
    return all(end + (1 << 17) <= start for (_, end), (start, _) in pairwise(ranges))


def test_arenas_have_the_devices_addresses(toy: Any) -> None:
    machine = machine_of(job_of(toy, 0x2000_0000))
    assert machine.arenas[0].address == 0x2000_0000 and apart(machine)
    assert [arena.read_only for arena in machine.arenas].count(True) == 1
    assert [machine.memories[arena.memory] for arena in machine.arenas if arena.read_only] == ["flash"]


@pytest.mark.parametrize("base", [None, 0, GAP - 1, 0x2000_0100, 0x7000_0000], ids=str)
def test_addresses_that_cannot_be_mapped(base: int | None, toy: Any) -> None:
    """None of its own, in the first pages, not at the begin of a page, or where sanitizers keep their tables."""
    machine = machine_of(job_of(toy, base))
    assert machine.arenas[0].address == FIRST_ADDRESS and apart(machine)


@pytest.mark.parametrize("base", [FIRST_ADDRESS, FIRST_ADDRESS + GAP, FIRST_ADDRESS - (1 << 16)])
def test_others_make_room(base: int, toy: Any) -> None:
    machine = machine_of(job_of(toy, base))
    assert machine.arenas[0].address == base and apart(machine)


def test_steps_and_cores_of_a_program_for_no_team(toy: Any) -> None:
    machine = machine_of(job_of(toy), dma_core=True)
    assert (machine.cores, machine.dma_core, machine.tiles) == (1, False, ())
    assert machine.steps == tuple(node.name for node in toy.graph().nodes)


def test_engines() -> None:
    assert engine_names(CLUSTER) == ("copies of l1",)


def test_what_is_in_another_queue_has_a_track_of_its_own(toy: Any) -> None:
    wide = replace(CLUSTER, copies=tuple(replace(path, queues=3) for path in CLUSTER.copies))
    paths = tuple(_path(path, wide, engine_names(wide)) for path in wide.copies)
    assert [path.queues for path in paths] == [3, 3, 3]
    machine = replace(machine_of(job_of(toy)), paths=paths, engines=engine_names(wide))
    lines = [f"C 0 {begin} {begin + 9} 64 2 0 {queue}".split() for begin, queue in ((0, 0), (3, 2))]
    assert [span.track for span in _spans(lines, ("a", "b"), machine)] == ["copies of l1", "copies of l1, queue 3"]


def test_an_engine_belongs_to_the_end_near_the_cores() -> None:
    """Three levels: what comes from flash and what goes between RAM and scratchpad are copied at the same time."""
    paths = [("flash", "ram"), ("ram", "l1"), ("l1", "ram"), ("flash", "l1"), ("ram", "aside")]
    platform = Platform(
        name="t", inner="l1",
        memories=tuple(Memory(name=name, size_bytes=None) for name in ("l1", "ram", "flash", "aside")),
        copies=tuple(CopyPath(source=source, target=target) for source, target in paths),
    )  # fmt: skip
    found = [engine_of(path, platform) for path in platform.copies]
    assert found == ["copies of ram", "copies of l1", "copies of l1", "copies of l1", "copies of ram"]
    assert engine_names(platform) == ("copies of ram", "copies of l1")
