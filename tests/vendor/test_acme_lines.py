"""A copy engine that moves whole lines, from and to lines: padding behind what is none, and tiles that begin so."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from networks import NETWORKS, network_file, vectors_file
from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.ir.machines.platform import Platform
from tilewright.ir.programs.runner import Job
from tilewright.runners.twin import TwinRunner
from tilewright.testing.cluster import registry_for

SLOW = ("resnet8_int8", "vww_int8")  # of the same layers as others
ALL = [pytest.param(name, marks=pytest.mark.long if name in SLOW else ()) for name in NETWORKS]
PROJECT = Path(__file__).parent / "acme_lines"
LINE_BYTES = 64


@pytest.fixture(scope="module", name="site")
def _site(build_site: Any) -> Any:
    return build_site(PROJECT)


def test_it_is_under_100_lines() -> None:
    assert len((PROJECT / "acme_lines.py").read_text(encoding="utf-8").splitlines()) < 100


@pytest.mark.slow
@pytest.mark.parametrize("network", ALL)
def test_every_network_is_tiled_in_lines_and_computes_what_it_should(site: Any, network: str) -> None:
    model, vectors = str(network_file(network)), str(vectors_file(network))
    asked = ("--target", "acme-lines", "--memory", "pad=20K", "--on", "twin", "--io", vectors)
    finished = site.tilewright("validate", model, *asked, "--json", "-")
    assert finished.returncode == 0, finished.stderr
    verdict = json.loads(finished.stdout)
    assert verdict["status"] == "pass"
    assert [step["name"] for step in verdict["steps"] if not step["exact"]] == []


@pytest.mark.slow
def test_everything_that_is_copied_is_whole_lines(site: Any, tmp_path: Path) -> None:
    model = str(network_file("kws_int8"))
    finished = site.tilewright("compile", model, "--target", "acme-lines", "-o", str(tmp_path / "out"), "--json", "-")
    assert finished.returncode == 0, finished.stderr
    report = json.loads(finished.stdout)
    moved = [step["copies"][way] for step in report["steps"] for way in ("in_bytes", "out_bytes")]
    assert sum(moved) > 0
    assert [size for size in moved if size % LINE_BYTES] == []
    assert "tw_rt_copy_3d" in (tmp_path / "out" / "tw_rt.h").read_text(encoding="ascii")


@pytest.fixture(name="lines")
def _lines(monkeypatch: pytest.MonkeyPatch) -> Iterator[Platform]:
    monkeypatch.syspath_prepend(str(PROJECT))
    yield __import__("acme_lines").ACME_LINES


@pytest.mark.slow
def test_two_queues_are_faster_by_as_much_as_is_estimated(lines: Platform, tmp_path: Path) -> None:
    assert {path.queues for path in lines.copies} == {2}
    one_queue = replace(lines, copies=tuple(replace(path, queues=1) for path in lines.copies))
    clocks = []
    for platform in (one_queue, lines):
        options = Options(memory={"pad": 20 << 10})
        plan = Deployment(network_file("ad_int8"), platform.name, options, registry_for(platform))
        with np.load(vectors_file("ad_int8")) as archive:
            inputs = {name: archive[f"set0/in/{name}"] for name in plan.inputs}
        job = Job(artifact=plan.artifact, plan=plan.allocated, prefix=plan.prefix, input_sets=(inputs,), trace=False)
        result = TwinRunner(seeds=(2,)).run(job, tmp_path)
        clocks.append((sum(group.cycles for group in plan.tiled.groups), result.counts["cycles"]))
        assert clocks[-1][1] == pytest.approx(clocks[-1][0], rel=0.03)
    estimated, measured = (before - after for before, after in zip(*clocks, strict=True))
    assert measured > 0.02 * clocks[0][1]
    assert measured == pytest.approx(estimated, rel=0.2)


@pytest.mark.slow
def test_an_input_of_the_caller_s_that_ends_inside_a_line_is_refused(site: Any) -> None:
    """490 bytes: what stands behind them is not the plan's."""
    refused = site.tilewright("check", str(network_file("kws_int8")), "--target", "acme-lines", "--io", "user")
    assert refused.returncode != 0
    told = " ".join((refused.stdout + refused.stderr).split())
    for words in ("X crosses from 'dram' to 'pad' in no tile: that copy moves multiples of 64 bytes", "--io pool"):
        assert words in told
