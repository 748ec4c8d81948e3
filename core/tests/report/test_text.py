"""The tables of a terminal."""

from __future__ import annotations

from typing import Any

import pytest

from tilewright.report.drawing.panels import panels_of_report
from tilewright.report.text import _all_ram, layer_table, nodes_of, shown_names, summary


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
    assert [row.split()[7:10] for row in rows[1:]] == [
        ["2", "10", "20.0"],
        ["-", "-", "-"],
        ["-", "-", "-"],
        ["2", "10", "20.0"],
        ["2", "10", "20.0"],
    ]
    assert said == "run as one, tile by tile (figures with the last): steps 1, 2 and 3"


def test_on_one_memory_steps_run_as_one_row_by_row() -> None:
    steps = [{**_step(number, "b"), "hops": []} for number in range(2)]
    assert layer_table({"steps": steps}).splitlines()[-1].startswith("run as one, row by row (figures with the last)")


def test_work_is_a_number_and_a_part_of_all_of_it() -> None:
    steps = [{**_step(number, f"g{number}"), "macs": macs, "hops": []} for number, macs in enumerate((1000, 3000))]
    head, first, second = layer_table({"steps": steps}).splitlines()
    assert head.split()[3:6] == ["MACs", "of", "all"]
    assert first.split()[3:] == ["1,000", "25.0", "%", "8", "10", "50.0", "%", "n0"]
    assert second.split()[3:6] == ["3,000", "75.0", "%"]


def test_time_is_a_column_where_a_clock_is_known() -> None:
    time = {"clock_hz": 1_000_000, "milliseconds": 0.02, "kind": "estimate"}
    head, first, inner, *_ = layer_table(
        {"steps": [_step(0, "a"), _step(1, "b"), _step(2, "b")], "time": time}
    ).splitlines()
    assert head.split()[-4:] == ["est.", "ms", "ONNX", "nodes"]
    assert (first.split()[11], inner.split()[10]) == ("0.010", "-")


def test_without_groups_there_is_no_such_line() -> None:
    assert "run as one" not in layer_table({"steps": [_step(0, "a"), _step(1, "b")]})


def _report(
    used: int, bound: int, order_bound: int | None, *, optimal: bool = True, away: int = 0, limit: int | None = None
) -> dict[str, Any]:
    pool = {"name": "ram", "kind": "ram", "used_bytes": used, "limit_bytes": limit}
    return {
        "model": {"name": "m"},
        "target": {"name": "t"},
        "steps": [],
        "macs": 0,
        "constants_bytes": 0,
        "pools": [{**pool, "lower_bound_bytes": bound, "optimal": optimal}],
        "levels": [{"name": "ram", "planned_bytes": used + 8}],  # beside an array that lasts
        "order": {"used_bytes": used, "lower_bound_bytes": order_bound, "optimal": used == order_bound},
        "spilled": {"used_bytes": away, "lower_bound_bytes": 1},
        "spilled_constants": {"used_bytes": 6 * (away > 0), "lower_bound_bytes": 6},
    }


def test_optimal_says_over_which_orders_and_what_is_known_of_the_others() -> None:
    assert "lower bound 64: optimal over all orders of these steps)" in summary(_report(64, 64, 64))
    unknown = summary(_report(64, 64, None))
    assert "lower bound 64: optimal for this order)" in unknown and "other orders" not in unknown
    told = summary(_report(64, 64, 48))
    assert "optimal for this order" in told
    assert "none needs under 48 B in all, here it is 64 B" in told


def test_what_is_free_is_left_by_all_arrays_of_a_memory() -> None:
    assert "64 B  100 B  28 B" in summary(_report(64, 64, 64, limit=100))


def test_several_pools_say_what_is_proved_of_the_partition_and_of_what_is_spilled() -> None:
    told = summary(_report(64, 10, None, away=7))
    assert "lower bound 10; the partition among pools is optimal for this order" in told
    assert "not in their first pool: 7 B of buffers; at least 1 B" in told
    assert "not in their first pool: 6 B of constants; no plan has less\n" in told + "\n"
    assert "1 B of buffers; no plan has less for this order" in summary(_report(64, 10, None, away=1))
    assert "gap 540.0 %" in summary(_report(64, 10, None, optimal=False))


LAYERS = [f"model/activation_{k}/Relu;model/bn_{k}/Fused;model/conv/Conv2D" for k in range(3)]


def report_of_layers() -> dict[str, Any]:
    steps = [
        {"id": k, "name": f"{name}_prequant", "op": "QConv", "onnx_nodes": [f"{name}_prequant", "d"], "outputs": []}
        for k, name in enumerate(LAYERS)
    ]
    buffers = [
        {"name": name, "kind": "activation", "pool": "ram", "offset_bytes": 8 * k, "size_bytes": 8, "first_step": k,
         "last_step": k, "values": [name]}
        for k, name in enumerate(LAYERS)
    ]  # fmt: skip
    pool = {"name": "ram", "kind": "ram", "used_bytes": 24, "limit_bytes": None, "lower_bound_bytes": 8}
    return {"steps": steps, "buffers": buffers, "pools": [{**pool, "optimal": False}]}


def test_layers_are_told_apart() -> None:
    shorts = shown_names(report_of_layers())
    assert [nodes_of(step, shorts) for step in report_of_layers()["steps"]] == [
        f"activation_{k}_prequant (+1)" for k in range(3)
    ]


def test_boxes_have_short_labels_and_whole_names() -> None:
    (panel,) = panels_of_report(report_of_layers())
    assert [(box.short, box.name) for box in panel.boxes] == [
        (f"activation_{k}", name) for k, name in enumerate(LAYERS)
    ]


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        (None, "(estimate)"),
        (1100, "(estimate)"),
        (900, "(estimate)"),  # soft
        (
            1024,
            "36 B more than the limits: where the machine has no more, pools have 984 B",
        ),
    ],
)
def test_the_stack_needs_room_beside_the_pools(limit: int | None, said: str) -> None:
    pools = [{"kind": "ram", "name": "ram", "limit_bytes": limit}, {"kind": "const", "name": "flash", "limit_bytes": 1}]
    ram = {"total_bytes": 1060, "pools_bytes": 1000, "stack_bytes": 60, "kind": "estimate"}
    (line,) = _all_ram({"ram": ram, "pools": pools})
    assert line.endswith(said)
