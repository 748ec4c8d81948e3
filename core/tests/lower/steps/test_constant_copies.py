"""Constants that are brought nearer: once, in the init function, or before each step that reads them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tilewright.errors import TilewrightError
from tilewright.ir.machines.platform import CopyPath, Memory, Platform
from tilewright.ir.plans.decisions import Staging
from tilewright.ir.programs.statements import CopyStart, CopyWait, Declare
from tilewright.lower.operands.addresses import address_book, members_of
from tilewright.lower.steps.constant_copies import copies_at_start, copies_before

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


def test_what_the_engine_does_not_take_is_copied_by_a_core(toy: Any) -> None:
    """Ten bytes in words of four."""
    (copy,) = before(toy, platform(toy, replace(DMA, align=4)))
    assert codes([copy]) == ["memcpy(fast, flash, 10u)"]


def test_where_nothing_brings_it_there_that_is_said(toy: Any) -> None:
    closed = platform(toy, replace(DMA, align=4), access={"cpu": "ro"})
    with pytest.raises(TilewrightError) as caught:
        before(toy, closed)
    assert caught.value.code == "TW5033"
    assert "'/bias.B' cannot be copied from 'flash' to 'fast'" in caught.value.message
