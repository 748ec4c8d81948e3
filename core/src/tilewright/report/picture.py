"""Knows how a memory plan is drawn: steps to the right, bytes upwards, one rectangle for each buffer.
Does not know stages: it draws a report.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 840, 320  # of the area in which buffers are drawn, in pixels
LEFT, RIGHT, TOP, BOTTOM = 78, 22, 62, 96  # margins around it
MOST_NAMED_STEPS = 48  # beyond, names of steps would overlap
CHARACTER = 6.5  # width of one at the size of labels
LINE = 13  # height of one
KINDS = {  # kind -> fill, border
    "input": ("#cfe3f7", "#4a86bd"),
    "activation": ("#fbe3b4", "#c48a1a"),
    "output": ("#d3ecd0", "#4f9a4a"),
    "scratch": ("#f6cfc4", "#c4593a"),
    "state": ("#e2d6f0", "#8460b0"),
    "tile": ("#d8d8d8", "#777777"),
}
OTHER = ("#eeeeee", "#999999")
INK, FAINT, RED = "#24292f", "#8c959f", "#cf222e"


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """Where steps and bytes are on the paper. `top_bytes` is what the highest pixel stands for."""

    top: int
    steps: int
    top_bytes: int

    def x(self, step: float) -> float:
        """The left edge of a step."""
        return LEFT + step * WIDTH / self.steps

    def y(self, size_bytes: float) -> float:
        """The height of an address."""
        return self.top + TOP + HEIGHT - size_bytes * HEIGHT / self.top_bytes


def memory_plan_svg(report: Mapping[str, Any]) -> str:
    """An SVG with one panel for each memory that is written. Self-contained; text in the reader's font."""
    pools = [pool for pool in report["pools"] if pool["kind"] != "const" and pool["used_bytes"]]
    each = TOP + HEIGHT + BOTTOM
    size = f"{LEFT + WIDTH + RIGHT} {max(len(pools) * each, 1)}"
    width, height = size.split()
    panels = (_panel(report, pool, index * each) for index, pool in enumerate(pools))
    return "".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" width="{width}" height="{height}" '
            'font-family="system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif" font-size="11">\n',
            f'<rect width="{width}" height="{height}" rx="6" fill="#ffffff"/>\n',
            *(line for panel in panels for line in panel),
            "</svg>\n",
        )
    )


def _panel(report: Mapping[str, Any], pool: Mapping[str, Any], top: int) -> Iterator[str]:
    buffers = [item for item in report["buffers"] if item["pool"] == pool["name"] and item["size_bytes"]]
    limit = pool["limit_bytes"]
    near = limit is not None and limit <= 1.5 * pool["used_bytes"]
    frame = Frame(top=top, steps=max(len(report["steps"]), 1), top_bytes=limit if near else pool["used_bytes"])
    yield from _heading(report, pool, top)
    yield from _legend(buffers, top)
    yield from _axes(report["steps"], frame)
    for buffer in buffers:
        yield from _rectangle(buffer, frame)
    if near:
        yield _level(frame, limit, RED, "")
    yield _level(frame, pool["lower_bound_bytes"], INK, "5 4")


def _heading(report: Mapping[str, Any], pool: Mapping[str, Any], top: int) -> Iterator[str]:
    limit = "" if pool["limit_bytes"] is None else f" of {pool['limit_bytes']:,} B"
    title = f"{report['model']['name']} on {report['target']['name']}: memory '{pool['name']}'"
    yield _text(LEFT, top + 24, title, size=15, weight=600)
    yield _text(LEFT, top + 42, f"{pool['used_bytes']:,} B{limit}, {_verdict(pool)}", colour="#57606a", size=12)


def _verdict(pool: Mapping[str, Any]) -> str:
    if pool["used_bytes"] == pool["lower_bound_bytes"]:
        return "as low as any plan of these steps can be (dashed)"
    proved = "proved to be optimal" if pool["optimal"] else "not proved to be optimal"
    return f"lower bound {pool['lower_bound_bytes']:,} B (dashed), {proved}"


def _legend(buffers: Sequence[Mapping[str, Any]], top: int) -> Iterator[str]:
    kinds = [kind for kind in KINDS if any(buffer["kind"] == kind for buffer in buffers)]
    x = float(LEFT + WIDTH)
    for kind in reversed(kinds):
        x -= len(kind) * CHARACTER + 28
        fill, border = KINDS[kind]
        yield f'<rect x="{x:.1f}" y="{top + 32}" width="12" height="12" rx="2" fill="{fill}" stroke="{border}"/>'
        yield _text(x + 17, top + 42, kind)


