"""Constants that are brought nearer: once, in the init function, or before each step that reads them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tilewright.errors import TilewrightError
from tilewright.ir.machines.platform import CopyPath, Memory, Platform
from tilewright.ir.plans.decisions import Staging
from tilewright.ir.plans.stages import Allocated, Placement
from tilewright.ir.programs.statements import Barrier, Comment, CopyStart, CopyWait, Declare, If
from tilewright.lower.operands.addresses import AddressBook, address_book, members_of
from tilewright.lower.steps.persistent import copies_at_start, copies_before, state_initialisers, state_updates

DMA = CopyPath(
    source="flash", target="fast", start="${channel} = dma(${dst}, ${src}, ${bytes});", wait="dma_wait(${channel});"
)


def platform(toy: Any, path: CopyPath | None = None, **fast: Any) -> Platform:
    """A fast memory besides, reached by a copy of its own or by memcpy."""
    memories = (*toy.platform.memories, Memory(name="fast", size_bytes=None, **fast))
    return replace(toy.platform, memories=memories, copies=(path,) if path else ())


def book(toy: Any, when: str, target: Platform) -> Any:
    graph = toy.graph()
    plan = toy.plan(graph, platform=target, staged={"/bias.B": Staging(memory="fast", when=when)})
    return address_book(plan, members_of(graph, "toy"))


def before(toy: Any, target: Platform, step: int = 0, when: str = "use") -> Any:
    made = book(toy, when, target)
    return copies_before(made.allocated.tiled.scheduled.steps[step], made)


def codes(statements: Any) -> list[str]:
    return [str(one.code) for one in statements if isinstance(one, (CopyStart, CopyWait))]


def test_a_step_copies_what_it_reads(toy: Any) -> None:
    (copy,) = before(toy, platform(toy))
    assert isinstance(copy, CopyStart)
    assert str(copy.code) == "memcpy(fast, flash, 10u)"
    assert (copy.source.buffer, copy.target.buffer, copy.target.size_bytes) == ("/bias.B", "/bias.B@fast#/bias", 10)
    assert before(toy, platform(toy), step=1) == (), "it has no constant"
    assert before(toy, platform(toy), when="init") == ()


def test_a_lasting_copy_is_made_at_the_start_through_the_context(toy: Any) -> None:
    (copy,) = copies_at_start(book(toy, "init", platform(toy)))
    assert codes([copy]) == ["memcpy((uint8_t *)ctx->pools.fast_copies, (const uint8_t *)ctx->constants.flash, 10u)"]
    assert copies_at_start(book(toy, "use", platform(toy))) == ()


def test_a_copy_engine_is_started_and_waited_for(toy: Any) -> None:
    channel, start, wait = before(toy, platform(toy, DMA))
    assert isinstance(channel, Declare) and (channel.type, channel.name) == ("uint32_t", "tw_channel")
    assert codes([start, wait]) == ["tw_channel = dma(fast, flash, 10u);", "dma_wait(tw_channel)"]


def test_nothing_is_waited_for_where_the_copy_is_done_when_it_returns(toy: Any) -> None:
    (start,) = before(toy, platform(toy, replace(DMA, start="dma(${dst}, ${src}, ${bytes});", wait="")))
    assert codes([start]) == ["dma(fast, flash, 10u)"]


def test_what_is_too_long_is_copied_in_parts(toy: Any) -> None:
    parts = before(toy, platform(toy, replace(DMA, max_bytes=5, align=2, wait="")))
    starts = [one for one in parts if isinstance(one, CopyStart)]
    assert [(one.target.offset_bytes, one.source.offset_bytes, one.target.size_bytes) for one in starts] == [
        (0, 0, 4), (4, 4, 4), (8, 8, 2)
    ]  # fmt: skip
    assert codes(starts)[1] == "tw_channel = dma(fast + 4, flash + 4, 4u);"


def test_a_copy_engine_moves_padding_with_what_is_no_multiple(toy: Any) -> None:
    """Ten bytes in words of four."""
    _, start, wait = before(toy, platform(toy, replace(DMA, align=4)))
    assert codes([start, wait]) == ["tw_channel = dma(fast, flash, 12u);", "dma_wait(tw_channel)"]
    assert (start.source.size_bytes, start.target.size_bytes) == (12, 12)


def test_where_nothing_brings_it_there_that_is_said(toy: Any) -> None:
    closed = platform(toy, access={"cpu": "ro"})
    with pytest.raises(TilewrightError) as caught:
        before(toy, closed)
    assert caught.value.code == "TW5033"
    assert "'/bias.B' cannot be copied from 'flash' to 'fast'" in caught.value.message


def plan(toy: Any) -> Allocated:
    """The output is the input of the next run."""
    made: Allocated = toy.plan(toy.graph())
    return replace(made, decisions=replace(made.decisions, state={"mfcc:0": "scores"}))


def book_of(made: Allocated) -> AddressBook:
    return address_book(made, members_of(made.tiled.scheduled.bound.graph, "toy"))


def updates(made: Allocated, *, team: bool = False) -> Any:
    return state_updates(made, book_of(made), team=team)


def test_an_output_is_copied_to_where_the_next_run_reads_it(toy: Any) -> None:
    comment, copy = updates(plan(toy))
    assert isinstance(comment, Comment) and isinstance(copy, CopyStart)
    assert str(copy.code) == "memcpy(ram, ram, 10u)"
    assert (copy.source.buffer, copy.target.buffer, copy.target.size_bytes) == ("scores", "mfcc:0", 10)


def test_one_core_of_a_team_copies_when_all_are_done(toy: Any) -> None:
    barrier, alone = updates(plan(toy), team=True)
    assert isinstance(barrier, Barrier) and isinstance(alone, If)
    assert str(alone.condition) == "tw_rt_core() == 0u" and len(alone.body) == 2


def test_an_output_in_the_same_place_is_not_copied(toy: Any) -> None:
    made = plan(toy)
    scheduled = made.tiled.scheduled
    storage = {**scheduled.storage, "scores": scheduled.storage["mfcc:0"]}
    same = replace(made, tiled=replace(made.tiled, scheduled=replace(scheduled, storage=storage)))
    assert updates(same) == ()
    assert updates(replace(made, decisions=replace(made.decisions, state={}))) == ()


def test_a_state_begins_with_zeros_or_with_a_constant(toy: Any) -> None:
    made = plan(toy)
    assert state_initialisers(made, book_of(made)) == ()
    bound = made.tiled.scheduled.bound
    first = replace(bound, constants={**bound.constants, "mfcc:0.initial": np.ones(10, np.int8)})
    buffer = replace(next(one for one in made.tiled.buffers if one.name == "/bias.B"), name="mfcc:0.initial")
    tiled = replace(made.tiled, scheduled=replace(made.tiled.scheduled, bound=first))
    tiled = replace(tiled, buffers=(*tiled.buffers, buffer))
    places = {**made.placements, "mfcc:0.initial": Placement(memory="flash", offset_bytes=32)}
    begun = replace(made, tiled=tiled, placements=places)
    (one,) = state_initialisers(begun, book_of(begun))
    assert (one.pool, one.size_bytes) == ("flash", 10)
