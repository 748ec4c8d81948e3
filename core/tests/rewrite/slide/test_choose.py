"""The least state among plans that compute hardly more than the least."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tilewright.ir.graphs.operator import Operator
from tilewright.rewrite.slide import choose
from tilewright.rewrite.slide.choose import MORE_WORK, chosen
from tilewright.rewrite.slide.reuse import analyse
from tilewright.rewrite.slide.stream_plan import Streamer


@pytest.fixture(name="streamer")
def _streamer(layers: Any, operators: Mapping[str, Operator]) -> Streamer:
    graph = layers.tcn(length=300)
    return Streamer(graph=graph, operators=operators, sliding="x", reuse=analyse(graph, operators, "x", 2, 1))


@pytest.mark.slow
def test_state_is_a_fraction_and_work_within_its_limit(streamer: Streamer) -> None:
    plan, least = chosen(streamer), streamer.least
    assert plan.work <= least.work * (1 + 1 / MORE_WORK)
    assert plan.state_bytes < least.state_bytes / 3


@pytest.mark.slow
def test_the_same_plan_every_time(streamer: Streamer) -> None:
    assert chosen(streamer) == chosen(streamer)


def test_without_a_budget_everything_is_kept(streamer: Streamer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choose, "_MOST_VISITS", 0)
    assert chosen(streamer).work <= streamer.least.work * (1 + 1 / MORE_WORK)
