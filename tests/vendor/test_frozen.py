"""Packages of vendors as they were built for the first release: what they were promised holds with this core."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from networks import network_file, vectors_file

FROZEN = sorted((Path(__file__).parent / "frozen").glob("*.whl"))
TARGETS = {"acme_one": ("acme-one", "host"), "acme_tile": ("acme-tile", "twin")}


@pytest.fixture(scope="module", name="site", params=FROZEN, ids=lambda wheel: wheel.name.split("-")[0])
def _site(request: pytest.FixtureRequest, install_wheels: Callable[..., Any]) -> tuple[str, Any]:
    wheel: Path = request.param
    return wheel.name.split("-")[0], install_wheels(wheel)


def test_there_is_a_wheel_for_every_vendor() -> None:
    assert {wheel.name.split("-")[0] for wheel in FROZEN} == TARGETS.keys()


def test_it_is_well(site: tuple[str, Any]) -> None:
    module, installed = site
    reports = json.loads(installed.tilewright("plugins", "doctor", "--json", "-").stdout)
    (mine,) = (report for report in reports if report["package"].replace("-", "_") == module)
    assert (mine["status"], mine["version"]) == ("ok", "0.1.0")


def test_a_network_is_compiled_and_computes_what_it_should(site: tuple[str, Any]) -> None:
    module, installed = site
    target, runner = TARGETS[module]
    model, vectors = str(network_file("kws_int8")), str(vectors_file("kws_int8"))
    asked = ("--target", target, "--on", runner, "--io", vectors)
    finished = installed.tilewright("validate", model, *asked, "--json", "-")
    assert finished.returncode == 0, finished.stderr
    assert json.loads(finished.stdout)["status"] == "pass"
