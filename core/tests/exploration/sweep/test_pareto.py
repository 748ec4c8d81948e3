"""The points that nothing beats."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core.tests.exploration.sweep.points_kit import refused, row
from tilewright.exploration.sweep.pareto import MEASURES, front


def test_each_of_the_front_is_better_somewhere() -> None:
    rows = [row(ram=10, cycles=5), row(ram=5, cycles=10), row(ram=10, cycles=6), refused(), row(ram=5, cycles=10)]
    assert front(rows) == (0, 1)


def test_networks_and_machines_are_not_compared() -> None:
    rows = [row(), row(ram=2, model="other.onnx"), row(ram=2, target="other"), row(ram=2, values={"board": "b"})]
    assert front(rows) == (0, 1, 2, 3)


def test_drift_counts() -> None:
    assert front([row(cycles=1, drift=1.0), row(cycles=2)]) == (0, 1)


@given(st.lists(st.tuples(*[st.integers(0, 4)] * 3), max_size=24))
def test_it_is_what_comparing_all_of_them_gives(points: list[tuple[int, int, int]]) -> None:
    rows = [row(*point) for point in points]
    best = set(front(rows))
    keys = [tuple(one[measure] for measure in MEASURES) for one in rows]

    def beaten(number: int) -> bool:
        mine = keys[number]
        others = (key for other, key in enumerate(keys) if key != mine or other < number)
        return any(all(a <= b for a, b in zip(other, mine, strict=True)) for other in others)

    assert best == {number for number in range(len(rows)) if not beaten(number)}
