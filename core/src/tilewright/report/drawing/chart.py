"""Knows how panels are drawn, for pages and for documents: time to the right, bytes upwards, one box for each buffer.
Does not know where the plan comes from. Constants, which live always, are a strip of addresses instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tilewright.ir.rounding import ceil_div
from tilewright.report.drawing.labels import CHARACTER, LINE, label, plain, quoted
from tilewright.report.drawing.panels import Box, Panel, panels_of_report

WIDTH, HEIGHT, LEFT, RIGHT, TOP = 900, 340, 84, 150, 34
PLAIN_BOTTOM, NAMED_BOTTOM = 38, 96  # room for numbers of steps, or for their operators as well
MOST_NAMED = 48  # steps; with more, names would overlap
STRIP = 34
COLOURS = {
    "input": "#4c9be8",
    "output": "#3fb07f",
    "scratch": "#e5734d",
    "state": "#a678de",
    "tile": "#c9822b",
    "line buffer": "#d077b8",
    "constant": "#8d99ae",
    "staged": "#a9bce0",
    "resident": "#b3bccb",
}
SHADES = ("#f2c14e", "#f7d58b", "#edb12d", "#f5cd73", "#e9bd5b", "#f9e0ab")  # activations, so that neighbours differ
BLOCKS = ("#7fb7be", "#a3cfd3", "#5d9fa8", "#d3c0a4", "#b8a07a", "#93b48b", "#c2d6b4", "#c98b70")
STYLE = (
    "text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;font-size:11px;fill:#3a4150}"
    ".title{font-size:16px;font-weight:600;fill:#1d2330}.head{font-size:14px;font-weight:600;fill:#1d2330}"
    ".quiet{fill:#5f6878}.name,.name.quiet{fill:#1d2330}.grid{stroke:#e6e9ef}"
    ".box{stroke:#fff;stroke-width:.7}.name{pointer-events:none}.limit{stroke:#c92a3f;stroke-width:1.6}"
    ".limit-text{fill:#c92a3f}.bound{stroke:#1d2330;stroke-dasharray:5 4}"
    ".live{fill:none;stroke:#1d2330;stroke-width:1.4;stroke-opacity:.75;pointer-events:none}"
)


def report_svg(report: Mapping[str, Any]) -> str:
    """The plan of a report, for a document: memories that are written, then constants."""
    title = f"{report['model']['name']} on {report['target']['name']}"
    return plan_svg(sorted(panels_of_report(report), key=lambda panel: panel.constant), title)


def plan_svg(panels: Sequence[Panel], title: str = "") -> str:
    """All panels under each other, for a document. Nothing is loaded from anywhere; text is in the reader's font."""
    parts, top = [], 0
    if title:
        parts.append(f'<text x="{LEFT}" y="24" class="title">{plain(title)}</text>{_legend(panels)}')
        top = 32
    for panel in panels:
        drawing, height = strip_svg(panel) if panel.constant else chart_svg(panel)
        parts.append(f'<g transform="translate(0 {top})">{drawing}</g>')
        top += height + 14
    width = LEFT + WIDTH + RIGHT
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{max(top, 1)}" '
        f'viewBox="0 0 {width} {max(top, 1)}">\n<style>{STYLE}</style>\n'
        '<rect width="100%" height="100%" fill="#fff"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def chart_svg(panel: Panel) -> tuple[str, int]:
    """Boxes over time, the bytes alive, the lower bound and the limit; and how high the drawing is."""
    shown = panel.limit is not None and panel.limit <= 2 * panel.used
    scale = HEIGHT / (max(panel.used, panel.limit or 0 if shown else 0, 1) * 1.04)
    wide = WIDTH / len(panel.times)
    base = TOP + HEIGHT
    parts = [f'<text x="{LEFT}" y="18" class="head">{plain(_title(panel))}</text>']
    parts += _axes(panel, base, scale, wide)
    for number, box in enumerate(panel.boxes):
        x, y = LEFT + box.first * wide, base - box.high * scale
        width, height = (box.last - box.first + 1) * wide, box.size * scale
        named = min(width, height) > LINE
        seen = (panel.seen(number) - box.first + 1) * wide if named else width
        parts.append(_box(box, number, (x, y, width, height), seen))
    parts.append(f'<path class="live" d="{_staircase(panel.live, base, scale, wide)}"/>')
    close = shown and panel.limit is not None and (panel.limit - panel.bound) * scale < 14
    parts += _level(panel.bound, "bound", f"lower bound {panel.bound:,}", base, scale, 9 if close else 0)
    if shown and panel.limit is not None:
        parts += _level(panel.limit, "limit", f"limit {panel.limit:,}", base, scale, -4)
    return "\n".join(parts), TOP + HEIGHT + bottom(panel)


def bottom(panel: Panel) -> int:
    """Room below the boxes."""
    return NAMED_BOTTOM if _named(panel) else PLAIN_BOTTOM


def _named(panel: Panel) -> bool:
    return 0 < len(panel.operators) <= MOST_NAMED


def strip_svg(panel: Panel) -> tuple[str, int]:
    """A pool whose content never changes: addresses from left to right; and how high the drawing is."""
    scale = WIDTH / max(panel.used, 1)
    parts = [f'<text x="{LEFT}" y="18" class="head">{plain(_title(panel))}</text>']
    for number, box in enumerate(panel.boxes):
        parts.append(_box(box, number, (LEFT + box.low * scale, TOP, box.size * scale, STRIP), box.size * scale))
    for share in (0, 0.25, 0.5, 0.75, 1):
        x = LEFT + share * WIDTH
        anchor = "start" if share == 0 else "end" if share == 1 else "middle"
        parts.append(
            f'<text x="{x:.1f}" y="{TOP + STRIP + 15}" class="quiet" text-anchor="{anchor}">'
            f"{round(share * panel.used):,}</text>"
        )
    return "\n".join(parts), TOP + STRIP + 22


