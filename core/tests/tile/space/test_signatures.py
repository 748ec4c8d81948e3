"""Spaces that one search does for, and such as need their own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tilewright.ir.plans.decisions import Decisions
from tilewright.testing.cluster import RUNTIME_BYTES, cluster
from tilewright.testing.one_step import one_step, vocabulary
from tilewright.tile.machine import ScheduledMachine
from tilewright.tile.space.step_spaces import SpaceSignature, step_space
from tilewright.tile.space.tiling_space import TilingSpace


def product(rows: int = 8, *, split: bool = False) -> TilingSpace:
    """So many rows of 200 floats times constant weights of 200 x 16."""
    inputs = [np.zeros((rows, 200), np.float32), np.zeros((200, 16), np.float32)]
    scheduled = one_step("Gemm", inputs, cluster(RUNTIME_BYTES + 4096), constants=(1,))
    machine = ScheduledMachine(scheduled, vocabulary(), Decisions())
    return step_space(machine, 0, scheduled.steps[0], "l1", split=split)


def test_equal_layers_have_one_key() -> None:
    assert SpaceSignature(product()) == SpaceSignature(product())
    assert hash(SpaceSignature(product())) == hash(SpaceSignature(product()))
    assert SpaceSignature(product()) != "another thing"


def test_room_is_asked_for_apart() -> None:
    one = product()
    assert SpaceSignature(replace(one, available_bytes=2048)) == SpaceSignature(one)


def test_what_another_tiling_may_be_best_for_has_a_key_of_its_own() -> None:
    one = product()
    others = [
        product(rows=9),
        product(split=True),
        replace(one, once=("A",)),
        replace(one, spared_bytes=64),
        replace(one, operations=1.0),
    ]
    assert len({SpaceSignature(space) for space in (one, *others)}) == 1 + len(others)
