"""Knows how a network is drawn: a row for each layer in the order of execution with a lane for every value that waits,
lines for values in the colour of the memory where they live, and a frame around layers that run as one.
Does not know the page around it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from types import MappingProxyType
from typing import Any

from tilewright.report.drawing.labels import CHARACTER, plain, shortened
from tilewright.report.text import nodes_of, piece_by_piece, shown_names

ROW, LANE, EDGE = 30, 18, 18  # pixels: height of a row, width of a lane, margin
COLUMNS = MappingProxyType({"operator": 150, "name": 250, "shape": 170, "place": 130})
MEMORIES = ("#2f7fd6", "#c2571a", "#23875a", "#9a5bd0", "#a8781c", "#c2488a", "#2b8a96")  # readable on both papers
CALLERS = "the caller's memory"
NOWHERE = "#7a8496"  # values in no pool: the caller's, and those between steps that run as one


def network_svg(report: Mapping[str, Any]) -> str:
    """The network of a report; "" where it does not say what steps read."""
    lanes = lanes_of(report)
    if lanes is None:
        return ""
    places = _places(report)
    left = EDGE + lanes.count * LANE
    width, height = left + sum(COLUMNS.values()), len(lanes.rows) * ROW + 2 * EDGE
    colours = place_colours(report)
    fused = piece_by_piece(report["steps"])
    lines = (_line(edge, lanes, places[edge.value], colours, fused) for edge in lanes.edges)
    parts = [*_frames(lanes, width, fused), *lines]
    shorts = shown_names(report)
    for number, row in enumerate(lanes.rows):
        parts.append(_row(row, number, left, places, colours, shorts))
    return f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">{"".join(parts)}</svg>'


def place_colours(report: Mapping[str, Any]) -> dict[str, str]:
    """Every place that a value of the network is in, and its colour."""
    places = dict.fromkeys(_places(report).values())
    pools = [pool["name"] for pool in report["pools"] if pool["name"] in places]
    colours = {name: MEMORIES[number % len(MEMORIES)] for number, name in enumerate(dict.fromkeys(pools))}
    return {**colours, **{place: NOWHERE for place in (CALLERS, piece_by_piece(report["steps"])) if place in places}}


def _places(report: Mapping[str, Any]) -> dict[str, str]:
    """Value -> the memory that holds it, or what else there is to say."""
    pools = {value: buffer["pool"] for buffer in report["buffers"] for value in buffer["values"] if buffer["pool"]}
    internal = {value for step in report["steps"] for value in step.get("internal_values", ())}
    values = [name for step in report["steps"] for name in step.get("inputs", ())]
    values += [tensor["name"] for step in report["steps"] for tensor in step["outputs"]]
    fused = piece_by_piece(report["steps"])
    return {name: pools.get(name, fused if name in internal else CALLERS) for name in values}


def _at(lane: int, number: int) -> tuple[int, int]:
    """The middle of a row's dot."""
    return EDGE + lane * LANE, EDGE + number * ROW + ROW // 2


def _line(edge: Edge, lanes: Lanes, place: str, colours: Mapping[str, str], fused: str) -> str:
    """Down in the lane of the row that writes, and over to the one that reads in the last step."""
    (x, y), (to_x, to_y) = (_at(lanes.rows[number].lane, number) for number in (edge.first, edge.last))
    turn = to_y - ROW
    over = "" if x == to_x else f"C{x} {turn + ROW // 2} {to_x} {turn + ROW // 2} {to_x} {to_y}"
    dashes = ' stroke-dasharray="3 3"' if place == fused else ""
    return (
        f'<path class="edge" d="M{x} {y}V{turn if over else to_y}{over}" stroke="{colours[place]}"{dashes}>'
        f"<title>{plain(edge.value)}: {plain(place)}</title></path>"
    )


def _row(
    row: Row, number: int, left: int, places: Mapping[str, str], colours: Mapping[str, str], shorts: Mapping[str, str]
) -> str:
    x, y = _at(row.lane, number)
    place = places[row.writes[0]] if row.writes else ""
    fill = colours.get(place, NOWHERE)
    if row.step is None:
        texts, title, head = ("input", row.writes[0], "", place), row.writes[0], '<g class="row">'
    else:
        outputs = row.step["outputs"]
        shape = f"{outputs[0]['type']}{outputs[0]['shape']}" if outputs else ""
        texts = (f"{row.step['id']}  {row.step['op']}", nodes_of(row.step, shorts), shape.replace(" ", ""), place)
        title = ", ".join(row.step["onnx_nodes"] or [row.step["name"]])
        head = f'<g class="row" data-step="{row.step["id"]}">'
    ground = f'<rect class="ground" x="{left - 6}" y="{y - ROW // 2 + 2}" width="100%" height="{ROW - 4}" rx="5"/>'
    words = "".join(_texts(texts, left, y + 4))
    dot = f'<circle cx="{x}" cy="{y}" r="5" fill="{fill}"/>'
    return f"{head}<title>{plain(title)}</title>{ground}{dot}{words}</g>"


def _texts(texts: tuple[str, ...], left: int, y: int) -> Iterator[str]:
    for text, (column, width) in zip(texts, COLUMNS.items(), strict=True):
        most = int((width - 10) / CHARACTER)
        shown = text if len(text) <= most else shortened(text, most)
        yield f'<text class="{"head" if column == "operator" else "quiet"}" x="{left}" y="{y}">{plain(shown)}</text>'
        left += width


def _frames(lanes: Lanes, width: int, fused: str) -> Iterator[str]:
    """Around rows that follow each other and are one group."""
    numbered = ((number, row.step["group"] if row.step else "") for number, row in enumerate(lanes.rows))
    for group, members in groupby(numbered, key=lambda entry: entry[1]):
        numbers = [number for number, _ in members]
        if group and len(numbers) > 1:
            y, height = EDGE + numbers[0] * ROW + 1, len(numbers) * ROW - 2
            yield (
                f'<rect class="frame" x="4" y="{y}" width="{width - 8}" height="{height}" rx="8">'
                f"<title>run as one, {fused}</title></rect>"
            )


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
    names = [end["name"] for end in (*report["model"]["inputs"], *report["model"]["outputs"])]
    written = {tensor["name"] for step in steps for tensor in step["outputs"]}
    read = {name for step in steps for name in step["inputs"]}
    entering = sorted(read - written, key=lambda name: (names.index(name) if name in names else len(names), name))
    entries: list[Plain] = [(None, (), (name,)) for name in entering]
    entries += [(step, tuple(step["inputs"]), tuple(tensor["name"] for tensor in step["outputs"])) for step in steps]
    last = {name: number for number, (_, reads, _) in enumerate(entries) for name in reads}
    rows, busy = list[Row](), list[int]()
    for number, (step, reads, writes) in enumerate(entries):
        # The first lane whose value is read by nobody after this row, or else a new one.
        lane = next((lane for lane, until in enumerate(busy) if until <= number), len(busy))
        busy[lane : lane + 1] = [max((last.get(name, number) for name in writes), default=number)]
        rows.append(Row(step=step, reads=reads, writes=writes, lane=lane))
    return Lanes(rows=tuple(rows), edges=_edges(rows))


def _edges(rows: Sequence[Row]) -> tuple[Edge, ...]:
    writers = {name: number for number, row in enumerate(rows) for name in row.writes}
    return tuple(
        Edge(value=name, first=writers[name], last=number)
        for number, row in enumerate(rows)
        for name in dict.fromkeys(row.reads)
    )
