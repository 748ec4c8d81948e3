"""Columns of steps in stripes: those of the last step once, and of the others what is read."""

from __future__ import annotations

from dataclasses import replace

import pytest

from row_networks import on_one_memory, row_network
from tilewright.ir.access.index import Axis, Box
from tilewright.ir.access.index_map import MapAccess, Span
from tilewright.testing.one_step import vocabulary
from tilewright.tile.line_buffers.analysis import LineBufferAnalysis
from tilewright.tile.line_buffers.buffered_step import BufferedStep
from tilewright.tile.line_buffers.lifetimes import Lifetimes
from tilewright.tile.line_buffers.partition import region_of
from tilewright.tile.line_buffers.segments import Segment, segments
from tilewright.tile.line_buffers.signatures import StepSignatures
from tilewright.tile.line_buffers.stripes import in_stripes, stripes_of, with_stripes

SEEDS = (1, 4, 6, 15, 18, 37, 38)


def steps_of(seed: int) -> LineBufferAnalysis:
    """Of a random network."""
    return LineBufferAnalysis(on_one_memory(row_network(seed, vocabulary()).graph))


def every_tail(steps: LineBufferAnalysis, count: int) -> list[tuple[BufferedStep, ...]]:
    """Ending with each step, what can be computed in so many stripes."""
    total = len(steps.machine.scheduled.steps)
    tails = (in_stripes(steps, [steps.at(at) for at in range(last + 1)], count) for last in range(total))
    return [tail for tail in tails if tail]


def striped_segments(lives: Lifetimes) -> list[Segment]:
    """With every last step, as large as they like."""
    found = (one for last in range(lives.beyond) for one in segments(StepSignatures(lives), last, 1 << 30, 1e9))
    return [one for one in found if one.row_schedule and one.row_schedule.stripes > 1]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("count", [2, 3])
def test_the_last_step_has_every_column_once(seed: int, count: int) -> None:
    tails = every_tail(steps_of(seed), count)
    assert tails
    for tail in tails:
        columns = tail[-1].columns
        assert columns is not None and len(columns.bounds) == count
        every = [column for low, high in columns.bounds for column in range(low, high)]
        assert every == list(range(tail[-1].output.shape[columns.axis]))


@pytest.mark.parametrize("seed", SEEDS)
def test_what_a_stripe_reads_is_in_it(seed: int) -> None:
    steps = steps_of(seed)
    for tail in every_tail(steps, 2):
        makers = {one.output.value: one for one in tail}
        for one, read in [(reader, read) for reader in tail for read in reader.reads if read.value in makers]:
            access, own, maker = steps.machine.access(one.step), one.columns, makers[read.value].columns
            assert isinstance(access, MapAccess) and own is not None and maker is not None
            for ends, there in zip(own.bounds, maker.bounds, strict=True):
                box = {loop.name: (0, loop.extent) for loop in access.loops} | {own.loop: ends}
                span = access.window(read.operand, box)[maker.axis]
                assert span.low >= span.high or there[0] <= span.low < span.high <= there[1]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_stripe_takes_less_of_a_row(seed: int) -> None:
    steps = steps_of(seed)
    for tail in every_tail(steps, 2):
        assert tail[-1].row_bytes < steps.at(tail[-1].index).row_bytes
        assert all(one.row_bytes <= steps.at(one.index).row_bytes for one in tail)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_region_says_what_its_steps_have(seed: int) -> None:
    lives = Lifetimes(steps_of(seed))
    for one in striped_segments(lives)[:20]:
        region = region_of(lives, one)
        assert region.line_buffers is not None and region.line_buffers.stripes is not None
        plain = [lives.steps.at(index) for index in range(one.first, one.last + 1)]
        again = with_stripes(lives.steps, plain, region.line_buffers.stripes)
        assert stripes_of(again) == region.line_buffers.stripes
        assert sum(map(lives.steps.calls.again, again)) == pytest.approx(one.recomputed_macs)


def test_without_stripes_steps_are_as_they_were() -> None:
    steps = steps_of(1)
    assert with_stripes(steps, [steps.at(0)], None) == (steps.at(0),)
    assert stripes_of([steps.at(0)]) is None
    assert steps.calls.again(steps.at(0)) == 0


def test_columns_that_a_step_has_not_are_refused() -> None:
    steps = steps_of(1)
    tail = every_tail(steps, 2)[0]
    stripes = stripes_of(tail)
    assert stripes is not None
    wrong = replace(stripes, loops=tuple(one.loop for one in tail))
    with pytest.raises(ValueError, match="no columns along loop"):
        with_stripes(steps, tail, wrong)


def test_what_is_read_of_the_same_columns_is_worked_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """With other steps behind it a step often has the same columns in a stripe."""
    asked, span = list[Axis](), Axis.span

    def counted(axis: Axis, box: Box) -> Span:
        asked.append(axis)
        return span(axis, box)

    steps = steps_of(1)
    before = every_tail(steps, 3)
    monkeypatch.setattr(Axis, "span", counted)
    assert every_tail(steps, 3) == before
    assert asked == []
