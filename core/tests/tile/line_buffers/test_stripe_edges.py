"""Columns of steps in stripes whose edges are kept: each is computed once, and what is read is there."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from row_networks import on_one_memory, row_network
from tilewright.ir.access.index_map import MapAccess
from tilewright.ir.tensors.dtypes import DType
from tilewright.testing.one_step import vocabulary
from tilewright.testing.sketch import Sketch
from tilewright.tile.line_buffers import stripe_edges as row_edges
from tilewright.tile.line_buffers.analysis import LineBufferAnalysis
from tilewright.tile.line_buffers.buffered_step import BufferedStep, Columns
from tilewright.tile.line_buffers.stripe_edges import blocks_around, with_edges
from tilewright.tile.line_buffers.stripes import stripes_of, with_stripes

SEEDS = (1, 4, 6, 15, 18, 37, 38)


def steps_of(seed: int) -> LineBufferAnalysis:
    """Of a random network."""
    return LineBufferAnalysis(on_one_memory(row_network(seed, vocabulary()).graph))


def every_tail(steps: LineBufferAnalysis, count: int) -> list[tuple[BufferedStep, ...]]:
    """Ending with each step, what can be computed in so many stripes at most."""
    total = len(steps.machine.scheduled.steps)
    tails = (with_edges(steps, [steps.at(at) for at in range(last + 1)], count) for last in range(total))
    return [tail for tail in tails if tail]


def columns_of(one: BufferedStep) -> Columns:
    """Its columns."""
    assert one.columns is not None
    return one.columns


def chain(*taps: int, width: int = 12, stride: int = 1) -> LineBufferAnalysis:
    """Windows one after the other, which keep the extents where they have no stride."""
    sketch = Sketch(operators=vocabulary())
    value = sketch.input("x", DType.F32, (1, 2, 24, width))
    for size in taps:
        half = size // 2
        windows = {"kernel_shape": (size, size), "strides": (stride, stride), "dilations": (1, 1)}
        value = sketch.node("MaxPool", (value,), {**windows, "pads": (half,) * 4, "ceil_mode": 0})
    return LineBufferAnalysis(on_one_memory(sketch.finish(value)))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("count", [2, 3, 7])
def test_no_column_is_computed_twice_and_every_stripe_computes_some(seed: int, count: int) -> None:
    steps = steps_of(seed)
    tails = every_tail(steps, count)
    assert tails
    for one in (one for tail in tails for one in tail):
        columns = columns_of(one)
        assert len(columns.bounds) <= count
        assert all(low < high for low, high in columns.computed)
        assert all(before[1] <= after[0] for before, after in pairwise(columns.computed))
        assert steps.calls.again(one) == 0


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("count", [2, 7])
def test_what_a_stripe_reads_is_in_it(seed: int, count: int) -> None:
    steps = steps_of(seed)
    for tail in every_tail(steps, count):
        makers = {one.output.value: one for one in tail}
        for one, read in [(reader, read) for reader in tail for read in reader.reads if read.value in makers]:
            access, own, maker = steps.machine.access(one.step), columns_of(one), columns_of(makers[read.value])
            assert isinstance(access, MapAccess)
            for ends, there in zip(own.computed, maker.bounds, strict=True):
                box = {loop.name: (0, loop.extent) for loop in access.loops} | {own.loop: ends}
                span = access.window(read.operand, box)[maker.axis]
                assert span.low >= span.high or there[0] <= span.low < span.high <= there[1]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_region_says_what_its_steps_have(seed: int) -> None:
    steps = steps_of(seed)
    for tail in every_tail(steps, 3):
        plain = [steps.at(one.index) for one in tail]
        assert with_stripes(steps, plain, stripes_of(tail)) == tail


def test_of_three_taps_two_columns_pass_and_of_five_four() -> None:
    steps = chain(3, 5, 1, width=12)
    first, second, last = (columns_of(one) for one in with_edges(steps, [steps.at(at) for at in range(3)], 6))
    assert [first.edge, second.edge, last.edge] == [4, 0, 0]
    assert second.bounds[:2] == last.bounds[:2] == ((0, 2), (2, 4))
    assert first.bounds[:3] == ((0, 4), (0, 6), (2, 8))
    assert first.computed[:3] == ((0, 4), (4, 6), (6, 8))


def test_a_stride_leaves_less_to_pass() -> None:
    steps = chain(3, 3, stride=2, width=24)
    first, _ = (columns_of(one) for one in with_edges(steps, [steps.at(at) for at in range(2)], 6))
    assert (first.edge, first.computed[1]) == (1, (2, 4))


def test_stripes_with_nothing_left_are_one_with_those_before() -> None:
    steps = chain(1, 5, width=8)
    tail = with_edges(steps, [steps.at(at) for at in range(2)], 8)
    first, last = map(columns_of, tail)
    assert last.bounds[-2:] == ((4, 5), (5, 8))
    assert first.bounds[-2:] == ((2, 7), (3, 8))


def test_a_window_that_is_all_padding_does_not_leave_out_what_is_between_it_and_the_next() -> None:
    """Windows begin at -1, 2 and 5: the first two, as one stripe, read columns 0 to 2 of what is before them."""
    sketch = Sketch(operators=vocabulary())
    value = sketch.node("Clip", (sketch.input("x", DType.F32, (1, 2, 8, 9)),), {"min": 0.0})
    windows = {"kernel_shape": (3, 1), "strides": (1, 3), "dilations": (1, 1), "pads": (1, 1, 1, 0), "group": 1}
    weights = sketch.constant(np.ones((2, 2, 3, 1), np.float32))
    steps = LineBufferAnalysis(on_one_memory(sketch.finish(sketch.node("Conv", (value, weights), windows))))
    for count in (2, 3, 4):
        tail = with_edges(steps, [steps.at(at) for at in range(2)], count)
        for clip, conv in pairwise(tail):
            access = steps.machine.access(conv.step)
            assert isinstance(access, MapAccess)
            whole = {loop.name: (0, loop.extent) for loop in access.loops}
            for (low, high), own in zip(columns_of(clip).bounds, columns_of(conv).computed, strict=True):
                span = access.axes["X"][3].span({**whole, columns_of(conv).loop: own})
                assert low <= span.low and span.high <= high


def test_of_an_edge_every_row_is_kept() -> None:
    steps = chain(3, 3, width=12)
    first, last = with_edges(steps, [steps.at(0), steps.at(1)], 6)
    assert (first.edges_bytes, last.edges_bytes) == (2 * 24 * 2 * 4, 0)
    assert first.row_bytes == 4 * 2 * 4
    assert first.widths == (3, 2, 2, 2, 2, 1)


def test_columns_around_which_are_too_many_axes_do_not_pass() -> None:
    assert blocks_around((1, 3, 8, 6), (0, 2, 3, 1), 2, 3) == ()
    assert blocks_around((1, 3, 8, 6), (0, 1, 2, 3), 2, 3) == (1,)
    assert blocks_around((1, 3, 8, 6), (0, 3, 2, 1), 2, 3) is None
    assert blocks_around((2, 3, 8, 6), (0, 1, 2, 3), 2, 3) is None


def test_a_step_is_joined_a_few_times_however_many_steps_are_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every further step leaves fewer stripes here: that was so many joins as the square of the steps."""
    steps, joined, original = chain(*[3] * 40, width=60), list[BufferedStep](), row_edges._joined

    def counted(one: BufferedStep, parts: list[tuple[int, int]]) -> BufferedStep:
        joined.append(one)
        return original(one, parts)

    monkeypatch.setattr(row_edges, "_joined", counted)
    tail = with_edges(steps, [steps.at(at) for at in range(40)], 60)
    (stripes,) = {len(columns_of(one).bounds) for one in tail}
    assert len(tail) == 40
    assert 1 < stripes <= 30  # of 60
    assert len(joined) <= 4 * len(tail)


