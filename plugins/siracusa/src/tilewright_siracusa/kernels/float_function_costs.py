"""Knows how many cycles a core takes for runs of floats that go through straight-line functions.
Does not know how tiles are shared or copied.

The hardware loop counts as its instructions; the other numbers were fitted to executions of the compiled functions
(gcc 12, -O3) on the simulator of tests/iss, which holds every model to 15 %.
"""

from __future__ import annotations

from functools import cache

from tilewright_riscv.floats.lanes import LANES, Program, divisions, loop_instructions

RUN = 6.0  # a loop's beginning
CONSTANT = 1.5  # brought to a register for a run
DIVIDE_CYCLES = 10
WITHIN, WITHIN_RUN = 4.0, 20.0  # of one element whose magnitude is looked at before, and of a run of them
ROW = 45.0  # of a normalised row: two or three quotients and a root
LOGARITHM = 75.0


def run_cycles(program: Program, count: int) -> float:
    """One call over `count` neighbours."""
    whole, rest = divmod(count, LANES)
    looked = (WITHIN * count + WITHIN_RUN) * len(program.within)
    return whole * _loop(program) + rest * _single(program) + looked + RUN + CONSTANT * len(program.constants)


@cache
def _loop(program: Program) -> float:
    return loop_instructions(program) + LANES * (DIVIDE_CYCLES - 1) * divisions(program)


@cache
def _single(program: Program) -> float:
    """One element after the last four: what is computed is waited for."""
    moved = len(program.inputs) + bool(program.result)
    return 2 * len(program.parsed) + 2 * moved + 3 * program.keeps_nan + (DIVIDE_CYCLES - 1) * divisions(program)
