"""State: what it begins with, and how the next run finds it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from tilewright.ir.plans.stages import Allocated, Placement
from tilewright.ir.programs.statements import Barrier, Comment, CopyStart, If
from tilewright.lower.operands.addresses import AddressBook, address_book, members_of
from tilewright.lower.regions.persistent import state_initialisers, state_updates


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
