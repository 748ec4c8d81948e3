"""`tilewright targets`: a list from metadata, broken packages included, and one target in detail."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from tilewright.ir.machines.platform import Option
from tilewright.plugins.catalogue import Catalogue, Offer, Package
from tilewright.testing.cluster import CLUSTER

WIDE = replace(
    CLUSTER,
    options=(Option(name="cores", default="8", choices=("4", "8"), help="How many."),),
    compile_flags=("-O3",),
)


@pytest.fixture(name="installed")
def _installed(monkeypatch: pytest.MonkeyPatch) -> Any:
    def install(*packages: Package) -> None:
        monkeypatch.setattr("tilewright.plugins.discover", lambda: Catalogue(packages=packages), raising=False)
        registry = SimpleNamespace(platforms={WIDE.name: WIDE})
        monkeypatch.setattr("tilewright.plugins.load_named", lambda *_: registry, raising=False)

    return install


def package(name: str, *offers: tuple[str, str], fault: Any = None) -> Package:
    made = tuple(Offer(kind=kind, name=of, reference="m") for kind, of in offers)
    return Package(name=name, version="1", requirement="", offers=made, fault=fault)


def test_targets_are_sorted_and_a_broken_package_is_said(run: Any, installed: Any) -> None:
    fault = SimpleNamespace(cause="it asks for another core")
    installed(package("z", ("platform", "b"), ("runner", "r")), package("a", ("platform", "c"), fault=fault))
    rows = json.loads(run("targets", "--json", "-").out)
    assert [(row["name"], row["package"], row["problem"]) for row in rows] == [
        ("b", "z", ""),
        ("c", "a", "it asks for another core"),
    ]
    text = [line.split() for line in run("targets").out.splitlines()]
    assert text == [["target", "package", "version", "problem"], ["b", "z", "1"], ["c", "a", "1", *fault.cause.split()]]


def test_where_there_is_none_it_is_said_what_to_install(run: Any, installed: Any) -> None:
    installed()
    said = run("targets")
    assert said.code == 0 and "no target is installed" in said.out and "pip install" in said.out
    assert json.loads(run("targets", "--json", "-").out) == []


def test_one_target_has_its_memories_copies_engines_and_settings(run: Any, installed: Any) -> None:
    installed()
    facts = json.loads(run("targets", WIDE.name, "--json", "-").out)
    assert [one["size_bytes"] for one in facts["memories"]] == [None, 64 << 10, None]
    assert facts["copies"][0]["max_bytes"] == (1 << 17) - 1 and facts["runtime_bytes"] == {"l1": 256}
    assert facts["settings"] == [{"name": "cores", "default": "8", "choices": ["4", "8"], "help": "How many."}]
    text = run("targets", WIDE.name).out
    lines = [line.split() for line in text.splitlines()]
    assert ["l1", "ram", "65,536", "B", "16", "B", "256", "B"] in lines or ["l1", "ram", "65,536", "B"] in [
        line[:4] for line in lines
    ]
    (way,) = (line for line in lines if line[:3] == ["l2", "->", "l1"])
    cycles = "173"  # 45 + 1024 / 8 for 1 KiB in one
    assert way[3:] == ["131,071", "B", *way[5:7], "strided", "16", "1", cycles, "cycles"]
    assert "engine cluster: 8 core(s), 12 operations per cycle" in text
    assert "--set cores=8 (4, 8)   How many." in text and "runs on: twin" in text and "compile with: -O3" in text
