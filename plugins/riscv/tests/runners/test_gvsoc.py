"""The runner `gvsoc` without a machine: what it refuses, and how long it waits. Packages of machines test the rest."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from tilewright.api.testing import CLUSTER
from tilewright.comparison.vectors import random_vectors
from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.errors import TilewrightError
from tilewright.ir.programs.runner import Job
from tilewright.testing.cluster import registry_for
from tilewright_riscv.runners.gvsoc import GvsocRunner, seconds_for

DIGITS = Path(__file__).resolve().parents[4] / "examples" / "digits"


@cache
def job(sets: int) -> Job:
    plan = Deployment(DIGITS / "digits_int8.onnx", CLUSTER.name, Options(), registry_for(CLUSTER))
    drawn = tuple(one.inputs for one in random_vectors(plan.inputs, sets, seed=5))
    return Job(artifact=plan.artifact, plan=plan.allocated, prefix=plan.prefix, input_sets=drawn)


def test_a_run_may_take_many_times_the_estimate_and_not_an_hour() -> None:
    cycles = sum(group.cycles for group in job(1).plan.tiled.groups)
    assert cycles > 0
    assert seconds_for(job(1)) == pytest.approx(120 + 4 * 2 * cycles / 20_000)
    assert 120 < seconds_for(job(1)) < seconds_for(job(3)) < 600


def test_a_target_without_a_machine_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "gvsoc").write_text("#!/bin/sh\n", encoding="ascii")
    (tmp_path / "bin" / "gvsoc").chmod(0o755)
    monkeypatch.setenv("GVSOC_INSTALL_DIR", str(tmp_path))
    with pytest.raises(TilewrightError) as refused:
        GvsocRunner().run(job(1), tmp_path / "work")
    assert refused.value.code == "TW7001"
    assert CLUSTER.name in refused.value.message


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("GVSOC_INSTALL_DIR", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "github.com/gvsoc/gvsoc" in (GvsocRunner().available() or "")
