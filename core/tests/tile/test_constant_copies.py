"""Buffers of constants that are copied: one that lasts, or one for each step that reads them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from row_networks import on_one_memory
from tilewright.ir.plans.decisions import Decisions, Staging
from tilewright.ir.tensors.dtypes import DType
from tilewright.testing.one_step import vocabulary
from tilewright.testing.sketch import Sketch
from tilewright.tile.machine import ScheduledMachine
from tilewright.tile.tile_buffers import constant_copies

WEIGHTS = np.arange(24, dtype=np.float32).reshape(4, 6)


def machine(when: str) -> ScheduledMachine:
    """Add, Clip, Add: both sums with the same constant."""
    sketch = Sketch(operators=vocabulary())
    weights = sketch.constant(WEIGHTS)
    one = sketch.node("Add", (sketch.input("x", DType.F32, (4, 6)), weights), name="one")
    two = sketch.node("Add", (sketch.node("Clip", (one,), {"min": 0.0}, "clip"), weights), name="two")
    plain = on_one_memory(sketch.finish(two))
    (name,) = plain.bound.constants
    staged = Decisions(staged={name: Staging(memory="ram", when=when)})
    return ScheduledMachine(plain.scheduled, vocabulary(), staged)


@pytest.mark.parametrize(
    ("when", "kind", "lives"), [("init", "resident", [(0, 2)]), ("use", "staged", [(0, 0), (2, 2)])]
)
def test_a_copy_lasts_or_every_reader_has_its_own(when: str, kind: str, lives: list[tuple[int, int]]) -> None:
    found = list(constant_copies(machine(when)))
    assert [(one.first, one.last) for one in found] == lives
    assert {(one.kind, one.size_bytes, one.memories) for one in found} == {(kind, WEIGHTS.nbytes, ("ram",))}
    assert len({one.name for one in found}) == len(lives)
    assert all(one.align >= WEIGHTS.itemsize for one in found)


def test_a_copy_is_aligned_as_the_platform_and_its_elements_want() -> None:
    asked = machine("init")
    scheduled, platform = asked.scheduled, asked.platform
    for wanted, align in ((16, 16), (1, WEIGHTS.itemsize)):
        bound = replace(scheduled.bound, platform=replace(platform, buffer_align=wanted))
        made = ScheduledMachine(replace(scheduled, bound=bound), vocabulary(), asked.decisions)
        assert [one.align for one in constant_copies(made)] == [align]


def test_what_nobody_asks_for_is_not_copied() -> None:
    asked = machine("init")
    assert list(constant_copies(ScheduledMachine(asked.scheduled, vocabulary(), Decisions()))) == []
