"""What a call computes and keeps, for given choices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tilewright.ir.graphs.operator import Operator
from tilewright.rewrite.slide.reuse import analyse
from tilewright.rewrite.slide.stream_plan import Choices, Run, Streamer


@pytest.fixture(name="streamer")
def _streamer(layers: Any, operators: Mapping[str, Operator]) -> Streamer:
    graph = layers.tcn()
    return Streamer(graph=graph, operators=operators, sliding="x", reuse=analyse(graph, operators, "x", 2, 1))


def test_the_least_is_what_padding_reaches_and_what_is_new(streamer: Streamer) -> None:
    of_block, of_input = 4 * 4 * 3, 2 * 4
    assert streamer.least.products == of_input + of_block * sum(reach + 1 for reach in (2, 6, 14))


def test_what_is_kept_is_not_computed(streamer: Streamer) -> None:
    for name, runs in streamer.least.runs.items():
        for run in runs:
            assert sum(high - low for low, high in run.computed) + run.keeps == run.interval[1] - run.interval[0], name


def test_gaps_are_kept_or_computed_at_their_end(streamer: Streamer) -> None:
    name = next(name for name in streamer.least.runs if name.startswith("QAdd"))
    assert len(streamer.plan(Choices(gaps={name: 0})).runs[name]) > len(streamer.least.runs[name])
    assert not any(run.keeps for run in streamer.plan(Choices(gaps={name: -1})).runs[name])


def test_a_mean_that_is_no_running_sum_needs_everything(streamer: Streamer) -> None:
    (name,) = streamer.least.sums
    other = streamer.plan(Choices(whole=frozenset({name})))
    assert (len(other.sums), other.work > streamer.least.work) == (0, True)


def test_the_input_ends_with_what_is_new(streamer: Streamer) -> None:
    (run,) = streamer.least.runs["x"]
    assert run == Run(interval=(47, 48), kept=(47, 47), computed=((47, 48),))
