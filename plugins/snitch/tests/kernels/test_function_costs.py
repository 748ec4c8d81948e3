"""Cycles of runs of floats: streams from their shortest length on, C before, and what a run costs beside its loop."""

from __future__ import annotations

import pytest

from tilewright_riscv.floats.functions import TOTAL, UNARY
from tilewright_riscv.floats.lanes import LANES, Program, loop_instructions
from tilewright_snitch.kernels.function_costs import (
    CONSTANT_CYCLES,
    DIVIDE_CYCLES,
    RUN_CYCLES,
    STREAMED_CYCLES,
    code_bytes,
    run_cycles,
)
from tilewright_snitch.kernels.packed import ELEMENTS, SHORTEST, packed

WORDS = UNARY["Exp"]  # goes through the integer core: no streams


def test_a_run_without_streams() -> None:
    """Loops of four: each costs the same, and at least its instructions."""
    assert packed(WORDS) is None
    start = RUN_CYCLES + CONSTANT_CYCLES * len(WORDS.constants)
    loop = run_cycles(WORDS, LANES) - start
    assert loop > loop_instructions(WORDS)
    assert run_cycles(WORDS, 10 * LANES) == pytest.approx(start + 10 * loop)
    assert run_cycles(WORDS, LANES + 1) > start + loop


def test_streams_are_worth_their_start() -> None:
    assert packed(TOTAL) is not None
    short, long = run_cycles(TOTAL, SHORTEST - 1), run_cycles(TOTAL, 64 * ELEMENTS)
    each = (long - STREAMED_CYCLES) / (64 * ELEMENTS)
    assert each < short / (SHORTEST - 1)
    assert run_cycles(TOTAL, 0) == 0.0  # C alone, which has nothing to do


def test_quotients_are_waited_for() -> None:
    quotient = Program(name="q", comment="", lines="y = div x x")
    double = Program(name="d", comment="", lines="k = word x\ny = power k")
    assert run_cycles(quotient, LANES) - run_cycles(quotient, 0) > LANES * DIVIDE_CYCLES
    assert code_bytes((quotient, double)) - code_bytes((quotient,)) == 8 * loop_instructions(double)
