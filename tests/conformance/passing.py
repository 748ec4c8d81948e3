"""Knows which cases pass, as committed in `passing.txt`: a list that only grows. Does not know how they are run."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from conformance.cases import Case
from conformance.tiers import WEIGHTS

LIST = Path(__file__).parent / "passing.txt"
ONNX_VERSION = "1.23.2"  # whose cases these are: others have others


def passing() -> tuple[str, ...]:
    """Names of the cases that passed when the list was written."""
    return tuple(LIST.read_text(encoding="utf-8").split())


def write_passing(names: Collection[str]) -> None:
    """Replace the list."""
    LIST.write_text("".join(f"{name}\n" for name in sorted(names)), encoding="utf-8")


def counts(cases: Mapping[str, Case], names: Collection[str]) -> dict[int, tuple[int, int]]:
    """For each tier how many of `names` are in it, and how many cases it has."""
    tiers = sorted({case.tier for case in cases.values()})
    members = {tier: [name for name, case in cases.items() if case.tier == tier] for tier in tiers}
    return {tier: (sum(name in names for name in mine), len(mine)) for tier, mine in members.items()}


def score(counted: Mapping[int, tuple[int, int]]) -> float:
    """Per cent of the cases, with the tiers' weights."""
    weighted = sum(weight * counted[tier][0] / counted[tier][1] for tier, weight in WEIGHTS.items())
    return 100 * weighted / sum(WEIGHTS.values())
