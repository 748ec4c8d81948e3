"""Figures of a plan without C: those of the report, or why there is no plan."""

from __future__ import annotations

import pytest

import tilewright
from core.tests.exploration.chain import model
from row_networks import ONE_MEMORY
from tilewright.errors import TilewrightError
from tilewright.exploration.estimate import estimate
from tilewright.testing.cluster import registry_for


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tilewright.deployment.load_for", lambda **_: registry_for(ONE_MEMORY))


@pytest.mark.slow
def test_figures_are_those_of_a_compilation() -> None:
    found = estimate(model(), ONE_MEMORY.name, clock="1MHz")
    data = tilewright.compile(model(), ONE_MEMORY.name, clock="1MHz").report.data
    assert found.fits and found.cycles == data["cycles"]["total"] and found.macs == data["macs"]
    assert found.used_bytes == {pool["name"]: pool["used_bytes"] for pool in data["pools"]}
    assert found.ram_bytes + found.flash_bytes == sum(found.used_bytes.values())
    assert found.milliseconds == data["time"]["milliseconds"]


@pytest.mark.slow
def test_no_plan_is_an_answer_and_no_model_is_none() -> None:
    none = estimate(model(), ONE_MEMORY.name, memory={"ram": "1K"})
    assert (none.fits, none.code, none.cycles) == (False, "TW5001", 0) and none.macs > 0
    with pytest.raises(TilewrightError, match="TW12"):
        estimate(b"no model", ONE_MEMORY.name)
