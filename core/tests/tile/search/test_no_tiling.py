"""Why a step does not fit: the bytes that would do, and which loops hold it together."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tilewright.errors import Exit
from tilewright.ir.plans.decisions import Decisions
from tilewright.testing.cluster import RUNTIME_BYTES, cluster
from tilewright.testing.one_step import one_step, vocabulary
from tilewright.tile.machine import ScheduledMachine
from tilewright.tile.memory_path import HopMemories
from tilewright.tile.search.no_tiling import does_not_fit, needs_of
from tilewright.tile.search.step_tilings import HopWithoutTiling
from tilewright.tile.space.step_spaces import step_space

ENDS = HopMemories(outer="l2", inner="l1")


def machine(room_bytes: int, op: str, *shapes: tuple[int, ...], **attributes: Any) -> ScheduledMachine:
    inputs = [np.zeros(shape, np.float32) for shape in shapes]
    scheduled = one_step(op, inputs, cluster(RUNTIME_BYTES + room_bytes), attributes)
    return ScheduledMachine(scheduled, vocabulary(), Decisions())


def blocked(made: ScheduledMachine) -> HopWithoutTiling:
    space = step_space(made, 0, made.scheduled.steps[0], ENDS.inner, split=True)
    return HopWithoutTiling(ENDS, space)


def test_a_softmax_needs_a_whole_row_of_both_operands() -> None:
    """Rows of 100 floats."""
    needs = needs_of(blocked(machine(500, "Softmax", (5, 100), axis=1)))
    assert needs is not None
    assert (needs.memory, needs.available_bytes) == ("l1", 500)
    assert needs.smallest == ({"X": 400, "Y": 400, "scratch": 0},)
    assert needs.windows == {"X": (1, 100), "Y": (1, 100)}


def test_smallest_sets_of_buffers_are_none_larger_than_another() -> None:
    """A product: the fewer rows of one operand, the same columns of the other."""
    needs = needs_of(blocked(machine(8, "MatMul", (6, 5), (5, 7))))
    assert needs is not None and needs.smallest
    for one in needs.smallest:
        for other in needs.smallest:
            assert one is other or any(other[name] < one[name] for name in one)


def test_no_need_where_no_tile_is_legal() -> None:
    made = blocked(machine(8, "Add", (6, 8), (6, 8)))
    odd = replace(made.space, copied=tuple(replace(one, aligned_offset=False) for one in made.space.copied))
    assert needs_of(HopWithoutTiling(ENDS, odd)) is None


def test_the_error_says_what_would_do() -> None:
    made = machine(500, "Softmax", (5, 100), axis=1)
    step = made.scheduled.steps[0]
    error = does_not_fit(made, step, blocked(made).space, "l1")
    assert (error.code, error.exit_code, error.subject) == ("TW5101", Exit.DOES_NOT_FIT, "node")
    assert "its smallest tile needs 800 B, there are 500 B" in error.message
    assert error.needs == ("l1", 800 + RUNTIME_BYTES)
    assert f"memory 'l1' has {500 + RUNTIME_BYTES} B, of which {RUNTIME_BYTES} B are the runtime's" in error.details[0]
    assert "axis 1 of X, 100 elements, cannot be cut: Softmax takes it whole" in error.details
    assert error.details[-1].startswith("cut already: ")


@pytest.mark.parametrize(("shape", "axes"), [((5, 100), 2), ((5, 1), 0)])
def test_an_axis_of_one_element_is_no_reason(shape: tuple[int, int], axes: int) -> None:
    made = machine(8, "Softmax", shape, axis=1)
    error = does_not_fit(made, made.scheduled.steps[0], blocked(made).space, "l1")
    assert sum("takes it whole" in line for line in error.details) == axes


def test_without_a_legal_tile_more_memory_is_no_way_out() -> None:
    made = machine(500, "Add", (6, 8), (6, 8))
    space = blocked(made).space
    odd = replace(space, copied=tuple(replace(one, aligned_offset=False) for one in space.copied))
    error = does_not_fit(made, made.scheduled.steps[0], odd, "l1")
    assert "no tile of it is legal for the copy engine" in error.message
    rules = [line for line in error.details if " crosses from " in line]
    assert [line.split(" in no tile")[0] for line in rules] == [
        "A crosses from 'l2' to 'l1'", "B crosses from 'l2' to 'l1'", "Y crosses from 'l1' to 'l2'"
    ]  # fmt: skip
    assert all(line.endswith(f"{line[0]} begins at no multiple of 1 bytes") for line in rules)
    assert (error.needs, error.fix) == (None, ())
