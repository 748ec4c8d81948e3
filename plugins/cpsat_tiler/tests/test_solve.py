"""The joint problem against trying everything: every choice, every place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright_cpsat.problem import Joint, JointChoice, Rectangle, Stay, StepOption, rectangles
from tilewright_cpsat.solve import Answer, SolverWork, solve

MEMORY = "near"


@st.composite
def joints(draw: st.DrawFn) -> Joint:
    """Two to four steps, up to three values, options for every place of the values that a step touches."""
    count = draw(st.integers(2, 4))
    stays = []
    for number in range(draw(st.integers(0, 3))):
        first = draw(st.integers(0, count - 1))
        last = draw(st.integers(first, count - 1))
        pinned = MEMORY if draw(st.integers(0, 5)) == 0 else ""
        size = draw(st.integers(1, 4))
        stays.append(Stay(name=f"v{number}", first=first, last=last, sizes={MEMORY: size}, pinned=pinned))
    movable = [
        [stay.name for stay in stays if not stay.pinned and step in (stay.first, stay.last)] for step in range(count)
    ]
    options = tuple(tuple(_options(draw, names)) for names in movable)
    return Joint(
        options=options,
        stays=tuple(stays),
        capacities={MEMORY: draw(st.integers(2, 9))},
        grains={MEMORY: 1},
        touched=tuple(map(frozenset, movable)),
        longest=draw(st.sampled_from([None, None, 2, 3])),
    )


def _options(draw: st.DrawFn, names: Sequence[str]) -> Iterator[StepOption]:
    for where in product(("", MEMORY), repeat=len(names)):
        inside = tuple((name, memory) for name, memory in zip(names, where, strict=True) if memory)
        for _ in range(draw(st.integers(1, 2))):
            sizes = tuple(draw(st.lists(st.integers(1, 4), max_size=3)))
            yield StepOption(
                cycles=draw(st.integers(1, 9)),
                moved_bytes=draw(st.integers(0, 3)),
                stays=inside,
                sizes={MEMORY: sizes},
            )


def every_choice(joint: Joint) -> Iterator[JointChoice]:
    free = [stay.name for stay in joint.stays if not stay.pinned]
    pinned = {stay.name: stay.pinned for stay in joint.stays if stay.pinned}
    for where in product(("", MEMORY), repeat=len(free)):
        stays = {name: memory for name, memory in zip(free, where, strict=True) if memory}
        if joint.longest is not None and longest_chain(joint, stays) > joint.longest:
            continue
        menus = [
            [
                number
                for number, option in enumerate(options)
                if dict(option.stays) == {name: stays[name] for name in touched if name in stays}
            ]
            for options, touched in zip(joint.options, joint.touched, strict=True)
        ]
        for chosen in product(*menus):
            yield JointChoice(options=chosen, stays={**stays, **pinned})


def longest_chain(joint: Joint, stays: Mapping[str, str]) -> int:
    longest = here = 1
    for step in range(1, len(joint.options)):
        joined = any(stay.name in stays and stay.first < step <= stay.last for stay in joint.stays)
        here = here + 1 if joined else 1
        longest = max(longest, here)
    return longest


def can_be_placed(boxes: Sequence[Rectangle], capacity: int, done: tuple[tuple[Rectangle, int], ...] = ()) -> bool:
    if not boxes:
        return True
    box, *rest = boxes
    for offset in range(capacity - box.size_bytes + 1):
        clear = all(
            box.last < other.first
            or other.last < box.first
            or offset + box.size_bytes <= place
            or place + other.size_bytes <= offset
            for other, place in done
        )
        if clear and can_be_placed(rest, capacity, (*done, (box, offset))):
            return True
    return False


def best_of_all(joint: Joint) -> tuple[int, int] | None:
    costs = sorted(
        (choice.cycles(joint), choice.moved_bytes(joint), at) for at, choice in enumerate(every_choice(joint))
    )
    choices = list(every_choice(joint))
    for cycles, moved, at in costs:
        boxes = sorted(rectangles(joint, choices[at]), key=lambda box: box.first - box.last)
        if can_be_placed(boxes, joint.capacities[MEMORY]):
            return cycles, moved
    return None


def demand_sound(joint: Joint, answer: Answer) -> None:
    boxes = [box for box in rectangles(joint, answer.choice) if (MEMORY, box.buffer) in answer.offsets]
    shared = {stay.first for stay in joint.stays} and boxes
    for at, box in enumerate(boxes):
        offset = answer.offsets[MEMORY, box.buffer]
        assert offset >= 0 and offset + box.size_bytes <= joint.capacities[MEMORY]
        for other in boxes[:at]:
            place = answer.offsets[MEMORY, other.buffer]
            apart = box.last < other.first or other.last < box.first
            assert apart or offset + box.size_bytes <= place or place + other.size_bytes <= offset
    placed = {box.buffer for box in boxes}
    for name in answer.choice.stays:
        assert not shared or name in placed


@settings(max_examples=150, deadline=None)
@given(joints())
def test_as_good_as_trying_everything(joint: Joint) -> None:
    best, answer = best_of_all(joint), solve(joint)
    if best is None:
        assert answer is None
        return
    assert answer is not None
    assert (answer.choice.cycles(joint), answer.choice.moved_bytes(joint)) == best
    assert answer.gap(joint) == 0
    demand_sound(joint, answer)


@settings(max_examples=40, deadline=None)
@given(joints())
def test_a_known_choice_changes_nothing_and_twice_is_the_same(joint: Joint) -> None:
    first, again = solve(joint), solve(joint)
    assert first == again
    if first is not None:
        hinted = solve(joint, first.choice)
        assert hinted is not None
        assert hinted.choice.cycles(joint) == first.choice.cycles(joint)


def fragmented() -> Joint:
    """At every step the bytes of all the fast tilings would do, but there are no places for them."""
    lives = {"a": (0, 3, 1), "b": (2, 4, 2), "c": (3, 5, 1)}
    stays = tuple(
        Stay(name=name, first=first, last=last, sizes={MEMORY: size}) for name, (first, last, size) in lives.items()
    )
    fast = ((), (3,), (2,), (), (2,), (4,))
    movable = [[name for name, (first, last, _) in lives.items() if step in (first, last)] for step in range(6)]

    def options(step: int) -> Iterator[StepOption]:
        for where in product(("", MEMORY), repeat=len(movable[step])):
            inside = tuple((name, memory) for name, memory in zip(movable[step], where, strict=True) if memory)
            missing = len(movable[step]) - len(inside)
            yield StepOption(cycles=1 + 10 * missing, moved_bytes=0, stays=inside, sizes={MEMORY: fast[step]})
            yield StepOption(cycles=4 + 10 * missing, moved_bytes=0, stays=inside, sizes={MEMORY: (1,)})

    return Joint(
        options=tuple(tuple(options(step)) for step in range(6)),
        stays=stays,
        capacities={MEMORY: 5},
        grains={MEMORY: 1},
        touched=tuple(map(frozenset, movable)),
    )


def test_places_are_part_of_the_problem() -> None:
    joint = fragmented()
    best = best_of_all(joint)
    answer = solve(joint)
    assert answer is not None and best is not None
    assert (answer.choice.cycles(joint), answer.choice.moved_bytes(joint)) == best
    assert answer.choice.cycles(joint) > 6, "what the relaxation finds"
    assert set(answer.choice.stays) == set("abc")
    demand_sound(joint, answer)


def test_no_work_gives_the_known_choice_and_says_that_nothing_is_proved() -> None:
    joint = fragmented()
    known = JointChoice(options=(0,) * 6, stays={})
    answer = solve(joint, known, SolverWork(choose=0.0, place=1.0, both=0.0))
    assert answer is not None
    assert answer.choice == known
    assert answer.gap(joint) > 0
