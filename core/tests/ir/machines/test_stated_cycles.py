"""How the time of a core follows from what it executes."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright.ir.machines.instruction_costs import InstructionCosts
from tilewright.ir.machines.kernel import Kernel, TileShape
from tilewright.ir.machines.platform import Engine
from tilewright.ir.machines.stated_cycles import stated_cycles
from tilewright.ir.plans.layer import layer_of
from tilewright.testing.one_step import vocabulary
from tilewright.testing.operator_sites import site_of

COSTS = InstructionCosts(
    executed=lambda kernel, tile: kernel.instructions(tile) if kernel.instructions else None,
    cycles_each=lambda kernel: 1.5,
    row_call=90.0,
    row_call_of_portable=120.0,
    moved_byte=0.5,
    overhead_cycles_each=2.0,
    stack_bytes=lambda kernel: 100,
    row_stack_bytes=40,
)
CORE = Engine(name="cpu", instructions=COSTS)


def kernel(**costs: object) -> Kernel:
    return Kernel(name="test.relu", op="Neg", call="neg(${X}, ${Y});", **costs)  # type: ignore[arg-type]  # of either kind


def tile(of: Kernel) -> TileShape:
    site = site_of(vocabulary()["Neg"], [np.zeros((4, 5), np.float32)])
    return layer_of(vocabulary()["Neg"], of, site).whole


@pytest.mark.parametrize(
    ("costs", "engine", "cycles"),
    [
        ({"instructions": lambda shape: 200.0}, CORE, 300.0),
        ({"cycles": lambda shape: 7.0}, CORE, 7.0),
        ({"instructions": lambda shape: 200.0}, Engine(name="cpu"), None),
        ({}, CORE, None),
    ],
)
def test_cycles_are_those_of_the_instructions(costs: dict[str, object], engine: Engine, cycles: float | None) -> None:
    one = kernel(**costs)
    assert stated_cycles(one, engine, tile(one)) == cycles


@pytest.mark.parametrize(("reads", "cycles"), [(None, 200.0), (lambda shape: 3.0, 130.0)])
def test_reads_of_a_far_stack_stand_for_the_slowdown(reads: object, cycles: float) -> None:
    one, far = kernel(cycles=lambda shape: 100.0, stack_reads=reads), Engine(name="c", slowdown=2.0, stack_cycles=10.0)
    stated = stated_cycles(one, far, tile(one))
    assert stated is not None
    assert far.slowdown * stated == cycles
    assert stated_cycles(one, Engine(name="c", slowdown=2.0), tile(one)) == 100.0


def test_on_a_core_that_counts_a_cycle_is_an_instruction() -> None:
    one = kernel(instructions=lambda shape: 200.0)
    counting = Engine(name="cpu", instructions=COSTS.counted())
    assert stated_cycles(one, counting, tile(one)) == 200.0
    assert COSTS.counted().overhead_cycles_each == 1.0
