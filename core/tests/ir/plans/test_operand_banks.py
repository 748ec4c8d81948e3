"""What kernels demand of banks, and what of places keeps it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tilewright.errors import TilewrightError
from tilewright.ir.machines.platform import Memory, Platform
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.operand_banks import bank_demands, bank_faults
from tilewright.ir.plans.region import Region
from tilewright.ir.plans.stages import Allocated, Buffer, Group, Placement, Tiled
from tilewright.testing.one_step import one_step, vocabulary, with_kernel

BANK = 64
(OUTPUT,) = vocabulary()["Add"].outputs
BOARD = Platform(name="board", memories=(Memory(name="ram", size_bytes=None, align=BANK, bank_bytes=BANK),))
X = np.ones((1, 12), np.float32)  # 48 bytes


def placed(
    offsets: dict[str, int | None], *, platform: Platform = BOARD, banks: Any = (("A", "B"), (OUTPUT,))
) -> Allocated:
    """A sum of two values, each in a buffer of its own."""
    scheduled = one_step("Add", [X, X], platform)
    scheduled = replace(scheduled, bound=with_kernel(scheduled.bound, "node", banks=banks))
    storage = {value: place.buffer for value, place in scheduled.storage.items()}
    buffers = tuple(
        Buffer(name=name, kind="activation", size_bytes=48, align=16, first=0, last=0, memories=("ram",))
        for name in dict.fromkeys(storage.values())
    )
    tiled = Tiled(scheduled=scheduled, groups=(Group(region=Region(steps=("node",))),), buffers=buffers)
    places = {
        storage[value]: Placement(memory="ram", offset_bytes=at) for value, at in offsets.items() if at is not None
    }
    return Allocated(tiled=tiled, placements=places, pools=(), away=(), decisions=Decisions(), plan_id=0)


def test_a_demand_says_who_wants_what() -> None:
    tiled = placed({}).tiled
    first, second = bank_demands(tiled, Decisions())
    assert str(first) == f"kernel '{first.kernel}' of 'node' wants A, B each in one bank, no two of them in the same"
    assert str(second) == f"kernel '{first.kernel}' of 'node' wants {OUTPUT} in one bank"
    assert list(first.apart) == [(*first.buffers["A"], *first.buffers["B"])] and not list(second.apart)


def test_nothing_is_demanded_where_no_memory_has_banks() -> None:
    plain = replace(BOARD, memories=(replace(BOARD.memories[0], bank_bytes=0),))
    assert not bank_demands(placed({}, platform=plain).tiled, Decisions())


@pytest.mark.parametrize(
    ("offsets", "told"),
    [
        ({"in0": 0, "in1": 64, "out0": 128}, ()),
        ({"in0": 0, "in1": 64, "out0": 80}, ()),
        ({"in0": 0, "in1": 64, "out0": 96}, ("'out0' is in 2 of them",)),
        ({"in0": 0, "in1": 16, "out0": 128}, ("in bank 0 of 'ram'",)),
        ({"in0": 32, "in1": 64, "out0": 128}, ("'in0' is in 2 of them", "in bank 1 of 'ram'")),
        ({"in0": None, "in1": 64, "out0": 128}, ("nobody knows in which 'in0' is",)),
    ],
)
def test_every_place_that_does_not_keep_it_is_told(offsets: dict[str, int | None], told: tuple[str, ...]) -> None:
    faults = [fault for fault in bank_faults(placed(offsets)) if "'in" in fault or "'out" in fault]
    assert len(faults) == len(told)
    for fault, words in zip(faults, told, strict=True):
        assert words in fault


def test_a_name_that_is_no_operand_is_not_passed_over() -> None:
    with pytest.raises(TilewrightError) as caught:
        bank_demands(placed({}, banks=(("A", "weights"),)).tiled, Decisions())
    assert caught.value.code == "TW8062" and "banks has 'weights', which is no operand of it" in caught.value.message
