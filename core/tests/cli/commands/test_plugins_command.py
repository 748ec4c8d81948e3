"""`tilewright plugins`: a list from metadata alone, and an examination that fails where a plugin is not well."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tilewright.plugins.reports import PluginReport

WELL = PluginReport(
    package="acme", version="1.0", requirement="tilewright>=0.1", status="ok", announced=("platform.a",)
)
BLOCKED = PluginReport(package="longer-name", version="2", requirement="", status="blocked", announced=("tiler.b",))
BROKEN = PluginReport(
    package="bad", version="3", requirement="", status="broken", announced=("runner.c",), code="TW8003",
    detail="it raised KeyError", at="bad/plugin.py:7", fix=("pip install -U bad", "TILEWRIGHT_BLOCK=bad"),
)  # fmt: skip


@pytest.fixture(name="found")
def _found(monkeypatch: pytest.MonkeyPatch) -> Any:
    def install(*reports: PluginReport) -> None:
        for name in ("list_all", "examine_all"):
            monkeypatch.setattr(f"tilewright.plugins.{name}", lambda: reports, raising=False)

    return install


def test_the_list_has_a_line_for_each(run: Any, found: Any) -> None:
    found(WELL, BROKEN)
    head, well, broken = [line.split() for line in run("plugins", "list").out.splitlines()]
    assert head == ["package", "version", "needs", "status", "announces"]
    assert well == ["acme", "1.0", "tilewright>=0.1", "ok", "platform.a"]
    assert broken == ["bad", "3", "any", "broken", "runner.c"]


@pytest.mark.parametrize(("reports", "code"), [((WELL,), 0), ((WELL, BLOCKED), 0), ((WELL, BROKEN), 8), ((), 0)])
def test_the_doctor_fails_where_one_is_ill_and_not_where_one_is_blocked(
    run: Any, found: Any, reports: tuple[PluginReport, ...], code: int
) -> None:
    found(*reports)
    assert run("plugins", "doctor").code == code
    said = run("plugins", "doctor", "--json", "-")
    assert said.code == code and [one["package"] for one in json.loads(said.out)] == [one.package for one in reports]


def test_what_is_wrong_stands_with_its_place_and_every_remedy(run: Any, found: Any) -> None:
    found(BLOCKED, BROKEN)
    assert run("plugins", "doctor").out.splitlines() == [
        "blocked       longer-name  2  tiler.b",
        "broken        bad          3  runner.c",
        "              [TW8003] it raised KeyError",
        "              at    bad/plugin.py:7",
        "              try:  pip install -U bad",
        "              try:  TILEWRIGHT_BLOCK=bad",
    ]


@pytest.mark.slow
def test_the_core_itself_is_well(run: Any) -> None:
    (core,) = (one for one in json.loads(run("plugins", "doctor", "--json", "-").out) if one["package"] == "tilewright")
    assert core["status"] == "ok" and "kernel portable.sigmoid" in core["offers"]
