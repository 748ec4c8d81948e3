"""Knows how two reports differ in what costs memory and time, and when a growth is too much.
Does not know how it is printed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tilewright.errors import usage_error
from tilewright.report.text import LASTING


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One number in two reports; None where one has no such thing."""

    name: str
    old: int | None
    new: int | None

    @property
    def growth(self) -> int:
        """How much more there is now."""
        return (self.new or 0) - (self.old or 0)

    @property
    def percent(self) -> float:
        """The same against the old number; infinite where there was nothing."""
        if not self.growth:
            return 0.0
        return 100 * self.growth / self.old if self.old else float("inf")


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """How much one number may grow: `ram+2%` or `flash+512`, or with `pool.sram+0` and the like."""

    name: str
    most: float
    relative: bool

    def broken_by(self, difference: Difference) -> bool:
        """Whether it grew by more."""
        return (difference.percent if self.relative else difference.growth) > self.most


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[Difference, ...]:
    """RAM, flash, cycles, instructions, multiply-accumulates, steps, and every pool."""
    before, after = _numbers(old), _numbers(new)
    return tuple(
        Difference(name=name, old=before.get(name), new=after.get(name)) for name in dict.fromkeys((*before, *after))
    )


def parse_gates(text: str, known: Sequence[str]) -> tuple[Gate, ...]:
    """`ram+2%,cycles+5%`: TilewrightError TW1101 (exit 2) for anything else."""
    gates = []
    for item in filter(None, (part.strip() for part in text.split(","))):
        match = re.fullmatch(r"([A-Za-z0-9_.\-/]+)\+(\d+(?:\.\d+)?)(%?)", item)
        if match is None or match[1] not in known:
            raise usage_error(
                "TW1101",
                f"'--fail-on {item}' must read NAME+PERCENT% or NAME+AMOUNT",
                details=(f"NAME is one of {', '.join(known)}",),
                fix=("write it as --fail-on ram+2%,cycles+500",),
            )
        gates.append(Gate(name=match[1], most=float(match[2]), relative=bool(match[3])))
    return tuple(gates)


def _numbers(report: Mapping[str, Any]) -> dict[str, int]:
    pools = report["pools"]
    return {
        "ram": sum(pool["used_bytes"] for pool in pools if pool["kind"] != "const"),
        "flash": sum(pool["used_bytes"] for pool in pools if pool["kind"] == "const"),
        "cycles": report["cycles"]["total"],
        **({"instructions": report["instructions"]["total"]} if "instructions" in report else {}),
        "macs": report["macs"],
        "steps": len(report["steps"]),
        **{_pool(pool): pool["used_bytes"] for pool in pools},
    }


def _pool(pool: Mapping[str, Any]) -> str:
    """A memory's pool, or what lasts from run to run in it: `pool.dtcm`, `pool.dtcm.state`."""
    return f"pool.{pool['name']}" + (f".{pool['kind']}" if pool["kind"] in LASTING else "")
