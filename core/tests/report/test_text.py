"""The tables of a terminal."""

from __future__ import annotations

from typing import Any

from tilewright.report.text import layer_table


def _step(number: int, group: str) -> dict[str, Any]:
    return {
        "id": number,
        "name": f"n{number}",
        "op": "Relu",
        "kernel": "k",
        "macs": 0,
        "peak_bytes": 8,
        "tiles": 2,
        "cycles": {"total": 10.0},
        "hops": [{}],
        "group": group,
        "onnx_nodes": [],
    }


def test_steps_of_a_group_have_their_figures_with_the_last_and_a_line_says_so() -> None:
    table = layer_table({"steps": [_step(0, "a"), _step(1, "b"), _step(2, "b"), _step(3, "b"), _step(4, "c")]})
    *rows, said = table.splitlines()
    assert [row.split()[5:8] for row in rows[1:]] == [
        ["2", "10", "20.0"],
        ["-", "-", "-"],
        ["-", "-", "-"],
        ["2", "10", "20.0"],
        ["2", "10", "20.0"],
    ]
    assert said == "run as one, tile by tile (figures with the last): steps 1, 2 and 3"


def test_without_groups_there_is_no_such_line() -> None:
    assert "run as one" not in layer_table({"steps": [_step(0, "a"), _step(1, "b")]})
