"""Time is cycles on a clock, and the front says what less memory costs; both say that they are estimates."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from tilewright.ir.machines.platform import Engine
from tilewright.ir.plans.decisions import Decisions
from tilewright.plan.line_buffers.front import FrontPoint
from tilewright.report.cycles import (
    cost_text,
    ends_hint,
    front_command,
    front_of,
    front_table,
    less_memory,
    milliseconds,
    no_front,
    step_time,
    time_text,
)
from tilewright.report.plain_text import plain
from tilewright.report.report_json import _front

REPORT = {"time": {"clock_hz": 80_000_000, "milliseconds": 12.5, "kind": "estimate"}}
STEP = {"cycles": {"total": 80_000.0}}


def test_cycles_on_a_clock() -> None:
    assert milliseconds(80_000, 80_000_000) == 1.0
    assert milliseconds(1, 3_000_000_000) == 0.0


def test_it_is_said_with_its_clock_and_its_kind() -> None:
    assert time_text(REPORT) == "12.5 ms an inference at 80 MHz (estimate)"
    assert step_time(STEP, REPORT) == "1.000"


def test_cycles_are_said_with_and_without_a_clock() -> None:
    cycles = {"cycles": {"total": 1_000_000, "kind": "estimate"}}
    assert cost_text(cycles) == "1,000,000 cycles an inference (estimate)"
    assert cost_text({**cycles, **REPORT}) == "1,000,000 cycles, 12.5 ms an inference at 80 MHz (estimate)"
    assert cost_text({}) == ""


def test_nothing_is_said_without_a_clock() -> None:
    assert time_text({}) == step_time(STEP, {}) == ""


PLAN = FrontPoint(ram_bytes=50_064, cycle_ratio=0.0, chosen=True)
LIMITED = FrontPoint(ram_bytes=27_456, cycle_ratio=0.021, flags="--memory ram=27456")
BALANCED = FrontPoint(ram_bytes=19_380, cycle_ratio=0.073, flags="--optimize balanced")
LEAST = FrontPoint(ram_bytes=17_400, cycle_ratio=0.2, flags="--optimize ram")
FRONT = (PLAN, LIMITED, BALANCED, LEAST)


def test_a_check_says_what_less_memory_costs_and_what_to_type() -> None:
    assert list(less_memory(FRONT, "tilewright check net.onnx --target t")) == [
        "fits in 50,064 B at +0.0 %; row by row in 19,380 B at +7.3 %, 17,400 B at +20.0 % "
        "(cycles over layer by layer, estimates):",
        "  tilewright check net.onnx --target t --optimize balanced",
        "  tilewright check net.onnx --target t --optimize ram",
    ]


def test_nothing_is_said_where_little_is_gained() -> None:
    close = FrontPoint(ram_bytes=46_000, cycle_ratio=0.1, flags="--optimize ram")
    assert list(less_memory((PLAN, close), "net.onnx")) == []
    assert list(less_memory((PLAN,), "net.onnx")) == []
    assert list(less_memory((), "net.onnx")) == []


def test_a_table_has_every_point() -> None:
    report = {"front": front_of(FRONT)}
    assert plain(front_table(report)).split("\n") == [
        "memory against cycles over layer by layer (estimates)",
        "       RAM   cycles  with",
        "  50,064 B   +0.0 %  this plan",
        "  27,456 B   +2.1 %  --memory ram=27456",
        "  19,380 B   +7.3 %  --optimize balanced",
        "  17,400 B  +20.0 %  --optimize ram",
    ]


def test_one_point_is_no_table() -> None:
    assert front_table({"front": front_of((PLAN,))}) == ()
    assert "this plan alone" in no_front({"front": front_of((PLAN,))})


def test_where_nothing_can_be_chosen_the_reason_is_said() -> None:
    said = no_front({"front": [], "target": {"name": "siracusa"}})
    assert "on target 'siracusa' cores share steps" in said and "tilewright sweep" in said


def test_what_another_line_beats_in_all_that_is_printed_is_no_line() -> None:
    same = replace(LEAST, cycle_ratio=LEAST.cycle_ratio - 0.0001, ram_bytes=LEAST.ram_bytes + 8, flags="--memory ram=1")
    asking = replace(same, asks="your application hands over rows of x")
    better = replace(LEAST, ram_bytes=LEAST.ram_bytes - 8, asks="your application hands over rows of x")

    def lines(*points: FrontPoint) -> int:
        return len(plain(front_table({"front": front_of((PLAN, *points))})).split("\n")) - 2

    assert lines(LEAST) == 2 and lines(LEAST, same) == 2 and lines(LEAST, asking) == 2
    assert lines(LEAST, better) == 3  # it asks for more


def test_a_report_without_it_names_the_command_that_shows_it() -> None:
    asked: dict[str, Any] = {"target": {"name": "generic"}}
    assert plain(front_table(asked)) == "memory against cycles: tilewright check MODEL --target generic --front"
    assert front_command({**asked, "front": []}) == ""


def deployment(near: str, points: tuple[FrontPoint, ...] | None) -> Any:
    """As much of one as is looked at. `points` None: its front must not be asked for."""
    platform = SimpleNamespace(inner=near, engines=(Engine(name="cpu"),))
    known = {} if points is None else {"front": points}
    pins = Decisions()
    return SimpleNamespace(platform=platform, planning=SimpleNamespace(planner=SimpleNamespace(pins=pins)), **known)


def test_it_is_looked_for_only_where_it_is_asked_for() -> None:
    assert _front(deployment("", None), wanted=False, further=False) == {}
    assert _front(deployment("", FRONT), wanted=True, further=False) == {"front": front_of(FRONT)}


def test_where_nothing_can_be_chosen_every_report_says_so() -> None:
    assert _front(deployment("l1", ()), wanted=False, further=False) == {"front": []}


def test_a_check_says_where_to_look_when_inputs_are_most_of_it() -> None:
    def report(input_bytes: int) -> dict[str, Any]:
        buffers = [{"kind": "input", "size_bytes": input_bytes}, {"kind": "output", "size_bytes": 10}]
        return {"front": front_of((PLAN,)), "pools": [{"kind": "ram", "used_bytes": 10_000}], "buffers": buffers}

    assert list(ends_hint(report(6000), "tilewright check net.onnx"))[-1] == "  tilewright check net.onnx --front"
    assert not list(ends_hint(report(4000), "tilewright check net.onnx"))
    assert not list(ends_hint({**report(6000), "front": []}, "tilewright check net.onnx"))


def test_a_point_says_what_it_asks() -> None:
    point = replace(LEAST, flags="--io x=push", asks="your application hands over rows of x")
    assert plain(front_table({"front": front_of((PLAN, point))})).endswith("rows of x")
