"""Knows how a memory plan is drawn: steps to the right, bytes upwards, one rectangle for each buffer.
Does not know stages: it draws a report.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from xml.sax.saxutils import escape

WIDTH, HEIGHT, LEFT, TOP = 760, 300, 80, 40
COLOURS = {
    "input": "#8ecae6",
    "output": "#90be6d",
    "activation": "#ffd166",
    "scratch": "#ef8a62",
    "state": "#cdb4db",
    "tile": "#f4a261",
}


def memory_plan_svg(report: Mapping[str, Any]) -> str:
    """An SVG with one panel for each memory that is written. Self-contained; text in the reader's font."""
    pools = [pool for pool in report["pools"] if pool["kind"] != "const" and pool["used_bytes"]]
    total = len(pools) * (HEIGHT + 2 * TOP)
    panels = [_panel(report, pool, index * (HEIGHT + 2 * TOP)) for index, pool in enumerate(pools)]
    size = f'width="{WIDTH + LEFT + 20}" height="{max(total, 1)}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="11">\n'
        '<rect width="100%" height="100%" fill="white"/>\n' + "".join(panels) + "</svg>\n"
    )


def _panel(report: Mapping[str, Any], pool: Mapping[str, Any], top: int) -> str:
    steps = max(len(report["steps"]), 1)
    peak = pool["used_bytes"]
    wide, high = WIDTH / steps, HEIGHT / peak
    base = top + TOP + HEIGHT
    title = f"{pool['name']}: {peak:,} B, lower bound {pool['lower_bound_bytes']:,} B"
    parts = [f'<text x="{LEFT}" y="{top + TOP - 14}" font-size="13">{escape(title)}</text>\n']
    for buffer in report["buffers"]:
        if buffer["pool"] != pool["name"] or not buffer["size_bytes"]:
            continue
        x = LEFT + buffer["first_step"] * wide
        y = base - (buffer["offset_bytes"] + buffer["size_bytes"]) * high
        width = (buffer["last_step"] - buffer["first_step"] + 1) * wide
        height = buffer["size_bytes"] * high
        parts.append(_rectangle(buffer, x, y, width, height))
    for share in (0.0, 0.5, 1.0):
        y = base - share * HEIGHT
        parts.append(f'<line x1="{LEFT - 4}" y1="{y:.1f}" x2="{LEFT}" y2="{y:.1f}" stroke="black"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{round(share * peak):,}</text>\n')
    bound = base - pool["lower_bound_bytes"] * high
    dashes = f'x1="{LEFT}" y1="{bound:.1f}" x2="{LEFT + WIDTH}" y2="{bound:.1f}"'
    parts.append(f'<line {dashes} stroke="black" stroke-dasharray="4 3"/>\n')
    parts.append(f'<text x="{LEFT}" y="{base + 16}">step 0</text>')
    parts.append(f'<text x="{LEFT + WIDTH}" y="{base + 16}" text-anchor="end">step {steps - 1}</text>\n')
    return "".join(parts)


def _rectangle(buffer: Mapping[str, Any], x: float, y: float, width: float, height: float) -> str:
    colour = COLOURS.get(buffer["kind"], "#dddddd")
    name = escape(buffer["name"])
    place = f"{buffer['size_bytes']:,} B at {buffer['offset_bytes']:,}"
    text = f"{name}: {place}, steps {buffer['first_step']}-{buffer['last_step']}"
    label = ""
    shown = name if len(name) * 6 < width else name[: max(int(width / 6) - 1, 0)]
    if shown and height > 12:
        label = f'<text x="{x + 3:.1f}" y="{y + min(height / 2 + 4, height - 3):.1f}">{escape(shown)}</text>'
    box = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
    return f'<rect {box} fill="{colour}" stroke="#444"><title>{text}</title></rect>{label}\n'
