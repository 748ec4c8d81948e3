"""The picture of a memory plan shows what the report says, to scale, whatever names a model has."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import Any

import pytest

from tilewright.report.picture import HEIGHT, LEFT, WIDTH, memory_plan_svg

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
    }


def report(*buffers: dict[str, Any], steps: int = 4, limit: int | None = None, used: int = 1000) -> dict[str, Any]:
    pool = {"kind": "ram", "used_bytes": used, "limit_bytes": limit, "lower_bound_bytes": 800, "optimal": False}
    return {
        "model": {"name": "net"},
        "target": {"name": "toy"},
        "pools": [{**pool, "name": "ram"}, {**pool, "name": "flash", "kind": "const"}],
        "steps": [{"id": index, "op": "Conv"} for index in range(steps)],
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
    """Rectangle of each buffer, by the start of its hover text."""
    found = {}
    for group in ET.fromstring(svg).iter(f"{SVG}g"):
        title, box = group.find(f"{SVG}title"), group.find(f"{SVG}rect")
        assert title is not None and title.text and box is not None
        name = title.text.rpartition(": ")[0]
        found[name] = tuple(float(box.attrib[key]) for key in ("x", "y", "width", "height"))
    return found  # type: ignore[return-value]  # four numbers each


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in ET.fromstring(svg).iter(f"{SVG}text")]


def test_rectangles_are_to_scale() -> None:
    found = boxes(memory_plan_svg(report(*PLAN)))
    assert set(found) == {"x", "/block/conv/Conv_output_0", "y"}
    x, conv, y = found["x"], found["/block/conv/Conv_output_0"], found["y"]
    assert x[3] == pytest.approx(0.4 * HEIGHT, abs=0.2)
    assert conv[3] == pytest.approx(0.6 * HEIGHT, abs=0.2)
    assert conv[1] + conv[3] == pytest.approx(x[1], abs=0.2)
    assert x[0] == pytest.approx(LEFT, abs=1.1)
    assert conv[2] == pytest.approx(WIDTH, abs=2.1)
    assert y[0] == pytest.approx(LEFT + WIDTH / 2, abs=1.1)


def test_it_says_what_the_pool_is() -> None:
    said = texts(memory_plan_svg(report(*PLAN, limit=1200)))
    assert "net on toy: memory 'ram'" in said
    assert "1,000 B of 1,200 B, lower bound 800 B (dashed), not proved to be optimal" in said
    assert {"input", "activation", "output"} <= set(said)
    assert not {"scratch", "constant"} & set(said)


def test_a_limit_that_is_near_is_drawn_and_one_far_away_is_not() -> None:
    assert '"#cf222e"' in memory_plan_svg(report(*PLAN, limit=1200))
    assert '"#cf222e"' not in memory_plan_svg(report(*PLAN, limit=120_000))


def test_names_are_shortened_from_the_left_and_never_longer_than_their_rectangle() -> None:
    said = texts(memory_plan_svg(report(*PLAN)))
    assert "block/conv/Conv_output_0" in said
    narrow = texts(memory_plan_svg(report(*PLAN, steps=40)))
    assert "block/conv/Conv_output_0" not in narrow


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "a & b", '"quoted"', "\u00e9t\u00e9", ";", "/", ""])
def test_any_name_gives_well_formed_xml(name: str) -> None:
    svg = memory_plan_svg(report(buffer(name, "activation", 0, 1000, 0, 3)))
    assert name in boxes(svg)
    assert "<script>" not in svg


@pytest.mark.parametrize("steps", [0, 1, 48, 49, 500])
def test_any_number_of_steps(steps: int) -> None:
    svg = memory_plan_svg(report(*PLAN, steps=steps))
    assert sum("Conv" in text and text[0].isdigit() for text in texts(svg)) == (steps if steps <= 48 else 0)


def test_nothing_to_draw() -> None:
    assert boxes(memory_plan_svg(report(used=0))) == {}
