"""A target that somebody else ships: a few lines, its own wheel, no kernel, and every network runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from networks import NETWORKS, network_file, vectors_file

SLOW = ("resnet8_int8", "vww_int8")  # of the same layers as others
ALL = [pytest.param(name, marks=pytest.mark.long if name in SLOW else ()) for name in NETWORKS]
PROJECT = Path(__file__).parent / "acme_one"


@pytest.fixture(scope="module", name="site")
def _site(build_site: Any) -> Any:
    return build_site(PROJECT)


def test_it_is_under_60_lines() -> None:
    files = [path for path in PROJECT.iterdir() if path.suffix in (".py", ".toml")]
    assert sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files) < 60


def test_it_is_installed_and_well(site: Any) -> None:
    names, doctor = site.probe("names:platform", "doctor")
    assert "acme-one" in names["answer"]
    (report,) = (report for report in doctor["answer"] if report["package"] == "acme-one")
    assert (report["status"], report["offers"]) == ("ok", ["target acme-one"])


@pytest.mark.slow
@pytest.mark.parametrize("network", NETWORKS)
def test_it_compiles_every_network(site: Any, tmp_path: Path, network: str) -> None:
    model = str(network_file(network))
    finished = site.tilewright("compile", model, "--target", "acme-one", "-o", str(tmp_path / "out"), "--json", "-")
    assert finished.returncode == 0, finished.stderr
    report = json.loads(finished.stdout)
    pools = {pool["name"]: pool for pool in report["pools"]}
    assert set(pools) == {"tcm", "flash"}
    assert (pools["tcm"]["kind"], pools["tcm"]["limit_bytes"]) == ("ram", 256 * 1024)
    assert 0 < pools["tcm"]["used_bytes"] <= 256 * 1024
    assert report["steps"]
    assert all(step["kernel"].startswith("portable.") for step in report["steps"])
    assert list((tmp_path / "out").glob("*.c"))


@pytest.mark.slow
@pytest.mark.parametrize("network", ALL)
def test_every_network_computes_what_it_should(site: Any, network: str) -> None:
    model, vectors = str(network_file(network)), str(vectors_file(network))
    finished = site.tilewright(
        "validate", model, "--target", "acme-one", "--on", "host", "--io", vectors, "--json", "-"
    )  # fmt: skip
    assert finished.returncode == 0, finished.stderr
    verdict = json.loads(finished.stdout)
    assert verdict["status"] == "pass"
    assert verdict["steps"]
    assert [step["name"] for step in verdict["steps"] if not step["exact"]] == []
