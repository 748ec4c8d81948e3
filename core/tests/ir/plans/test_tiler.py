"""What a tiler is asked and answers: whatever plans is one, and a request compares by the question alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tilewright.builtin import tilewright_tilers
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.stages import Group
from tilewright.ir.plans.tiler import Tiler, TilingRequest
from tilewright.testing.cluster import CLUSTER
from tilewright.testing.one_step import one_step, vocabulary

REQUEST = TilingRequest(
    scheduled=one_step("Neg", [np.ones((40, 30), np.float32)], CLUSTER), operators=vocabulary(), decisions=Decisions()
)


def test_whatever_has_a_name_a_summary_and_plans_is_a_tiler() -> None:
    class Own:
        name, summary = "own", "mine"

        def plan(self, request: TilingRequest) -> tuple[Group, ...]:
            del request
            return ()

    assert isinstance(Own(), Tiler) and not isinstance(object(), Tiler)
    assert all(isinstance(tiler, Tiler) for tiler in tilewright_tilers())


def test_the_same_request_gives_the_same_groups_that_cover_every_step_once() -> None:
    for tiler in tilewright_tilers():
        one, other = tiler.plan(REQUEST), tiler.plan(replace(REQUEST, known={}))
        assert one == other, tiler.name
        assert [step for group in one for step in group.steps] == ["node"], tiler.name


def test_what_was_found_before_is_no_part_of_the_question() -> None:
    known = replace(REQUEST, known={"anything": 1})
    assert known == REQUEST and "anything" not in repr(known)
    assert replace(REQUEST, longest=1) != REQUEST != replace(REQUEST, seed=1)
