"""One network on many boards: every figure is that of a deployment alone, and few of them are planned."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.tests.exploration.chain import board, model
from row_networks import ONE_MEMORY
from tilewright.config.memory_pools import PoolSpec
from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.errors import TilewrightError
from tilewright.exploration.planned_parts import Figures, planned_parts
from tilewright.ir.machines.platform import Platform
from tilewright.report.report_json import build_report
from tilewright.testing.cluster import registry_for

REGISTRY = registry_for(ONE_MEMORY)
BOARDS = (
    board("tiny", 600),
    board("rows", 22_000),
    board("between", 26_000),
    board("more", 30_000),
    board("layers", 36_864),
    board("roomy", 65_536),
    board("roomier", 1 << 20),
    board("no-flash", 65_536, flash=1_000),
    board("endless", 65_536, flash=None),
    board("two", 19_000, 40_000),
    board("halves", 19_000, 19_000),
)


def alone(figures: Figures) -> Figures:
    """The same by a deployment with the flags that are to be typed."""
    words = figures.flags.split()
    (found,) = (one for one in BOARDS if one.name == words[1])
    pools = (PoolSpec(name=words[3]),) if "--pool" in words else ()
    deployment = Deployment(model(), "plain", Options(board=found, pools=pools), REGISTRY)
    try:
        used = deployment.worst_case_buffer_size
    except TilewrightError as error:
        return Figures(flags=figures.flags, used={}, code=error.code)
    cycles = build_report(deployment, artifacts=False)["cycles"]["total"]
    return Figures(flags=figures.flags, used=used, cycles=cycles)


@pytest.fixture(name="found", scope="module")
def _found() -> dict[str, Figures]:
    every = planned_parts(model(), "plain", BOARDS, registry=REGISTRY)
    return {one.name: figures for one, figures in zip(BOARDS, every, strict=True)}


@pytest.mark.slow
@pytest.mark.parametrize("name", [one.name for one in BOARDS])
def test_it_is_what_a_deployment_says_alone(name: str, found: dict[str, Figures]) -> None:
    assert replace(found[name], reason="") == alone(found[name])


@pytest.mark.slow
def test_some_fit_and_some_do_not(found: dict[str, Figures]) -> None:
    assert {name for name, figures in found.items() if not figures.fits} == {"tiny", "no-flash"}
    assert "--pool" not in found["two"].flags and sum(found["two"].used.values()) > 19_000
    assert found["roomy"].used == found["roomier"].used
    assert found["rows"].used["ram"] < found["roomy"].used["ram"] < found["more"].used["ram"]
    assert "has 600 B" in found["tiny"].reason or "where there is more of it" in found["tiny"].reason


def test_boards_with_equal_memories_are_planned_once(monkeypatch: pytest.MonkeyPatch) -> None:
    planned = []

    def counted(deployment: Deployment, settings: object) -> Platform:
        planned.append(deployment)
        return configured(deployment, settings)

    configured = Deployment._configured
    monkeypatch.setattr(Deployment, "_configured", counted)
    small, large = ([board(f"{size}-{number}", size) for number in range(8)] for size in (26_000, 100_000))
    figures = list(planned_parts(model(), "plain", [*small, *large], registry=REGISTRY))
    assert len({tuple(sorted(one.used.items())) for one in figures}) == 2
    assert [one.flags for one in figures] == [f"--board {one.name}" for one in (*small, *large)]
    assert (
        len(dict.fromkeys(planned)) == 4
    )  # one reads the network; planned: without limits, layer by layer, and in 26,000 B


def test_a_model_that_cannot_be_read_is_the_user_s_problem() -> None:
    with pytest.raises(TilewrightError, match="TW12"):
        list(planned_parts(b"no model", "plain", BOARDS, registry=REGISTRY))
