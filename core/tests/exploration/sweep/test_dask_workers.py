"""Workers of a cluster: the network's files go there, a worker that is killed loses nothing and doubles nothing, and
other packages are refused. Without Dask there is an error that says what to install."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

import pytest

from core.tests.exploration.sweep.points_kit import point
from tilewright.errors import TilewrightError
from tilewright.exploration.sweep import dask_workers as module
from tilewright.exploration.sweep.dask_workers import (
    at_worker,
    batches,
    dask_workers,
    demand_no_files,
    files_of,
)
from tilewright.exploration.sweep.evaluation import evaluated


def told(task: str) -> str:
    """What the model's file holds, and a flag."""
    asked = json.loads(task)
    return Path(asked["model"]).read_text("ascii") + str(asked["flags"].get("seed", ""))


@pytest.fixture(name="net")
def _net(tmp_path: Path) -> Path:
    (tmp_path / "net.onnx").write_text("net", encoding="ascii")
    return tmp_path / "net.onnx"


@pytest.mark.parametrize("workers", [0, 1, 2, 5])
def test_tasks_have_every_point_once_of_one_model_and_are_small_at_the_end(workers: int) -> None:
    models = {number: "a" if number < 90 else "b" for number in range(120)}
    those = batches(models, workers)
    assert [number for _, numbers in those for number in numbers] == list(range(120))
    assert all({models[number] for number in numbers} == {model} for model, numbers in those)
    assert len(those[0][1]) > len(those[-1][1]) == 1
    assert len(those) < 70
    assert batches({}, workers) == ()


@pytest.mark.slow
def test_a_worker_that_is_killed_loses_nothing_and_doubles_nothing(net: Path) -> None:
    from dask import config

    tasks = {number: point(net, "no-such-target", seed=number).as_text() for number in range(24)}
    with dask_workers("local", 2) as executor:
        assert not any(executor.client.run(config.get, "distributed.worker.profile.enabled").values())
        results = executor.results(evaluated, tasks)
        first = next(results)
        os.kill(next(iter(executor.client.run(os.getpid).values())), signal.SIGKILL)
        found = [first, *results]
    assert sorted(number for number, _ in found) == sorted(tasks)
    assert {json.loads(row)["code"] for _, row in found} == {"TW8001"}


def test_files_go_along_and_lie_in_a_folder_of_the_worker(net: Path) -> None:
    files = files_of(net)
    assert files == {"net.onnx": b"net"}
    text = point(net, seed=1).as_text()
    net.unlink()
    assert at_worker(told, [text, text], files, module.installed_versions()) == ["net1", "net1"]


def test_a_worker_with_other_packages_works_nothing_out(net: Path) -> None:
    with pytest.raises(RuntimeError, match="other packages"):
        at_worker(told, [point(net).as_text()], {}, {"tilewright": "0"})


def test_what_the_cluster_needs_is_said(net: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TilewrightError, match="a file of this machine"):
        demand_no_files({"board": str(net)})
    demand_no_files({"board": "nucleo"})
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(TilewrightError, match="TW1415"), dask_workers("local", 1):
        pass


@pytest.mark.slow
def test_nobody_at_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PATIENCE", "1s")
    with (
        pytest.raises(TilewrightError, match="there is no scheduler at"),
        dask_workers("tcp://127.0.0.1:9", 1),
    ):
        pass
