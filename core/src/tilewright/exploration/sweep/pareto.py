"""Knows which points of a sweep nothing beats: each other one takes more of something. Does not know how that looks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

MEASURES = ("ram_bytes", "flash_bytes", "cycles", "drift_steps")


def front(rows: Sequence[Mapping[str, Any]]) -> tuple[int, ...]:
    """Numbers of the rows that fit and that no other row of the same network and target or board equals or beats in
    every measure; of rows that are equal, the first. Cycles of different cores are not compared.
    """
    order = sorted((key, number) for number, row in enumerate(rows) if row["fits"] for key in [_key(row)])
    fronts: dict[tuple[str, ...], list[tuple[float, ...]]] = {}
    result = []
    for key, number in order:
        known = fronts.setdefault(_machine(rows[number]), [])
        if not any(all(mine >= other for mine, other in zip(key, other_key, strict=True)) for other_key in known):
            known.append(key)
            result.append(number)
    return tuple(sorted(result))


def _machine(row: Mapping[str, Any]) -> tuple[str, ...]:
    return row["model"], row["target"], str(row["values"].get("board", ""))


def _key(row: Mapping[str, Any]) -> tuple[float, ...]:
    return tuple(float(row[measure]) for measure in MEASURES)
