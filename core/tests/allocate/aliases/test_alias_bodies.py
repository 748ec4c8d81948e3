"""Blocks that take bytes of others: chains of them as bodies, as low as they can be, around what is pinned."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tilewright.allocate.aliases import alias_bodies as module
from tilewright.allocate.aliases.alias_bodies import with_bodies
from tilewright.allocate.aliases.aliased_packing import AliasedBuffers
from tilewright.allocate.best_fit import BestFit, quickly_packed
from tilewright.allocate.packing.packing import Packing, Yard
from tilewright.errors import TilewrightError
from tilewright.ir.plans.allocation import Block, Budget, Pool, Problem

POOL = Pool(name="ram", capacity_bytes=None)


def block(name: str, size_bytes: int, first: int, last: int, fixed: int | None = None) -> Block:
    """Bytes that live from step to step."""
    return Block(
        name=name, size_bytes=size_bytes, align=16, lifetimes=((first, last),), pools=("ram",), fixed_offset=fixed
    )


def offsets(*blocks: Block, aliases: tuple[AliasedBuffers, ...]) -> dict[str, int | None]:
    """Where what takes part in aliases is put."""
    problem = with_bodies(Problem(blocks=blocks, pools=(POOL,)), aliases)
    assert set(problem.compatible) == {(one.taker, one.giver) for one in aliases}
    return {one.name: one.fixed_offset for one in problem.blocks}


def over(taker: str, giver: str, lead_bytes: int) -> AliasedBuffers:
    """`taker` takes bytes of `giver`."""
    return AliasedBuffers(taker=taker, giver=giver, lead_bytes=lead_bytes)


def test_the_one_that_takes_is_lowest() -> None:
    x, y, other = block("x", 256, 0, 3), block("y", 64, 3, 4), block("other", 32, 1, 2)
    assert offsets(x, y, other, aliases=(over("y", "x", 32),)) == {"x": 32, "y": 0, "other": None}


def test_a_chain_is_one_body() -> None:
    x, y, z = block("x", 256, 0, 3), block("y", 128, 3, 6), block("z", 96, 6, 7)
    assert offsets(x, y, z, aliases=(over("y", "x", 32), over("z", "y", 16))) == {"x": 48, "y": 16, "z": 0}


def test_a_chain_may_turn() -> None:
    x, y, z = block("x", 256, 0, 3), block("y", 128, 3, 6), block("z", 96, 6, 7)
    assert offsets(x, y, z, aliases=(over("y", "x", 32), over("z", "y", -64))) == {"x": 32, "y": 0, "z": 64}
    assert offsets(x, y, aliases=(over("y", "x", -160),)) == {"x": 0, "y": 160}


def test_bodies_that_live_together_are_side_by_side() -> None:
    x, y, u, v = block("x", 256, 0, 3), block("y", 128, 3, 6), block("u", 64, 1, 6), block("v", 32, 6, 7)
    found = offsets(x, y, u, v, aliases=(over("y", "x", 16), over("v", "u", 16)))
    assert found == {"x": 16, "y": 0, "u": 272, "v": 256}


def test_what_is_pinned_is_left_where_it_is() -> None:
    x, y, other = block("x", 256, 0, 3), block("y", 64, 3, 4), block("other", 32, 1, 2, fixed=64)
    assert offsets(x, y, other, aliases=(over("y", "x", 0),)) == {"x": 96, "y": 96, "other": 64}
    assert offsets(block("x", 256, 0, 3, fixed=48), y, aliases=(over("y", "x", 16),)) == {"x": 48, "y": 32}


def test_pins_at_another_distance_are_an_error() -> None:
    x, y = block("x", 256, 0, 3, fixed=64), block("y", 64, 3, 4, fixed=0)
    assert offsets(x, y, aliases=(over("y", "x", 64),)) == {"x": 64, "y": 0}
    with pytest.raises(TilewrightError, match="TW5002"):
        offsets(x, y, aliases=(over("y", "x", 32),))


def test_without_overlays_a_problem_is_as_it_was() -> None:
    problem = Problem(blocks=(block("x", 256, 0, 3),), pools=(POOL,))
    assert with_bodies(problem, ()) == problem
    assert with_bodies(problem, (over("y", "x", 0),)) == problem  # another memory's


def test_a_body_lies_on_others_where_that_is_lower() -> None:
    first, x, y = block("first", 256, 0, 1), block("x", 64, 1, 3), block("y", 128, 3, 4)
    found = offsets(first, x, y, aliases=(over("y", "x", 64),))
    assert (found["x"], found["y"]) == (256, 192)  # 320 B; from the lowest place it would be 384


def test_bytes_are_only_taken_where_that_is_lower() -> None:
    """Small values that were put right before large ones would be in the way of the next large one."""
    blocks = (
        block("x", 1024, 0, 1), block("y", 128, 1, 2), block("z", 1024, 2, 3), block("u", 128, 3, 4),
        block("v", 1024, 4, 5), block("w", 128, 5, 6),
    )  # fmt: skip
    problem = with_bodies(
        Problem(blocks=blocks, pools=(POOL,)), (over("y", "x", 16), over("u", "z", 16), over("w", "v", 16))
    )
    found = BestFit().solve(problem, Budget(work=0))
    assert max(found.places[one.name].offset_bytes + one.size_bytes for one in blocks) == 1024 + 128


class CountingPacker:
    """Places as `quickly_packed` does, and says how often."""

    packed = 0

    def __call__(self, yard: Yard) -> tuple[Packing, int]:
        """See `quickly_packed`."""
        CountingPacker.packed += 1
        return quickly_packed(yard)


def test_no_other_start_is_placed_once_nothing_can_be_lower(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a chain with one layer that is wider, every other body is as good at the lowest place as anywhere."""
    monkeypatch.setattr(module, "quickly_packed", CountingPacker())
    blocks = [block(f"x{at}", 64 + 16 * (at % 3), at, at + 1) for at in range(30)]
    blocks[15] = replace(blocks[15], size_bytes=4096)
    pairs = tuple(over(f"x{at + 1}", f"x{at}", 16) for at in range(0, 30, 3))
    CountingPacker.packed = 0
    problem = with_bodies(Problem(blocks=tuple(blocks), pools=(POOL,)), pairs)
    assert 0 < CountingPacker.packed <= 4 * len(pairs)  # every start of every body, and each way twice: 100
    found = BestFit().solve(problem, Budget(work=0))
    assert max(found.places[one.name].offset_bytes + one.size_bytes for one in blocks) == 4096 + 96
