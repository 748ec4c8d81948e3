"""The job of an engine runs beside steps that leave its engine and its bytes alone, and beside no others."""

from __future__ import annotations

import pytest
from engine_plans import branches

from tilewright.errors import TilewrightError
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.stages import Scheduled
from tilewright.schedule import schedule
from tilewright.schedule.deferred import conflict

ORDER = ("job", "one", "two", "both")


def scheduled(order: tuple[str, ...] = ORDER, **deferred: str) -> Scheduled:
    plan = branches()
    return schedule(plan.bound, plan.registry.operators, Decisions(order=order, deferred=deferred))


def test_what_a_job_reads_and_writes_lives_until_it_is_waited_for() -> None:
    lives = {buffer.name: (buffer.first, buffer.last) for buffer in scheduled(job="two").buffers}
    assert lives["x"] == (0, 2)
    assert lives["y"] == (0, 3)
    assert {buffer.name: buffer.last for buffer in scheduled().buffers}["x"] == 1


def test_steps_that_are_in_the_way_are_named() -> None:
    plan = scheduled()
    nodes = {node.name: node for node in plan.bound.graph.nodes}
    assert [conflict(plan, nodes, 0, later) for later in (1, 2)] == ["", ""]
    assert conflict(plan, nodes, 0, 3) == "'both' reads what 'job' writes"
    assert conflict(plan, nodes, 0, 0) == "'job' runs on engine 'npu', too"
    assert conflict(plan, nodes, 1, 2) == "kernel 'portable.neg' of 'one' starts no job"


def test_a_step_that_writes_over_what_a_job_reads_is_in_the_way() -> None:
    plan = branches()
    shared = scheduled()
    nodes = {node.name: node for node in plan.bound.graph.nodes}
    places = {**shared.storage, "n": shared.storage["x"]}
    changed = Scheduled(
        bound=shared.bound, steps=shared.steps, storage=places, buffers=shared.buffers, in_place={"n": "x"}
    )
    assert conflict(changed, nodes, 0, 1) == "'one' writes bytes that 'job' reads or writes"


@pytest.mark.parametrize(
    ("deferred", "reason"),
    [
        ({"job": "both"}, "'both' reads what 'job' writes"),
        ({"job": "job"}, "'job' is no later step"),
        ({"one": "two"}, "kernel 'portable.neg' of 'one' starts no job"),
        ({"job": "nobody"}, "'nobody' is no step"),
    ],
)
def test_decisions_that_cannot_be_are_refused(deferred: dict[str, str], reason: str) -> None:
    with pytest.raises(TilewrightError) as caught:
        scheduled(**deferred)
    assert caught.value.code == "TW5075"
    assert reason in caught.value.message


def test_nothing_is_deferred_where_that_is_forbidden() -> None:
    assert scheduled(job="").deferred == {}
