"""Every value has a lane of its own from the row that writes it to the last that reads it."""

from __future__ import annotations

import random
from typing import Any

from tilewright.report.drawing.lanes import lanes_of


def report(*steps: tuple[str, tuple[str, ...]]) -> dict[str, Any]:
    """Steps that write what they are called, and what each reads."""
    told = [{"id": n, "inputs": list(reads), "outputs": [{"name": name}]} for n, (name, reads) in enumerate(steps)]
    return {"steps": told, "model": {"inputs": [{"name": "x"}], "outputs": []}}


def test_a_chain_is_one_lane() -> None:
    lanes = lanes_of(report(("a", ("x",)), ("b", ("a",)), ("c", ("b",))))
    assert lanes is not None
    assert [(row.lane, row.writes) for row in lanes.rows] == [(0, ("x",)), (0, ("a",)), (0, ("b",)), (0, ("c",))]
    assert [(edge.first, edge.last) for edge in lanes.edges] == [(0, 1), (1, 2), (2, 3)]


def test_what_waits_keeps_its_lane() -> None:
    lanes = lanes_of(report(("a", ("x",)), ("b", ("a",)), ("c", ("a", "b", "b"))))
    assert lanes is not None
    assert [row.lane for row in lanes.rows] == [0, 0, 1, 0]
    assert lanes.count == 2
    assert [edge.value for edge in lanes.edges] == ["x", "a", "a", "b"]


def test_a_report_that_does_not_say_what_steps_read_has_no_network() -> None:
    assert lanes_of({"steps": [{"id": 0, "outputs": []}]}) is None
    assert lanes_of({"steps": []}) is None


def test_no_row_stands_in_the_way_of_a_value() -> None:
    chance = random.Random(5)
    for _ in range(50):
        names = ["x", *(f"v{number}" for number in range(30))]
        steps = [(name, tuple(chance.sample(names[:at], min(at, 2)))) for at, name in enumerate(names) if at]
        lanes = lanes_of(report(*steps))
        assert lanes is not None
        for edge in lanes.edges:
            between = lanes.rows[edge.first + 1 : edge.last]
            assert lanes.rows[edge.first].lane not in {row.lane for row in between}
