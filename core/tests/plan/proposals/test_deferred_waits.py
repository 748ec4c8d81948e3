"""Orders in which jobs run beside other steps, on clocks of cores and engines; and plans that gain by them, only."""

from __future__ import annotations

from engine_plans import branches

from tilewright.ir.plans.decisions import Decisions
from tilewright.plan.proposals.deferred_waits import Unit, proposals, scheduled_units, with_gains


def unit(cycles: float, *after: int, job: float = 0.0, engine: str = "") -> Unit:
    return Unit(nodes=(f"u{cycles}",), engine=engine or ("npu" if job else ""), cycles=cycles, job=job,
                after=frozenset(after))  # fmt: skip


def test_a_job_starts_before_what_the_cores_do_beside_it() -> None:
    assert scheduled_units((unit(50), unit(50, 0), unit(120, job=100), unit(10, 1, 2))) == (2, 0, 1, 3)


def test_of_two_chains_the_jobs_of_one_alternate_with_the_steps_of_the_other() -> None:
    """Each job is over when a step of the other chain is, so the next one starts then."""
    chains = (unit(40, job=30), unit(40, 0, job=30), unit(40, 1, job=30), unit(35), unit(35, 3), unit(35, 4))
    assert scheduled_units(chains) == (0, 3, 1, 4, 2, 5)


def test_a_job_is_waited_for_where_nothing_else_can_run() -> None:
    assert scheduled_units((unit(40, job=30), unit(10, 0), unit(5, 1))) == (0, 1, 2)


def test_two_engines_compute_at_once() -> None:
    pair = (unit(100, job=90, engine="a"), unit(60, 0), unit(100, job=90, engine="b"), unit(10, 1, 2))
    assert scheduled_units(pair)[:2] == (0, 2)


def test_an_engine_has_one_step_at_a_time() -> None:
    pair = (unit(100, job=90), unit(60), unit(100, job=90), unit(10, 0, 1, 2))
    assert scheduled_units(pair) == (0, 1, 2, 3)


def test_the_plan_has_the_order_of_the_list_scheduler_where_that_is_faster() -> None:
    plan, before = branches().allocated, branches(Decisions(deferred={"job": ""})).allocated
    assert before.decisions.order == ("one", "two", "job", "both")
    assert plan.decisions.order == ("job", "one", "two", "both")
    assert plan.decisions.deferred == {"job": "two"}
    cycles = [sum(group.cycles for group in made.tiled.groups) for made in (plan, before)]
    hidden = sum(group.hidden_cycles for group in plan.tiled.groups)
    assert hidden > 900
    assert cycles[1] - hidden <= cycles[0] <= cycles[1] - 0.95 * hidden  # what waits gains a little by more tiles
    assert with_gains(plan, before) == {"job": "two"}
    assert with_gains(plan, plan) == {}


def test_an_order_that_is_pinned_stays() -> None:
    order = ("one", "job", "two", "both")
    plan = branches(Decisions(order=order)).allocated
    assert plan.decisions.order == order
    assert plan.decisions.deferred == {"job": "two"}
    last = branches(Decisions(order=("one", "two", "job", "both"))).allocated
    assert last.decisions.deferred == {}


def test_what_is_decided_is_not_proposed_again() -> None:
    plan = branches(Decisions(deferred={"job": ""}))
    pins = Decisions(deferred={"job": ""})
    assert list(proposals(plan.allocated, plan.registry.operators, pins)) == []
    jobs_first, waiting = proposals(plan.allocated, plan.registry.operators, Decisions())
    assert (jobs_first.order[0], jobs_first.deferred) == ("job", {})  # what stands behind it may be tiled with it
    assert (waiting.order[0], waiting.deferred) == ("job", {"job": "two"})


def test_short_of_memory_every_step_waits_where_it_stands() -> None:
    assert branches(memory=1 << 10).allocated.decisions.deferred == {}


def test_an_engine_without_a_queue_waits_where_its_kernels_expect_it() -> None:
    """In the function of the call; a decision may have it otherwise."""
    assert branches(queue=1).allocated.decisions.deferred == {}
    order = ("job", "one", "two", "both")
    decided = branches(Decisions(order=order, deferred={"job": "two"}), queue=1).allocated
    assert decided.tiled.scheduled.deferred == {"job": "two"}