def kinds(panels: Sequence[Panel]) -> list[tuple[str, str]]:
    """Every kind of buffer that is drawn, and its colour."""
    shade = {"activation": SHADES[0], "block": BLOCKS[0]}
    present = sorted({box.kind for panel in panels for box in panel.boxes})
    return [(kind, COLOURS.get(kind) or shade.get(kind, SHADES[0])) for kind in present]


def _legend(panels: Sequence[Panel]) -> str:
    parts, x = [], float(LEFT + WIDTH)
    for kind, fill in reversed(kinds(panels)):
        x -= len(kind) * CHARACTER + 28
        parts.append(f'<rect x="{x:.1f}" y="14" width="12" height="12" rx="2" fill="{fill}"/>')
        parts.append(f'<text x="{x + 17:.1f}" y="24">{plain(kind)}</text>')
    return "".join(parts)


def colour(box: Box, number: int) -> str:
    """By kind; activations and blocks of unknown kind in shades."""
    if box.kind == "block":
        return BLOCKS[number % len(BLOCKS)]
    return COLOURS.get(box.kind) or SHADES[number % len(SHADES)]


def _title(panel: Panel) -> str:
    limit = (
        "no limit" if panel.limit is None else f"of {panel.limit:,} B, {100 * panel.used / max(panel.limit, 1):.1f} %"
    )
    if panel.constant:
        return f"{panel.pool}  {panel.used:,} B ({limit}), {len(panel.boxes)} constants"
    proof = (
        "optimal"
        if panel.optimal
        else f"{100 * (panel.used - panel.bound) / max(panel.bound, 1):.1f} % above its bound"
    )
    return f"{panel.pool}  {panel.used:,} B ({limit}), {proof}"


def _axes(panel: Panel, base: int, scale: float, wide: float) -> list[str]:
    parts = []
    step = _round_step(panel.used)
    for value in range(0, panel.used + 1, step):
        y = base - value * scale
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{LEFT + WIDTH}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" class="quiet" text-anchor="end">{value:,}</text>')
    parts += _step_names(panel, base, wide) if _named(panel) else _step_numbers(panel, base, wide)
    parts.append(f'<text x="{LEFT - 8}" y="{TOP - 8}" class="quiet" text-anchor="end">bytes</text>')
    return parts


def _step_names(panel: Panel, base: int, wide: float) -> list[str]:
    parts = []
    for number, (time, operator) in enumerate(zip(panel.times, panel.operators, strict=True)):
        x, y = LEFT + (number + 0.5) * wide, base + 14
        turn = f'transform="rotate(-45 {x:.1f} {y})"'
        parts.append(
            f'<text x="{x:.1f}" y="{y}" class="quiet" text-anchor="end" {turn}>{plain(f"{time}  {operator}")}</text>'
        )
    return parts


def _step_numbers(panel: Panel, base: int, wide: float) -> list[str]:
    parts = []
    every = max(1, ceil_div(len(panel.times) * 34, WIDTH))
    if max(map(len, panel.times)) > 4:
        every *= 2
    for number in range(0, len(panel.times), every):
        x = LEFT + (number + 0.5) * wide
        time = plain(panel.times[number])
        parts.append(f'<text x="{x:.1f}" y="{base + 16}" class="quiet" text-anchor="middle">{time}</text>')
    parts.append(f'<text x="{LEFT + WIDTH}" y="{base + 32}" class="quiet" text-anchor="end">step</text>')
    return parts


def _round_step(most: int) -> int:
    """About five ticks at multiples of a power of two, as memories are."""
    step = 1
    while most // step > 6:
        step *= 2
    return step


def _box(box: Box, number: int, place: tuple[float, float, float, float], seen: float) -> str:
    """`seen`: how much of its width has room for a name."""
    x, y, width, height = place
    title = f"{box.kind} {box.name}: {box.size:,} B at {box.low:,}, {box.life}"
    note = f" data-note={quoted(box.note)}" if box.note else ""
    rectangle = (
        f'<rect class="box" data-name={quoted(box.name)} data-kind="{plain(box.kind)}" data-size="{box.size}" '
        f'data-low="{box.low}" data-life={quoted(box.life)}{note} x="{x:.2f}" y="{y:.2f}" width="{width:.2f}" '
        f'height="{height:.2f}" fill="{colour(box, number)}"><title>{plain(title)}</title></rect>'
    )
    return rectangle + "".join(label(box.short or box.name, box.size, (x, y, seen, height)))


def _staircase(live: Sequence[int], base: int, scale: float, wide: float) -> str:
    points = [f"M{LEFT} {base}"]
    for number, size in enumerate(live):
        y = base - size * scale
        points.append(f"V{y:.1f}H{LEFT + (number + 1) * wide:.1f}")
    return "".join(points) + f"V{base}"


def _level(size: int, kind: str, text: str, base: int, scale: float, shift: int) -> list[str]:
    """A line across, with its name in the right margin. The margins of two lines at one height do not collide."""
    y = base - size * scale
    return [
        f'<line class="{kind}" x1="{LEFT}" x2="{LEFT + WIDTH + 6}" y1="{y:.1f}" y2="{y:.1f}"/>',
        f'<text class="{kind}-text" x="{LEFT + WIDTH + 10}" y="{y + 4 + shift:.1f}">{text}</text>',
    ]
