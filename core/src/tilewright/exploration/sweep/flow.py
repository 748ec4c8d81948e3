"""Knows how a sweep goes: what is known already is read, the rest is worked out, every row is kept as it comes.
Does not know where that is done, nor how rows are shown.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from tilewright.exploration.executors import Executor
from tilewright.exploration.sweep.cache import Cache
from tilewright.exploration.sweep.evaluation import evaluated
from tilewright.exploration.sweep.points import Point

Row = dict[str, Any]


def rows(points: Sequence[Point], executor: Executor, cache: Cache | None) -> Iterator[tuple[int, Row]]:
    """The row of every point with the point's number, as they come: first those that are known."""
    unknown: dict[int, str] = {}
    numbers: dict[str, list[int]] = {}  # task -> points: one that stands twice is worked out once
    for number, point in enumerate(points):
        known = cache.found(point) if cache else None
        if known is not None:
            yield number, _row(point, known)
            continue
        same = numbers.setdefault(point.as_text(), [])
        same.append(number)
        if len(same) == 1:
            unknown[number] = point.as_text()
    for number, text in executor.results(evaluated, unknown) if unknown else ():
        if cache:
            cache.keep(points[number], text)
        for same_number in numbers[unknown[number]]:
            yield same_number, _row(points[same_number], text)


def _row(point: Point, text: str) -> Row:
    return {"model": str(point.model), "values": dict(point.values), **json.loads(text)}
