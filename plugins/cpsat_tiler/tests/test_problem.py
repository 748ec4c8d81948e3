"""The joint problem in numbers: costs of a choice, what is proved of it, and what needs a place."""

from __future__ import annotations

import pytest

from tilewright_cpsat.problem import Answer, Joint, JointChoice, Rectangle, Stay, StepOption, rectangles

FAST = StepOption(cycles=10, moved_bytes=3, sizes={"l1": (64, 0, 8), "l2": (5,)})
SLOW = StepOption(cycles=40, moved_bytes=1, stays=(("v", "l1"),), sizes={"l1": (16,)})
JOINT = Joint(
    options=((FAST, SLOW), (SLOW,)), stays=(Stay(name="v", first=0, last=1, sizes={"l1": 32, "l2": 30}),),
    capacities={"l1": 128}, grains={"l1": 8}, touched=(frozenset("v"), frozenset("v")),
)  # fmt: skip
CHOICE = JointChoice(options=(0, 0), stays={"v": "l1"})


def test_costs() -> None:
    assert (CHOICE.cycles(JOINT), CHOICE.moved_bytes(JOINT)) == (50, 4)
    assert (FAST.bytes_in("l1"), FAST.bytes_in("l2"), SLOW.bytes_in("l2")) == (72, 5, 0)


@pytest.mark.parametrize(("bound", "gap"), [(50, 0.0), (40, 0.2), (0, 1.0)])
def test_the_gap_to_what_is_proved(bound: int, gap: float) -> None:
    assert Answer(choice=CHOICE, offsets={}, bound_cycles=bound).gap(JOINT) == gap


def test_nothing_to_do_has_no_gap() -> None:
    empty = Joint(options=(), stays=(), capacities={}, grains={}, touched=())
    assert Answer(choice=JointChoice(options=(), stays={}), offsets={}, bound_cycles=0).gap(empty) == 0.0


def test_what_needs_a_place() -> None:
    """Only in memories with a limit, and nothing that is empty; buffers keep their numbers."""
    assert rectangles(JOINT, CHOICE) == (
        Rectangle(memory="l1", buffer="v", first=0, last=1, size_bytes=32),
        Rectangle(memory="l1", buffer=(0, 0), first=0, last=0, size_bytes=64),
        Rectangle(memory="l1", buffer=(0, 2), first=0, last=0, size_bytes=8),
        Rectangle(memory="l1", buffer=(1, 0), first=1, last=1, size_bytes=16),
    )


@pytest.mark.parametrize("stays", [{}, {"v": "l2"}])
def test_values_at_home_or_without_limit(stays: dict[str, str]) -> None:
    found = rectangles(JOINT, JointChoice(options=(1, 0), stays=stays))
    assert [each.buffer for each in found] == [(0, 0), (1, 0)]
