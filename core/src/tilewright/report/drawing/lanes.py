"""Knows how a network is laid out as rows in the order of execution, with a lane for every value that waits.
Does not know colours, coordinates or files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Plain = tuple[Mapping[str, Any] | None, tuple[str, ...], tuple[str, ...]]  # a step, what it reads, what it writes


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """An input of the network (`step` None), or a step. What it writes goes down in its lane."""

    step: Mapping[str, Any] | None
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    lane: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """A value from the row that writes it to one that reads it."""

    value: str
    first: int
    last: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Lanes:
    """The whole network. Between the rows of an edge nothing else is in the lane of its first one."""

    rows: tuple[Row, ...]
    edges: tuple[Edge, ...]

    @property
    def count(self) -> int:
        """How many lanes there are."""
        return 1 + max((row.lane for row in self.rows), default=0)


def lanes_of(report: Mapping[str, Any]) -> Lanes | None:
    """The network of a report; None for one that does not say what steps read, as older ones do not."""
    steps = report["steps"]
    if not steps or any("inputs" not in step for step in steps):
        return None
    ends = [end["name"] for end in (*report["model"]["inputs"], *report["model"]["outputs"])]
    written = {tensor["name"] for step in steps for tensor in step["outputs"]}
    read = {name for step in steps for name in step["inputs"]}
    entering = sorted(read - written, key=lambda name: (ends.index(name) if name in ends else len(ends), name))
    plain: list[Plain] = [(None, (), (name,)) for name in entering]
    plain += [(step, tuple(step["inputs"]), tuple(tensor["name"] for tensor in step["outputs"])) for step in steps]
    last = {name: number for number, (_, reads, _) in enumerate(plain) for name in reads}
    rows, busy = list[Row](), list[int]()
    for number, (step, reads, writes) in enumerate(plain):
        lane = _free(busy, number)
        busy[lane : lane + 1] = [max((last.get(name, number) for name in writes), default=number)]
        rows.append(Row(step=step, reads=reads, writes=writes, lane=lane))
    return Lanes(rows=tuple(rows), edges=_edges(rows))


def _free(busy: Sequence[int], row: int) -> int:
    """The first lane whose value is read by nobody after `row`, or else a new one."""
    return next((lane for lane, until in enumerate(busy) if until <= row), len(busy))


def _edges(rows: Sequence[Row]) -> tuple[Edge, ...]:
    makers = {name: number for number, row in enumerate(rows) for name in row.writes}
    return tuple(
        Edge(value=name, first=makers[name], last=number)
        for number, row in enumerate(rows)
        for name in dict.fromkeys(row.reads)
    )
