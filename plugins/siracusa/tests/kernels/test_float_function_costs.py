"""Cycles of runs of floats: four together, the rest one by one, quotients on their own."""

from __future__ import annotations

import pytest

from tilewright_riscv.floats.lanes import Program, loop_instructions
from tilewright_siracusa.kernels.float_function_costs import CONSTANT, DIVIDE_CYCLES, RUN, run_cycles

DOUBLE = Program(name="double", comment="", lines="y = add x x")
QUOTIENT = Program(name="quotient", comment="", lines="y = div x x")
SCALED = Program(name="scaled", comment="", lines="y = mul x f", constants={"f": "3.0f"}, keeps_nan=True)


def test_runs() -> None:
    loop = loop_instructions(DOUBLE)
    assert run_cycles(DOUBLE, 0) == RUN
    assert run_cycles(DOUBLE, 8) == RUN + 2 * loop
    assert run_cycles(DOUBLE, 9) == RUN + 2 * loop + 2 + 2 * 2  # a line, a load and a store, each waited for
    assert run_cycles(SCALED, 1) - run_cycles(DOUBLE, 1) == CONSTANT + 3


@pytest.mark.parametrize(("count", "quotients"), [(4, 4), (7, 7)])
def test_quotients_are_waited_for(count: int, quotients: int) -> None:
    assert run_cycles(QUOTIENT, count) - run_cycles(DOUBLE, count) == quotients * (DIVIDE_CYCLES - 1)
