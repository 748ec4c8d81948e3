"""The cycles of a plan are those of its report."""

from __future__ import annotations

from core.tests.exploration.chain import model
from row_networks import ONE_MEMORY
from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.report.plan_figures import plan_cycles
from tilewright.report.report_json import build_report
from tilewright.testing.cluster import registry_for


def test_they_are_those_of_the_report() -> None:
    deployment = Deployment(model(), "plain", Options(), registry_for(ONE_MEMORY))
    cycles = plan_cycles(deployment.allocated, deployment.registry.operators)
    assert cycles == build_report(deployment, artifacts=False)["cycles"]["total"] > 0
