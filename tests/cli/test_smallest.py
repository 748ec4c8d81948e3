"""What a check says of the plan in the least memory."""

from __future__ import annotations

from pathlib import Path

from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.plan.planner import ram_bytes
from tilewright.report.smallest import less_memory

DIGITS = Path(__file__).parents[2] / "examples" / "digits" / "digits_int8.onnx"


def test_both_plans_are_told_where_rows_take_much_less() -> None:
    deployment = Deployment(DIGITS, "generic")
    (line,) = less_memory(deployment)
    assert f"{ram_bytes(deployment.smallest):,} B" in line and "--optimize ram" in line
    assert ram_bytes(deployment.smallest) < ram_bytes(deployment.allocated)


def test_what_is_told_is_what_the_flag_gives() -> None:
    asked = Deployment(DIGITS, "generic", Options(optimize="ram"))
    assert ram_bytes(asked.allocated) == ram_bytes(Deployment(DIGITS, "generic").smallest)


def test_nothing_is_said_where_rows_are_asked_for_or_no_machine_of_one_memory_is_there() -> None:
    assert list(less_memory(Deployment(DIGITS, "generic", Options(optimize="ram")))) == []
    assert list(less_memory(Deployment(DIGITS, "siracusa"))) == []
