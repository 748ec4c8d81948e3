"""The page's text is readable in both themes, and steps tiled together say with which."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import Any

import pytest

from tilewright.report.drawing.chart import BLOCKS, COLOURS, SHADES, STYLE
from tilewright.report.drawing.html import report_page

CSS = (files("tilewright.report") / "page.css").read_text(encoding="utf-8")
LEAST = 4.5  # of text, by WCAG 2.2 AA
BOXES = (*COLOURS.values(), *SHADES, *BLOCKS)
PAIRS = (  # text on ground
    ("ink", "paper"), ("soft", "paper"), ("quiet", "paper"), ("bad", "paper"),
    ("ink", "ground"), ("soft", "ground"), ("quiet", "ground"), ("sign", "good"), ("sign", "bad"),
)  # fmt: skip


def luminance(colour: str) -> float:
    digits = colour.lstrip("#")
    digits = "".join(2 * digit for digit in digits) if len(digits) == 3 else digits
    parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def themes() -> list[dict[str, str]]:
    """The colours of the light theme, and those of the dark one."""
    blocks = re.findall(r":root \{(.*?)\}", CSS, re.DOTALL)
    light, dark = (dict(re.findall(r"--(\w+): (#\w+)", block)) for block in blocks)
    return [light, {**light, **dark}]


@pytest.mark.parametrize("theme", themes(), ids=["light", "dark"])
def test_text_is_readable(theme: dict[str, str]) -> None:
    assert {pair: contrast(theme[pair[0]], theme[pair[1]]) for pair in PAIRS if
            contrast(theme[pair[0]], theme[pair[1]]) < LEAST} == {}  # fmt: skip


def test_labels_are_readable_on_every_box_in_pages_and_in_documents() -> None:
    (in_page,) = re.findall(r"svg text\.name \{[^}]*fill: (#\w+)", CSS)
    (in_document,) = re.findall(r"\.name,\.name\.quiet\{fill:(#\w+)\}", STYLE)
    for label in (in_page, in_document):
        assert [box for box in BOXES if contrast(label, box) < LEAST] == []


def test_a_document_is_readable_on_white() -> None:
    rules = re.findall(r"([\w.,-]+)\{[^}]*fill:(#\w+)", STYLE)
    assert len(rules) > 4
    assert [rule for rule in rules if contrast(rule[1], "#fff") < LEAST] == []


def step(number: int, group: str, cycles: float) -> dict[str, Any]:
    return {
        "id": number, "name": f"n{number}", "op": "QConv", "onnx_nodes": [], "kernel": "k", "macs": 1,
        "peak_bytes": 8, "cycles": {"total": cycles, "kind": "estimate"}, "outputs": [], "group": group,
    }  # fmt: skip


def test_steps_tiled_together_say_with_which() -> None:
    report = {
        "tool": {"name": "tilewright", "version": "1"}, "target": {"name": "t"}, "plugins": [], "pools": [],
        "model": {"name": "net", "sha256": "0" * 64}, "plan_id": "0x1", "macs": 1, "constants_bytes": 0,
        "steps": [step(0, "a", 10.0), step(1, "b", 0.0), step(2, "b", 90.0)], "buffers": [], "diagnostics": [],
    }  # fmt: skip
    page = report_page(report)
    assert page.count(">in step 2</td>") == 1
    assert ">0.0 %<" not in page
    assert ">90.0 %<" in page
