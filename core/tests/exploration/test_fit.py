"""Which boards run which networks, the smallest first."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from core.tests.exploration.chain import board, model
from row_networks import ONE_MEMORY
from tilewright.exploration.fit import Fit, fits, not_there, run_all, smallest
from tilewright.exploration.planned_parts import Figures
from tilewright.testing.cluster import registry_for

FITS = Figures(flags="--board x", used={"ram": 60, "flash": 100}, cycles=2_000)
TOO_LARGE = Figures(flags="--board x", used={}, code="TW5001", reason="does not fit")


def fit(name: str, ram: int, *, cost: float | None = None, figures: Figures = FITS, clock: int | None = 10**6) -> Fit:
    return Fit(model=Path("net.onnx"), board=board(name, ram, clock_hz=clock), figures=figures, cost=cost)


def test_bytes_and_time_of_one() -> None:
    one = fit("one", 100)
    assert (one.used("ram"), one.size("ram"), one.used("const"), one.size("const"), one.ms) == (
        60,
        100,
        100,
        65536,
        2.0,
    )
    assert fit("one", 100, clock=None).ms is None
    assert fit("one", 100, figures=TOO_LARGE).ms is None
    endless = replace(one, board=board("endless", 100, flash=None))
    assert endless.size("const") is None


def test_memories_that_are_not_used_do_not_count() -> None:
    both = Fit(model=Path("net.onnx"), board=board("both", 100, 50), figures=FITS)
    assert (both.size("ram"), replace(both, figures=replace(FITS, used={"ram": 60, "ram1": 0})).size("ram")) == (
        100,
        150,
    )


def test_it_runs_within_a_time_that_is_known() -> None:
    assert fit("one", 100).within(None) and fit("one", 100).within(2.0) and not fit("one", 100).within(1.9)
    assert fit("one", 100, clock=None).within(None) and not fit("one", 100, clock=None).within(9.0)
    assert not fit("one", 100, figures=TOO_LARGE).within(None)


def test_the_cheapest_are_first_then_the_smallest() -> None:
    those = [fit("c", 300), fit("b", 200), fit("a", 200), fit("d", 900, cost=2.0), fit("e", 950, cost=1.0)]
    assert [one.board.name for one in smallest(those)] == ["e", "d", "a", "b", "c"]


def test_boards_that_run_every_network() -> None:
    first = (fit("a", 300), fit("b", 200), fit("c", 100))
    second = (fit("a", 300), fit("b", 200), fit("c", 100, figures=TOO_LARGE))
    assert list(run_all({Path("x"): first, Path("y"): second}, None)) == ["b", "a"]
    assert list(run_all({Path("x"): first, Path("y"): second}, 1.0)) == []


def test_targets_that_are_not_installed_are_said() -> None:
    other = replace(board("other", 1), target="z")
    (warning,) = not_there((board("one", 1), other), ["plain"])
    assert (warning.code, warning.severity) == ("TW8001", "warning")
    assert "target 'z' is not installed: 1 parts" in warning.message


@pytest.mark.slow
def test_networks_on_boards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    net = tmp_path / "net.onnx"
    net.write_bytes(model())
    boards = (board("roomy", 65_536), board("tiny", 600))
    monkeypatch.setattr("tilewright.deployment.load_for", lambda **_: registry_for(ONE_MEMORY))
    known = SimpleNamespace(boards={one.name: one for one in boards})
    monkeypatch.setattr("tilewright.exploration.fit.load_boards", lambda: known)
    found = fits([net], boards, costs={"roomy": 3.0}, reserved_bytes=1024)
    roomy, tiny = found[net]
    assert roomy.figures.fits and roomy.cost == 3.0 and roomy.figures.flags == "--board roomy --memory ram=64512"
    assert (tiny.figures.fits, tiny.figures.code, tiny.cost) == (False, "TW5001", None)
