"""The order of jobs: one is started before the one before is waited for, which the cores then finish."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from engine_plans import chained, program

from tilewright.ir.programs.statements import Barrier, CopyWait, For, If, Mark, PartCall, Statement, statements_in
from tilewright.lower import lower


def calls(body: tuple[Statement, ...]) -> Iterator[str]:
    """Parts that are called in a loop over tiles, and barriers."""
    for statement in body:
        if isinstance(statement, If):
            yield from calls(statement.body)
        if isinstance(statement, PartCall):
            yield f"{statement.function.rpartition('_')[2]} {statement.tile}"
        if isinstance(statement, Barrier):
            yield "barrier"


def loop_of(finish: bool, queue: int = 2) -> tuple[For, list[str]]:
    (step,) = program(finish=finish, queue=queue).steps
    (loop,) = [statement for statement in step.body if isinstance(statement, For)]
    return loop, list(calls(loop.body))


def test_a_tile_is_started_waited_for_and_finished_in_two_turns() -> None:
    loop, order = loop_of(finish=True)
    assert order == ["barrier", "start t", "wait t - 1", "barrier", "x t + 1", "finish t - 1", "barrier", "y t - 1"]
    assert str(loop.stop) == "9"


def test_without_something_to_finish_there_is_a_barrier_less() -> None:
    _, order = loop_of(finish=False)
    assert order == ["barrier", "start t", "wait t - 1", "barrier", "x t + 1", "y t - 1"]


def test_all_jobs_but_the_last_have_one_behind_them() -> None:
    (step,) = program().steps
    (wait,) = [part for part in step.parts if part.function.endswith("_wait")]
    assert [parameter.name for parameter in wait.parameters] == ["behind"]
    (loop,) = [statement for statement in step.body if isinstance(statement, For)]
    waits = [call for one in loop.body if isinstance(one, If) for call in one.body if isinstance(call, PartCall)]
    (call,) = [call for call in waits if call.function == wait.function]
    assert "? 1 : 0" in str(call.arguments[0])


@pytest.mark.parametrize("finish", [True, False])
def test_an_engine_without_a_queue_has_one_job_at_a_time(finish: bool) -> None:
    _, order = loop_of(finish=finish, queue=1)
    assert [one.partition(" ")[0] for one in order if one[:1] in "bcf"] == (
        ["barrier", "compute", "barrier", "finish", "barrier"] if finish else ["barrier", "compute", "barrier"]
    )


def test_of_several_steps_the_cores_finish_and_compute_one_tile_while_the_next_one_is_with_the_engine() -> None:
    plan = chained()
    (_, step) = lower(plan.allocated, plan.registry.operators, "net").steps
    (loop,) = [statement for statement in step.body if isinstance(statement, For)]
    assert list(calls(loop.body)) == [
        *("barrier", "start t", "wait t - 1", "barrier", "0 t + 1"),
        *("finish t - 1", "barrier", "compute t - 1", "barrier", "1 t - 1"),
    ]
    theirs = [one for one in statements_in(loop.body) if isinstance(one, Mark) and one.buffer.startswith("one.Y")]
    assert theirs
    assert all("(t - 1)" in str(one.pointer) for one in theirs)
    waits = [str(one.code) for one in statements_in(loop.body) if isinstance(one, CopyWait)]
    assert [("(t - 1)" in code) for code in waits] == [False, True]
