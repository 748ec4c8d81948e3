"""`tilewright doctor`: everything that a bug report needs, also where something is broken."""

from __future__ import annotations

import importlib.metadata
import json
from types import SimpleNamespace
from typing import Any

import pytest
from packaging.requirements import Requirement

from tilewright import __version__
from tilewright.errors import plugin_error


@pytest.mark.slow
def test_every_package_that_tilewright_needs_has_its_version(run: Any) -> None:
    needed = {Requirement(line).name for line in importlib.metadata.requires("tilewright") or () if "extra" not in line}
    found = json.loads(run("doctor", "--json", "-").out)
    assert found["tilewright"] == __version__
    assert found["packages"] == {name: importlib.metadata.version(name) for name in needed}
    assert {"numpy", "onnx", "ml_dtypes", "click"} <= needed


@pytest.mark.slow
def test_text_and_json_say_the_same(run: Any) -> None:
    found, text = json.loads(run("doctor", "--json", "-").out), run("doctor").out
    lines = [line.split(maxsplit=1) for line in text.splitlines()]

    def of(kind: str) -> list[str]:
        return [rest for word, rest in (line for line in lines if len(line) == 2) if word == kind]

    assert of("compiler") == found["compilers"]
    assert [line.split(":")[0] for line in of("allocator")] == [one["name"] for one in found["allocators"]]
    runners = {runner["name"]: runner for runner in found["runners"]}
    assert [line.split("; counts ")[0] for line in of("runner")] == [
        f"{name}: {runner['missing'] or 'ready'}" for name, runner in runners.items()
    ]
    counts = {line.split(":")[0]: line.rpartition("; counts ")[2] for line in of("runner")}
    assert (counts["host"], runners["host"]["counts"]) == ("nothing", [])
    assert (counts["twin"], runners["twin"]["counts"]) == ("cycles", ["cycles"])
    assert {"greedy-by-size", "best-fit"} <= {one["name"] for one in found["allocators"]}


@pytest.mark.slow
def test_what_cannot_be_loaded_is_said_and_the_rest_too(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def load(wanted: tuple[str, str]) -> Any:
        if wanted[1] == "broken":
            raise plugin_error("TW8003", "its package is broken")
        runners = {
            "well": SimpleNamespace(
                name="well", summary="", run=None, available=lambda: "install that", counts=("instructions", "cycles")
            ),
            "silent": SimpleNamespace(name="silent", summary="", run=None, available=lambda: None),
        }
        return SimpleNamespace(runners=runners, allocators={})

    names = {"runner": ("broken", "silent", "well"), "allocator": ("broken",)}
    monkeypatch.setattr("tilewright.plugins.load_named", load, raising=False)
    monkeypatch.setattr("tilewright.plugins.discover", lambda: SimpleNamespace(names=names.get), raising=False)
    monkeypatch.setattr("tilewright.plugins.examine_all", lambda: (), raising=False)
    said = run("doctor")
    assert said.code == 0
    assert said.out.splitlines()[-4:] == [
        "allocator  broken: its package is broken",
        "runner     broken: its package is broken",
        "runner     silent: ready",
        "runner     well: install that; counts instructions and cycles",
    ]
