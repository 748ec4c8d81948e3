"""A sweep as it is asked for: files, models and targets that are there, and what comes of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tilewright
from core.tests.exploration.chain import model
from core.tests.exploration.sweep.points_kit import point
from row_networks import ONE_MEMORY
from tilewright.errors import TilewrightError
from tilewright.exploration.executors import Processes, ThisProcess
from tilewright.exploration.sweep import sweep as module
from tilewright.exploration.sweep.axes import axis
from tilewright.exploration.sweep.sweep import asked_points, cache_in, executor_for, read_sweep, sweep
from tilewright.plugins.catalogue import Catalogue, Offer, Package
from tilewright.testing.cluster import registry_for


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tilewright.deployment.load_for", lambda **_: registry_for(ONE_MEMORY))
    offers = (Offer(kind="platform", name=ONE_MEMORY.name, reference="m"),)
    catalogue = Catalogue(packages=(Package(name="p", version="1", requirement="", offers=offers),))
    monkeypatch.setattr(module, "discover", lambda: catalogue)


@pytest.fixture(name="net")
def _net(tmp_path: Path) -> Path:
    (tmp_path / "net.onnx").write_bytes(model())
    return tmp_path / "net.onnx"


@pytest.mark.slow
def test_a_table_of_all_points_and_its_front(net: Path, tmp_path: Path) -> None:
    asked: dict[str, Any] = {"target": ONE_MEMORY.name, "memory": {"fast": "1K,8K,64K"}, "optimize": ["speed", "ram"]}
    found = sweep(net, processes=1, cache=tmp_path / "cache", **asked)
    assert len(found) == 6 and [row["values"]["optimize"] for row in found.rows[:2]] == ["speed", "ram"]
    assert [row["fits"] for row in found.rows] == [False, False, *[row["fits"] for row in found.rows[2:]]]
    assert {row["front"] for row in found.rows if not row["fits"]} == {False} and found.front
    assert sweep([net], processes=2, cache=tmp_path / "cache", **asked).rows == found.rows
    assert found.to_csv().count("\n") == 7
    assert repr(found) == f"<tilewright.Sweep 6 points, {sum(row['fits'] for row in found.rows)} fit, " + (
        f"{len(found.front)} in the front>"
    )
    assert len(found.to_pandas()) == 6


def test_it_is_in_the_front_door() -> None:
    assert tilewright.sweep is sweep and {"sweep", "estimate", "Sweep"} <= {*dir(tilewright)}


@pytest.mark.parametrize(
    ("models", "axes", "code"),
    [
        ([], {"target": "x"}, "TW1412"),
        (["net.onnx"], {"optimize": "ram"}, "TW1412"),
        (["none.onnx"], {"target": ONE_MEMORY.name}, "TW1201"),
        (["net.onnx"], {"target": ONE_MEMORY.name + "x"}, "TW8001"),
        (["net.onnx"], {"target": ONE_MEMORY.name, "seed": [*range(1001)], "effort": [*range(1, 1001)]}, "TW1412"),
    ],
)
def test_what_is_wrong_with_all_of_it_is_said_first(
    net: Path, monkeypatch: pytest.MonkeyPatch, models: list[str], axes: dict[str, Any], code: str
) -> None:
    monkeypatch.chdir(net.parent)
    with pytest.raises(TilewrightError) as caught:
        list(asked_points([Path(name) for name in models], [axis(name, value) for name, value in axes.items()]))
    assert caught.value.code == code


def test_a_file_says_models_and_what_varies(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text('models = ["a.onnx"]\ntarget = ["x", "y"]\n[memory]\nfast = "1K..4K"\n')
    models, axes = read_sweep(tmp_path / "s.toml")
    assert models == (tmp_path / "a.onnx",) and [one.name for one in axes] == ["target", "memory.fast"]
    for text in ("models = 3", "models = [", 'models = ["a"]\ntargt = "x"'):
        (tmp_path / "s.toml").write_text(text)
        with pytest.raises(TilewrightError, match="TW1412"):
            read_sweep(tmp_path / "s.toml")


def test_who_works_points_out() -> None:
    with executor_for("", 4, [point()]) as executor:
        assert executor == ThisProcess()
    with executor_for("", 4, [point()] * 3) as executor:
        assert executor == Processes(count=3)


def test_a_cache_is_of_the_packages_that_are_installed(tmp_path: Path) -> None:
    assert cache_in(tmp_path).versions["tilewright"] == tilewright.__version__