def _axes(steps: Sequence[Mapping[str, Any]], frame: Frame) -> Iterator[str]:
    base = frame.y(0)
    for value in _ticks(frame.top_bytes):
        y = frame.y(value)
        yield f'<path d="M{LEFT} {y:.1f}H{LEFT + WIDTH}" stroke="#eaeef2"/>'
        yield _text(LEFT - 8, y + 4, f"{value:,}", anchor="end", colour="#57606a")
    yield f'<path d="M{LEFT} {base:.1f}H{LEFT + WIDTH}" stroke="{FAINT}"/>\n'
    if len(steps) > MOST_NAMED_STEPS:
        yield _text(LEFT, base + 18, "step 0", colour="#57606a")
        yield _text(LEFT + WIDTH, base + 18, f"step {len(steps) - 1}", anchor="end", colour="#57606a")
        return
    for index, step in enumerate(steps):
        x, y = frame.x(index + 0.5), base + 14
        label = escape(f"{index}  {step['op']}")
        turn = f'transform="rotate(-45 {x:.1f} {y:.1f})"'
        yield f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="end" fill="#57606a" {turn}>{label}</text>\n'


def _ticks(most: int) -> list[int]:
    """Four to eight round numbers from 0 to `most`."""
    step = 1
    while most / step > 8:
        step *= 2
    return list(range(0, most + 1, step))


def _level(frame: Frame, size_bytes: int, colour: str, dashes: str) -> str:
    y = frame.y(size_bytes)
    return f'<path d="M{LEFT} {y:.1f}H{LEFT + WIDTH}" stroke="{colour}" stroke-dasharray="{dashes}"/>\n'


def _rectangle(buffer: Mapping[str, Any], frame: Frame) -> Iterator[str]:
    fill, border = KINDS.get(buffer["kind"], OTHER)
    x, right = frame.x(buffer["first_step"]) + 1, frame.x(buffer["last_step"] + 1) - 1
    y, bottom = frame.y(buffer["offset_bytes"] + buffer["size_bytes"]), frame.y(buffer["offset_bytes"])
    width, height = max(right - x, 1), max(bottom - y, 1)
    place = f"{buffer['size_bytes']:,} B at {buffer['offset_bytes']:,}"
    hover = escape(f"{buffer['name']}: {place}, steps {buffer['first_step']} to {buffer['last_step']}")
    box = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
    yield f'<g><title>{hover}</title><rect {box} rx="2" fill="{fill}" stroke="{border}"/>'
    upright = width < height and width < 9 * CHARACTER
    length, breadth = (height, width) if upright else (width, height)
    yield from _label(buffer, (x + width / 2, y + height / 2), length, breadth, upright)
    yield "</g>\n"


def _label(
    buffer: Mapping[str, Any], centre: tuple[float, float], length: float, breadth: float, upright: bool
) -> Iterator[str]:
    """Name and size where they fit, turned upwards in narrow rectangles."""
    x, y = centre
    most = int((length - 6) / CHARACTER)
    size = f"{buffer['size_bytes']:,} B"
    name = _shortened(buffer["name"], most)
    lines = [line for line in (name, size) if len(line) <= most and len(line) >= 3][: int((breadth - 1) / LINE)]
    turn = f' transform="rotate(-90 {x:.1f} {y:.1f})"' if upright else ""
    for index, line in enumerate(lines):
        down = y + 4 + (index - (len(lines) - 1) / 2) * LINE
        faint = ' fill="#57606a"' if line == size else f' fill="{INK}"'
        yield f'<text x="{x:.1f}" y="{down:.1f}" text-anchor="middle"{faint}{turn}>{escape(line)}</text>'


def _shortened(name: str, most: int) -> str:
    """As much of a path's end as fits; of names that a converter joined with `;` the first is taken."""
    first = name.split(";", maxsplit=1)[0].strip("/")
    parts = first.split("/")
    for start in range(len(parts)):
        ending = "/".join(parts[start:])
        if len(ending) <= most:
            return ending
    return f"{parts[-1][: most - 1]}…" if most >= 5 else ""


def _text(
    x: float, y: float, text: str, *, anchor: str = "start", colour: str = INK, size: int = 11, weight: int = 400
) -> str:
    style = f'text-anchor="{anchor}" fill="{colour}" font-size="{size}" font-weight="{weight}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{escape(text)}</text>\n'
