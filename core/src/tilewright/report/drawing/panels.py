"""Knows what a memory plan looks like before it is drawn: for every pool boxes over time and bytes.
Does not know colours, coordinates or files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from tilewright.ir.short_names import short_names
from tilewright.report.steps import covered_bytes
from tilewright.report.text import LASTING, shown_names

if TYPE_CHECKING:
    from tilewright.ir.plans.allocation import Problem, Solution

_MOST, _LONGEST = 3, 80  # ONNX nodes named for a box, and characters of each


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A buffer during one of its lifetimes. Bytes are half-open, times closed and counted from 0."""

    name: str
    kind: str
    low: int
    high: int
    first: int
    last: int
    life: str  # as the reader counts it
    note: str = ""  # the ONNX nodes it belongs to
    short: str = ""  # what to write into the box; "" is the name

    @property
    def size(self) -> int:
        """Bytes."""
        return self.high - self.low

    def overlaps(self, other: Box) -> bool:
        """Whether they share bytes at any time."""
        return self.low < other.high and other.low < self.high and self.first <= other.last and other.first <= self.last


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One pool. `times` are the labels of the columns, `operators` what runs in them (or nothing)."""

    pool: str
    constant: bool
    used: int
    limit: int | None
    bound: int
    optimal: bool
    times: tuple[str, ...]
    boxes: tuple[Box, ...]
    operators: tuple[str, ...] = ()
    overlaid: bool = False  # boxes may share bytes at a time: outputs over what their steps read

    @property
    def live(self) -> tuple[int, ...]:
        """Bytes that anything is in, in each column; those that two boxes share once."""
        if not self.overlaid:
            change = Counter[int]()
            for box in self.boxes:
                change[box.first] += box.size
                change[box.last + 1] -= box.size
            return tuple(accumulate(change[column] for column in range(len(self.times))))
        ranges: list[list[tuple[int, int]]] = [[] for _ in self.times]
        for box in self.boxes:
            for column in range(box.first, box.last + 1):
                ranges[column].append((box.low, box.high))
        return tuple(map(covered_bytes, ranges))

    def seen(self, number: int) -> int:
        """The last column in which no later box lies over this one: where there is room for its name."""
        box = self.boxes[number]
        later = self.boxes[number + 1 :] if self.overlaid else ()
        over = (above.first for above in later if above.first > box.first and box.overlaps(above))
        return min(over, default=box.last + 1) - 1


def panels_of_report(report: Mapping[str, Any]) -> tuple[Panel, ...]:
    """Every pool of a report that holds anything."""
    steps = report["steps"]
    times = tuple(str(step["id"]) for step in steps) or ("0",)
    shorts = shown_names(report)
    writers = {tensor["name"]: step for step in steps for tensor in step["outputs"]}
    panels = []
    for pool in report["pools"]:
        boxes = tuple(
            _buffer_box(buffer, writers, len(times), shorts[buffer["name"]])
            for buffer in report["buffers"]
            if buffer["pool"] == pool["name"] and buffer["size_bytes"] and buffer["offset_bytes"] is not None
            if buffer["kind"] == pool["kind"] or not {buffer["kind"], pool["kind"]} & {*LASTING}
        )
        if boxes:
            panels.append(
                Panel(
                    pool=f"{pool['name']} ({LASTING[pool['kind']]})" if pool["kind"] in LASTING else pool["name"],
                    constant=pool["kind"] == "const",
                    used=pool["used_bytes"],
                    limit=pool["limit_bytes"],
                    bound=pool["lower_bound_bytes"],
                    optimal=pool["optimal"],
                    times=times,
                    boxes=boxes,
                    operators=tuple(step["op"] for step in steps),
                    overlaid=True,
                )
            )
    return tuple(panels)


def panels_of_plan(problem: Problem, solution: Solution) -> tuple[Panel, ...]:
    """Every pool of an allocation problem that holds anything. Columns are the moments at which anything changes."""
    from tilewright.check.allocations.allocation import peaks

    moments = sorted(
        {time for block in problem.blocks for first, last in block.lifetimes for time in (first, last + 1)}
    )
    columns = {time: number for number, time in enumerate(moments)}
    used = peaks(problem, solution)
    boxes = _block_boxes(problem, solution, columns)
    return tuple(
        Panel(
            pool=pool.name,
            constant=not any(block.lifetimes for block in problem.blocks),
            used=used[pool.name],
            limit=pool.capacity_bytes,
            bound=solution.bounds.get(pool.name, 0),
            optimal=used[pool.name] == solution.bounds.get(pool.name, 0),
            times=tuple(map(str, moments[:-1])) or ("0",),
            boxes=tuple(boxes[pool.name]),
        )
        for pool in problem.pools
        if pool.name in boxes
    )


def _block_boxes(problem: Problem, solution: Solution, columns: Mapping[int, int]) -> Mapping[str, Sequence[Box]]:
    """By pool a box for every lifetime of every block; a block without lifetimes is always there."""
    shorts = short_names(block.name for block in problem.blocks)
    always = max(len(columns) - 2, 0)
    boxes: dict[str, list[Box]] = {}
    for block in (block for block in problem.blocks if block.size_bytes):
        place = solution.places[block.name]
        for life in block.lifetimes or (None,):
            box = Box(
                name=block.name,
                kind="block",
                low=place.offset_bytes,
                high=place.offset_bytes + block.size_bytes,
                first=0 if life is None else columns[life[0]],
                last=always if life is None else columns[life[1] + 1] - 1,
                short=shorts[block.name],
                life="unknown" if life is None else f"{life[0]} to {life[1]}",
            )
            boxes.setdefault(place.pool, []).append(box)
    return boxes


def _buffer_box(buffer: Mapping[str, Any], writers: Mapping[str, Mapping[str, Any]], columns: int, short: str) -> Box:
    first, last = buffer["first_step"], min(buffer["last_step"], columns - 1)
    rows = buffer.get("rows")
    values = [rows["value"]] if rows else buffer["values"]
    nodes = _nodes(writers[value] for value in values if value in writers)
    if rows:
        short = f"{rows['buffered_rows']} of {rows['count']} rows"
        nodes = f"{short} of {nodes}"
    return Box(
        name=buffer["name"],
        kind="line buffer" if rows else buffer["kind"],
        low=buffer["offset_bytes"],
        high=buffer["offset_bytes"] + buffer["size_bytes"],
        first=0 if buffer["kind"] == "constant" else min(first, last),
        last=columns - 1 if buffer["kind"] == "constant" else last,
        life="always" if buffer["kind"] == "constant" else f"steps {first} to {last}",
        note=nodes,
        short=short,
    )


def _nodes(steps: Iterable[Mapping[str, Any]]) -> str:
    names = dict.fromkeys(name for step in steps for name in (step["onnx_nodes"] or [step["name"]]))
    shown = [name if len(name) <= _LONGEST else f"…{name[1 - _LONGEST :]}" for name in list(names)[:_MOST]]
    return ", ".join(shown) + (f" and {len(names) - _MOST} more" if len(names) > _MOST else "")
