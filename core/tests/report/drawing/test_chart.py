"""The picture of a memory plan shows what the report says, to scale, whatever names a model has."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from itertools import combinations
from math import dist
from typing import Any

import pytest

from tilewright.report.drawing.chart import COLOURS, HEIGHT, LEFT, SHADES, WIDTH, report_svg

SVG = "{http://www.w3.org/2000/svg}"


def buffer(name: str, kind: str, offset: int, size: int, first: int, last: int, pool: str = "ram") -> dict[str, Any]:
    return {
        "name": name,
        "kind": kind,
        "pool": pool,
        "offset_bytes": offset,
        "size_bytes": size,
        "first_step": first,
        "last_step": last,
        "values": [name],
    }


def report(*buffers: dict[str, Any], steps: int = 4, limit: int | None = None, used: int = 1000) -> dict[str, Any]:
    pool = {"kind": "ram", "used_bytes": used, "limit_bytes": limit, "lower_bound_bytes": 800, "optimal": False}
    return {
        "model": {"name": "net"},
        "target": {"name": "toy"},
        "pools": [{**pool, "name": "flash", "kind": "const"}, {**pool, "name": "ram"}],
        "steps": [
            {"id": index, "name": f"n{index}", "op": "Conv", "outputs": [], "onnx_nodes": []} for index in range(steps)
        ],
        "buffers": list(buffers),
    }


PLAN = (
    buffer("x", "input", 0, 400, 0, 0),
    buffer("/block/conv/Conv_output_0", "activation", 400, 600, 0, 3),
    buffer("y", "output", 0, 100, 2, 3),
    buffer("weights", "constant", 0, 900, 0, 3, pool="flash"),
    buffer("theirs", "input", 0, 900, 0, 3, pool=""),
)


def boxes(svg: str) -> dict[str, tuple[float, float, float, float]]:
    """Rectangle of each buffer, by name."""
    found = {}
    for box in ET.fromstring(svg).iter(f"{SVG}rect"):
        if box.get("class") == "box":
            found[box.attrib["data-name"]] = tuple(float(box.attrib[key]) for key in ("x", "y", "width", "height"))
    return found


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in ET.fromstring(svg).iter(f"{SVG}text")]


def lines(svg: str, kind: str) -> int:
    return sum(element.get("class") == kind for element in ET.fromstring(svg).iter(f"{SVG}line"))


def test_rectangles_are_to_scale() -> None:
    found = boxes(report_svg(report(*PLAN)))
    assert set(found) == {"x", "/block/conv/Conv_output_0", "y", "weights"}
    x, conv, y = found["x"], found["/block/conv/Conv_output_0"], found["y"]
    assert conv[3] / x[3] == pytest.approx(1.5, abs=0.01)
    assert x[3] + conv[3] == pytest.approx(HEIGHT / 1.04, abs=0.1)
    assert conv[1] + conv[3] == pytest.approx(x[1], abs=0.1)
    assert x[0] == pytest.approx(LEFT)
    assert conv[2] == pytest.approx(WIDTH)
    assert y[0] == pytest.approx(LEFT + WIDTH / 2)


def test_it_says_what_the_pools_are_and_which_kinds_are_drawn() -> None:
    said = texts(report_svg(report(*PLAN, limit=1200)))
    assert said[0] == "net on toy"
    assert "ram  1,000 B (of 1,200 B, 83.3 %), 25.0 % above its bound" in said
    assert {"lower bound 800", "limit 1,200", "input", "activation", "output", "constant"} <= set(said)
    assert "scratch" not in said


def test_memories_that_are_written_come_before_constants() -> None:
    heads = [text.split()[0] for text in texts(report_svg(report(*PLAN))) if " B (" in text]
    assert heads == ["ram", "flash"]


def test_a_limit_that_is_near_is_drawn_and_one_far_away_is_not() -> None:
    assert lines(report_svg(report(*PLAN, limit=1200)), "limit") == 1
    assert lines(report_svg(report(*PLAN, limit=120_000)), "limit") == 0


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "a & b", '"quoted"', "\u00e9t\u00e9", ";", "/", ""])
def test_any_name_gives_well_formed_xml(name: str) -> None:
    svg = report_svg(report(buffer(name, "activation", 0, 1000, 0, 3)))
    assert name in boxes(svg)
    assert "<script>" not in svg


@pytest.mark.parametrize("steps", [1, 48, 49, 500])
def test_operators_are_named_while_they_are_readable(steps: int) -> None:
    svg = report_svg(report(buffer("x", "activation", 0, 1000, 0, 0), steps=steps))
    assert sum("Conv" in text for text in texts(svg)) == (steps if steps <= 48 else 0)


def test_nothing_to_draw() -> None:
    assert boxes(report_svg(report(used=0))) == {}
    assert boxes(report_svg(report(steps=0))) == {}


def _lab(colour: str) -> tuple[float, float, float]:
    """CIELAB of an sRGB colour, in daylight."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    r, g, b = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    x, y, z = (
        (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505,
        0.2126 * r + 0.7152 * g + 0.0722 * b,
        (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.0890,
    )
    fx, fy, fz = (part ** (1 / 3) if part > 0.008856 else 7.787 * part + 16 / 116 for part in (x, y, z))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


def test_kinds_that_stand_side_by_side_are_told_apart() -> None:
    kinds = {**COLOURS, "activation": SHADES[0]}
    constants = {"constant", "staged", "resident"}  # greys: in memories of their own, or on both sides of a copy
    near = {
        (one, other)
        for one, other in combinations(kinds, 2)
        if not {one, other} <= constants and dist(_lab(kinds[one]), _lab(kinds[other])) < 24
    }
    assert near == set()
