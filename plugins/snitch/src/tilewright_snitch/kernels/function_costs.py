"""Knows how many cycles a core takes for runs of floats that go through straight-line functions, or through streams.
Does not know how tiles are shared or copied.

Loops count as their instructions, repetitions as theirs; the other numbers were fitted to executions of the compiled
functions (gcc 12, -O3) on the simulated core of tests/iss, with GVSoC's timing.
"""

from __future__ import annotations

from functools import cache

from tilewright_riscv.floats.lanes import LANES, Program, divisions, loop_instructions
from tilewright_snitch.kernels.costs import LIMIT_CYCLES, PACKED_LIMIT_CYCLES
from tilewright_snitch.kernels.packed import ELEMENTS, SHORTEST, body_cycles, packed

RUN_CYCLES, STREAMED_CYCLES = 20.0, 55.0  # a call's beginning and end
CONSTANT_CYCLES = 3.0  # brought to a register for a run
DIVIDE_CYCLES = 11
BRANCH_CYCLES, WORD_CYCLES = 1.0, 9.0  # of a trip of the loop; where it waits for what leaves for the integer core
KEPT_CYCLES = 6.0  # of an element that C computes, where NaN stays
WAITED_CYCLES = 2.0  # of a line
ROW_CYCLES = 55.0  # of a normalised row: two or three quotients and a root
LOGARITHM_CYCLES = 150.0
SUMMED_CYCLES, ORDERED_CYCLES = 8.0, 30.0  # of a sum, of a largest or smallest element, beside its run
INSTRUCTION_BYTES = 4
KEPT_BYTES = 350  # of code beside loops: what begins runs, and elements by themselves, which some layers have


def run_cycles(program: Program, count: int) -> float:
    """One call over `count` neighbours that streams can reach."""
    form = packed(program)
    if form is None:
        whole, rest = divmod(count, LANES)
        return whole * _loop(program) + _rest(program, rest) + RUN_CYCLES + CONSTANT_CYCLES * len(program.constants)
    if count < SHORTEST:
        return _rest(program, count)
    whole, rest = divmod(count, ELEMENTS)
    return whole * body_cycles(program, form, PACKED_LIMIT_CYCLES) + _rest(program, rest) + STREAMED_CYCLES


@cache
def _loop(program: Program) -> float:
    limits = sum(line.operation in ("min", "max") for line in program.parsed)
    slow = (DIVIDE_CYCLES - 1) * divisions(program) + (LIMIT_CYCLES - 1) * limits
    waited = WORD_CYCLES * any(line.operation == "word" for line in program.parsed)
    return loop_instructions(program) + LANES * slow + BRANCH_CYCLES + waited


def _rest(program: Program, count: int) -> float:
    """Elements that C computes: four at a time, and then one by one, each of whose lines waits for the one before."""
    moved = len(program.inputs) + bool(program.result)
    each = len(program.parsed) + moved + KEPT_CYCLES * program.keeps_nan + (DIVIDE_CYCLES - 1) * divisions(program)
    return count * each + count % LANES * WAITED_CYCLES * len(program.parsed)


def code_bytes(programs: tuple[Program, ...]) -> int:
    """Of instructions that a layer executes."""
    return sum(INSTRUCTION_BYTES * 2 * loop_instructions(program) for program in programs) + KEPT_BYTES
