"""An accelerator that somebody else ships: two levels of memory and a copy engine of its own, in under 100 lines of
Python and without a kernel; every network is tiled, and computes what it should.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from networks import NETWORKS, network_file, vectors_file

SLOW = ("resnet8_int8", "vww_int8")  # of the same layers as others
ALL = [pytest.param(name, marks=pytest.mark.long if name in SLOW else ()) for name in NETWORKS]
PROJECT = Path(__file__).parent / "acme_tile"


@pytest.fixture(scope="module", name="site")
def _site(build_site: Any) -> Any:
    return build_site(PROJECT)


def test_it_is_under_100_lines() -> None:
    assert len((PROJECT / "acme_tile.py").read_text(encoding="utf-8").splitlines()) < 100


@pytest.mark.slow
@pytest.mark.parametrize("network", ALL)
def test_every_network_is_tiled_and_computes_what_it_should(site: Any, network: str) -> None:
    model, vectors = str(network_file(network)), str(vectors_file(network))
    asked = ("--target", "acme-tile", "--memory", "pad=20K", "--on", "twin", "--io", vectors)
    finished = site.tilewright("validate", model, *asked, "--json", "-")
    assert finished.returncode == 0, finished.stderr
    verdict = json.loads(finished.stdout)
    assert verdict["status"] == "pass"
    assert verdict["steps"]
    assert [step["name"] for step in verdict["steps"] if not step["exact"]] == []


@pytest.mark.slow
def test_the_plan_keeps_to_the_machine(site: Any, tmp_path: Path) -> None:
    model = str(network_file("kws_int8"))
    finished = site.tilewright("compile", model, "--target", "acme-tile", "-o", str(tmp_path / "out"), "--json", "-")
    assert finished.returncode == 0, finished.stderr
    report = json.loads(finished.stdout)
    levels = {level["name"]: level for level in report["levels"]}
    assert 0 < levels["pad"]["used_bytes"] <= levels["pad"]["limit_bytes"] == 32 << 10
    assert sum(step["tiles"] for step in report["steps"]) > len(report["steps"])
    assert sum(step["copies"]["in_bytes"] for step in report["steps"]) > 0
