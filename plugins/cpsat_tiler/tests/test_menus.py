"""The numbers of a request: every option fits and is worth its bytes, another tiler's answer is one of them."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from tilewright.api.graph import DType
from tilewright.api.stages import Decisions
from tilewright.api.testing import Sketch, cluster, portable_kernels, vocabulary
from tilewright.api.tiler import TileChoices, TilingRequest
from tilewright.bind import bind
from tilewright.schedule import schedule
from tilewright.tile.strategies import TILERS
from tilewright_cpsat.menus import Menus
from tilewright_cpsat.problem import Answer

QUICK = next(tiler for tiler in TILERS if tiler.name == "cost")


@cache
def request(scratchpad_bytes: int = 3000, longest: int | None = None) -> TilingRequest:
    """x (16 x 64) times a matrix, a Tanh, times another."""
    sketch = Sketch(operators=vocabulary())
    first = sketch.node(
        "MatMul", [sketch.input("x", DType.F32, (16, 64)), sketch.constant(np.ones((64, 24), np.float32))], name="one"
    )
    last = sketch.node(
        "MatMul", [sketch.node("Tanh", [first], name="two"), sketch.constant(np.ones((24, 8), np.float32))]
    )
    bound = bind(sketch.finish(last), cluster(scratchpad_bytes), vocabulary(), portable_kernels(), Decisions())
    return TilingRequest(
        scheduled=schedule(bound, vocabulary(), Decisions()),
        operators=vocabulary(),
        decisions=Decisions(),
        longest=longest,
    )


def menus(quick: Any = (), **how: Any) -> Menus:
    return Menus(TileChoices(request(**how)), quick)


def test_every_option_fits_beside_what_stays() -> None:
    joint = menus().joint
    (memory,) = joint.capacities
    sizes = {stay.name: stay.sizes for stay in joint.stays}
    assert sizes and all(options for options in joint.options)
    for step, options in enumerate(joint.options):
        for option in options:
            kept = sum(sizes[name][where] for name, where in option.stays if where == memory)
            assert kept + option.bytes_in(memory) <= joint.capacities[memory]
            assert {name for name, _ in option.stays} <= joint.touched[step]


def test_an_option_that_takes_more_is_faster_than_those_that_take_less() -> None:
    joint = menus().joint
    (memory,) = joint.capacities
    for options in joint.options:
        for where in {option.stays for option in options}:
            same = sorted(
                (option for option in options if option.stays == where), key=lambda option: option.bytes_in(memory)
            )
            bytes_in = [option.bytes_in(memory) for option in same]
            assert len(bytes_in) == len(set(bytes_in))
            assert all(one.cycles >= other.cycles for one, other in pairwise(same))


def test_layer_by_layer_nothing_stays() -> None:
    assert menus(longest=1).joint.stays == ()
    assert menus().joint.stays != ()


def test_another_tilers_answer_is_a_solution_of_the_same_cost() -> None:
    quick = QUICK.plan(request(longest=1))
    made = menus(quick, longest=1)
    assert made.known is not None
    assert made.known.cycles(made.joint) == sum(int(np.ceil(group.cycles)) for group in quick)
    assert [made.items[step][number][1].group.region for step, number in enumerate(made.known.options)] == [
        group.region for group in quick
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("bound", "claim"), [(0, "optimal"), (-1, "within ")])
def test_an_answer_becomes_groups_with_their_places_and_what_is_proved(bound: int, claim: str) -> None:
    quick = QUICK.plan(request(longest=1))
    made = menus(quick, longest=1)
    assert made.known is not None
    (memory,) = made.joint.capacities
    cycles = made.known.cycles(made.joint)
    answer = Answer(choice=made.known, offsets={(memory, (0, 0)): 16}, bound_cycles=cycles + bound)
    groups = made.groups(answer)
    assert [group.region for group in groups] == [group.region for group in quick]
    assert all(group.claim.startswith(claim) for group in groups)
    assert list(groups[0].offsets.values()) == [16] and not groups[1].offsets
    settled = made.placed(quick, 0.1)
    assert settled is not None and [group.region for group in settled] == [group.region for group in quick]
