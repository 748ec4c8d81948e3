"""A core on which every instruction takes one cycle."""

from __future__ import annotations

from tilewright.ir.machines.instruction_costs import InstructionCosts
from tilewright.ir.machines.kernel import Kernel


def test_on_a_core_that_counts_a_cycle_is_an_instruction() -> None:
    costs = InstructionCosts(
        executed=lambda kernel, tile: 10.0,
        cycles_each=lambda kernel: 1.5,
        row_call=90.0,
        row_call_of_portable=120.0,
        moved_byte=0.5,
        overhead_cycles_each=2.0,
        stack_bytes=lambda kernel: 100,
        row_stack_bytes=40,
    )
    counting = costs.counted()
    assert counting.cycles_each(Kernel(name="any", op="Neg")) == counting.overhead_cycles_each == 1.0
    assert counting.row_call == costs.row_call