@pytest.mark.parametrize("count", range(2, 25))
def test_a_step_that_was_joined_early_is_not_joined_again(count: int) -> None:
    """A U-Net: what is added to the enlarged image is read by a step far behind its maker, whose stripes were asked
    for, and joined, before those of steps in between.
    """
    sketch = Sketch(operators=vocabulary())
    windows = {"dilations": (1, 1), "ceil_mode": 0}
    same = {**windows, "kernel_shape": (3, 3), "strides": (1, 1), "pads": (1,) * 4}
    half = {**windows, "kernel_shape": (2, 2), "strides": (2, 2), "pads": (0,) * 4}
    fine = sketch.node("MaxPool", (sketch.input("x", DType.F32, (1, 2, 24, 24)),), same)
    coarse = sketch.node("MaxPool", (sketch.node("MaxPool", (fine,), half),), same)
    twice = {"sizes": (24, 24), "slopes": (11, 11), "offsets": (0, 0), "divisors": (23, 23)}
    both = sketch.node("Add", (fine, sketch.node("ResizeLinear", (coarse,), twice)))
    steps = LineBufferAnalysis(on_one_memory(sketch.finish(sketch.node("MaxPool", (both,), same))))
    tail = with_edges(steps, [steps.at(at) for at in range(6)], count)
    for one in tail:
        columns = columns_of(one)
        assert len(columns.bounds) == len(columns_of(tail[-1]).bounds)
        assert all(low < high for low, high in columns.computed)
        assert (columns.computed[0][0], columns.computed[-1][1]) == (0, one.output.shape[3])
