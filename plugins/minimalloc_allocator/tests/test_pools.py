"""Blocks among pools: the fewest bytes away from their first one, then the lowest peaks, and what is proved of it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from tilewright.api.allocator import Block, Pool, Problem
from tilewright.api.testing import block
from tilewright_minimalloc.pools import Ground, divide
from tilewright_minimalloc.search import PythonSearch


def ground(blocks: Sequence[Block], near: int | None, *, work: int = 10_000, any_plan: bool = False) -> Ground:
    pools = (Pool(name="near", capacity_bytes=near), Pool(name="far", capacity_bytes=64))
    names = [pool.name for pool in pools]
    return Ground(
        problem=Problem(blocks=tuple(blocks), pools=pools),
        blocks=tuple(blocks),
        candidates=tuple(tuple(names.index(name) for name in one.pools) for one in blocks),
        seed=0,
        make=PythonSearch,
        left=work,
        any_plan=any_plan,
    )


def either(name: str, size: int, first: int, last: int) -> Block:
    return block(name, size, first, last, pools=("near", "far"))


BLOCKS = (either("a", 8, 0, 1), either("b", 6, 0, 1), either("c", 5, 1, 2), either("d", 2, 1, 1))


def test_with_room_everything_is_in_its_first_pool() -> None:
    plan, sure = divide(ground(BLOCKS, None))
    assert plan is not None and sure and plan.away == 0 and set(plan.division) == {0}
    assert plan.cost == (0, 21)  # step 1 has all four


def test_without_room_the_fewest_bytes_go() -> None:
    """Of 8, 6, 5 and 2 bytes, alive together, 15 have room: 6 go away."""
    plan, sure = divide(ground(BLOCKS, 15))
    least = min(
        sum(one.size_bytes for one, at in zip(BLOCKS, where, strict=True) if at)
        for where in product((0, 1), repeat=4)
        if sum(one.size_bytes for one, at in zip(BLOCKS, where, strict=True) if not at) <= 15
    )
    assert plan is not None and sure and plan.away == least == 6
    assert [peak.task.pool.name for peak in plan.peaks] == ["near", "far"]


def test_what_nowhere_fits_is_proved_to_have_no_plan() -> None:
    assert divide(ground((*BLOCKS, either("huge", 100, 0, 0)), 15)) == (None, True)
    only = block("only", 20, 0, 0, pools=("near",))
    assert divide(ground((only,), 15)) == (None, True)


def test_without_work_nothing_is_claimed() -> None:
    plan, sure = divide(ground(BLOCKS, 15, work=0))
    assert not sure and (plan is None or plan.away >= 6)


def test_any_plan_will_do_where_that_is_asked_for() -> None:
    plan, _ = divide(ground(BLOCKS, 15, any_plan=True))
    assert plan is not None and plan.away >= 6
    for number, peak in enumerate(plan.peaks):
        assert peak.task.peak_bytes(peak.height) <= (15, 64)[number]
