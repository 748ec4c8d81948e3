"""Plans that keep operands in banks: inside of what others take where that can be, and what is told where none can."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from tilewright.allocate.allocate import attempt
from tilewright.allocate.best_fit import BestFit
from tilewright.allocate.overflow import Overflow, does_not_fit
from tilewright.ir.machines.platform import Memory, Platform
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.operand_banks import bank_faults
from tilewright.ir.plans.region import Region
from tilewright.ir.plans.stages import Allocated, Buffer, Group, Tiled
from tilewright.testing.one_step import one_step, vocabulary, with_kernel

BANK = 64
(OUTPUT,) = vocabulary()["Add"].outputs


def answered(sizes: Sequence[int], *groups: tuple[str, ...], capacity: int | None = 4 * BANK) -> Allocated | Overflow:
    """A sum, its operands of other sizes than a sum has, beside 32 bytes that no kernel cares about."""
    board = Platform(name="board", memories=(Memory(name="ram", size_bytes=capacity, align=BANK, bank_bytes=BANK),))
    x = np.ones((1, 12), np.float32)
    scheduled = one_step("Add", [x, x], board)
    scheduled = replace(scheduled, bound=with_kernel(scheduled.bound, "node", banks=groups))
    names = [scheduled.storage[value].buffer for value in ("in0", "in1", "out0")]
    buffers = tuple(
        Buffer(name=name, kind="activation", size_bytes=size, align=16, first=0, last=0, memories=("ram",))
        for name, size in zip((*names, "beside"), (*sizes, 32), strict=True)
    )
    tiled = Tiled(scheduled=scheduled, groups=(Group(region=Region(steps=("node",))),), buffers=buffers)
    return attempt(tiled, Decisions(), BestFit())


def test_a_plan_that_keeps_them_anyway_stays_as_it_is() -> None:
    plan, plain = answered((16, 16, 16), ("A",)), answered((16, 16, 16))
    assert isinstance(plan, Allocated) and isinstance(plain, Allocated)
    assert plan.placements == plain.placements and plan.pools == plain.pools


@pytest.mark.parametrize("capacity", [4 * BANK, 3 * BANK - 16, None])
def test_operands_get_banks_and_all_else_the_room_between(capacity: int | None) -> None:
    plan = answered((48, 48, 48), ("A", "B", OUTPUT), capacity=capacity)
    assert isinstance(plan, Allocated) and not list(bank_faults(plan))
    assert len({place.offset_bytes // BANK for name, place in plan.placements.items() if name != "beside"}) == 3


def test_no_more_is_taken_than_without_banks_where_that_can_be() -> None:
    plan = answered((48, 16, 48), ("A", OUTPUT))
    assert isinstance(plan, Allocated) and plan.pools[0].used_bytes == 144


def test_what_is_proved_is_about_all_plans() -> None:
    plan = answered((48, 48, 16), ("A", "B"))
    assert isinstance(plan, Allocated)
    pool = plan.pools[0]
    assert pool.lower_bound_bytes <= pool.used_bytes


def test_where_there_is_none_the_error_has_the_demand_and_the_sizes() -> None:
    short = answered((48, 48, 72), ("A", "B"), (OUTPUT,))
    assert isinstance(short, Overflow) and short.fault is not None
    error = does_not_fit(None, short)  # type: ignore[arg-type]  # nothing else is looked at
    assert error is short.fault and error.code == "TW5068" and error.subject == "node"
    assert f"of 'node' wants {OUTPUT} in one bank" in error.message
    assert error.details[0] == "'ram' has 256 B, in banks of 64 B" and error.details[1].endswith("takes 72 B")
