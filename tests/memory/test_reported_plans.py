"""What a report says of a plan: who found it, whether it is proved, how far from its bound it is, what it exceeds."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import jsonschema
import pytest

from tilewright.allocate.best_fit import BestFit
from tilewright.config.memory_pools import parse_pool
from tilewright.config.memory_rules import CopyRule
from tilewright.errors import TilewrightError
from tilewright.ir.plans.allocation import Budget, Place, Problem, Solution
from tilewright.ir.rounding import align_up
from tilewright.report.compare import differences
from tilewright.report.drawing.html import report_page
from tilewright.report.report_json import build_report
from tilewright.report.text import summary


def reported(deployment: Any) -> dict[str, Any]:
    report = build_report(deployment, artifacts=False)
    schema = json.loads((files("tilewright.report") / "report-2.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(report)
    return report


def test_the_default_allocator_proves_its_plan_and_says_so(bench: Any) -> None:
    report = reported(bench.deployment())
    assert report["allocation"]["allocator"] == "auto"
    assert report["allocation"]["found_by"] in ("best-fit", "minimalloc")
    assert report["allocation"]["status"] == "optimal"
    ram = report["pools"][0]
    assert (ram["optimal"], ram["gap_bytes"]) == (True, 0)
    assert "lower bound 640: optimal" in summary(report)


class Loose:
    """Places everything one above the other, but for what is fixed, and proves nothing."""

    name = "loose"
    summary = ""

    def solve(self, problem: Problem, budget: Budget) -> Solution:
        fixed = {block.name: block.fixed_offset for block in problem.blocks if block.fixed_offset is not None}
        top = max(
            (at + block.size_bytes for block in problem.blocks if (at := block.fixed_offset) is not None), default=0
        )
        places = {}
        for block in problem.blocks:
            at = fixed.get(block.name, align_up(top, block.align))
            places[block.name] = Place(pool=block.pools[0], offset_bytes=at)
            top = max(top, at + block.size_bytes)
        return Solution(status="feasible", places=places)


def test_a_plan_that_is_not_proved_has_its_gap(bench: Any) -> None:
    from dataclasses import replace

    deployment = bench.deployment(allocator="loose")
    registry = replace(bench.deployment().registry, allocators={"loose": Loose(), "best-fit": BestFit()})
    deployment._registry = registry
    report = reported(deployment)
    ram = report["pools"][0]
    assert report["allocation"]["status"] == "feasible"
    assert ram["gap_bytes"] == ram["used_bytes"] - ram["lower_bound_bytes"] > 0
    assert "gap" in summary(report)


def test_a_soft_limit_that_is_exceeded_is_in_report_page_and_warnings(bench: Any) -> None:
    deployment = bench.deployment(pools=(parse_pool("dtcm:300,soft"), parse_pool("sram:200")))
    report = reported(deployment)
    pool = report["pools"][0]
    assert (pool["soft"], pool["limit_bytes"]) == (True, 300)
    assert pool["exceeded_bytes"] == pool["used_bytes"] - 300 > 0
    assert [one["code"] for one in report["diagnostics"]] == ["TW5031"]
    assert "300 B soft" in summary(report)
    assert "does not fit" not in report_page(report)
    bench.demand_exact(deployment, 1)
    hard = bench.deployment(pools=(parse_pool("dtcm:160"), parse_pool("sram:140")))
    with pytest.raises(TilewrightError, match="TW5001"):
        _ = hard.allocated


def test_inside_its_limit_a_soft_pool_says_nothing(bench: Any) -> None:
    report = reported(bench.deployment(pools=(parse_pool("dtcm:1K,soft"),)))
    assert report["pools"][0]["exceeded_bytes"] == 0
    assert report["diagnostics"] == []


def test_what_lasts_has_its_own_line(bench: Any) -> None:
    pools = (parse_pool("dtcm:2K"), parse_pool("sram"))
    report = reported(bench.deployment(pools=pools, constant_copies=(CopyRule(pattern="conv2", memory="dtcm"),)))
    kinds = [(pool["name"], pool["kind"]) for pool in report["pools"]]
    assert ("dtcm", "resident") in kinds
    assert "copies of constants" in summary(report)
    level = next(one for one in report["levels"] if one["name"] == "dtcm")
    assert level["planned_bytes"] <= 2048
    page = report_page(report)
    assert "dtcm (copies of constants)" in page


def test_reports_are_compared_by_pool_and_what_lasts_in_it(bench: Any) -> None:
    pools = (parse_pool("dtcm:2K"), parse_pool("sram"))
    plain = reported(bench.deployment(pools=pools))
    staged = reported(bench.deployment(pools=pools, constant_copies=(CopyRule(pattern="conv2", memory="dtcm"),)))
    found = {one.name: one for one in differences(plain, staged)}
    assert found["pool.dtcm.resident"].growth == 1280
    assert found["ram"].growth >= 1280 + found["pool.dtcm"].growth
