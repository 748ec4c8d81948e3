"""The page of a report in a real browser: it draws, asks for nothing, answers the mouse, and stays readable."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from tilewright.allocate.best_fit import BestFit
from tilewright.allocate.solving import solved
from tilewright.ir.plans.allocation import Budget
from tilewright.report.drawing.chart import plan_svg
from tilewright.report.drawing.html import plan_page, report_page
from tilewright.report.drawing.panels import panels_of_plan
from tilewright.testing.allocation_problems import block, ram

CENTRE = """(name => {
  const box = [...document.querySelectorAll('.box')].find(box => box.dataset.name === name).getBoundingClientRect();
  return [box.x + box.width / 2, box.y + box.height / 2, box.width, box.height];
})(%s)"""


def _report(limit: int | None = 4096, name: str = "net") -> dict[str, Any]:
    """Three steps, two pools, one buffer whose name is hostile."""
    steps = [
        {
            "id": index, "name": f"/step{index}", "op": "QConv", "onnx_nodes": [f"/features/conv{index}"],
            "engine": "cpu", "kernel": "portable.qconv", "macs": 1000 * (3 - index) ** 2, "peak_bytes": 1024,
            "cycles": {"total": 100.0 + index, "kind": "estimate"}, "outputs": [{"name": f"v{index}"}],
        }
        for index in range(3)
    ]  # fmt: skip
    buffers = [
        ("</svg><script>alert(1)</script>", "input", "sram", 0, 512, 0, 0, []),
        ("v0", "activation", "sram", 512, 512, 0, 1, ["v0"]),
        ("v1", "activation", "sram", 0, 512, 1, 2, ["v1"]),
        ("v2", "output", "sram", 512, 256, 2, 2, ["v2"]),
        ("weights", "constant", "flash", 16, 2048, 0, 0, []),
    ]
    keys = ("name", "kind", "pool", "offset_bytes", "size_bytes", "first_step", "last_step", "values")
    ram_pool = {"name": "sram", "kind": "ram", "used_bytes": 1024, "limit_bytes": limit, "lower_bound_bytes": 1024}
    flash = {"name": "flash", "kind": "const", "used_bytes": 2064, "limit_bytes": None, "lower_bound_bytes": 2064}
    return {
        "schema": "https://tilewright.dev/schema/report-2.json",
        "tool": {"name": "tilewright", "version": "0.1.0"}, "target": {"name": "generic"}, "plugins": [],
        "model": {"name": name, "sha256": "0" * 64}, "plan_id": "0x00000001", "macs": 14000,
        "constants_bytes": 2048, "steps": steps,
        "pools": [{**ram_pool, "optimal": True}, {**flash, "optimal": True}],
        "buffers": [dict(zip(keys, values, strict=True)) for values in buffers],
        "diagnostics": [
            {"code": "TW3001", "severity": "warning", "message": "a <b>warning</b>", "where": "/x",
             "details": ["why"], "fix": ["do this"]}
        ],
    }  # fmt: skip


def test_it_renders_and_answers_the_mouse(browser: Any, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text(report_page(_report()), encoding="utf-8")
    browser.open(file, height=1400)
    assert browser.complaints == []
    assert browser.requested == [file.as_uri()]
    assert browser.value("document.querySelector('.verdict').textContent") == "fits"
    assert browser.value("document.querySelectorAll('figure svg').length") == 2
    assert browser.value("document.querySelectorAll('.box').length") == 5
    assert browser.value("document.getElementById('tip').hidden") is True
    x, y, width, height = browser.value(CENTRE % json.dumps("v1"))
    assert width > 400 and height > 100
    browser.hover(x, y)
    tip = browser.value("document.getElementById('tip').innerText")
    said = tip.splitlines()
    assert said[:4] == ["v1", "activation, 512 B at 0 to 512", "steps 1 to 2", "ONNX: /features/conv1"]
    assert said[4:] in (["step 1: 1,024 B alive"], ["step 2: 768 B alive"])
    assert browser.value("document.querySelectorAll('.lit').length") == 1
    assert browser.value("document.querySelectorAll('.cross').length") == 1
    browser.hover(5, 5)
    assert browser.value("document.getElementById('tip').hidden") is True
    assert len(browser.picture()) > 20_000


def test_a_hostile_name_is_only_a_name(browser: Any, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text(report_page(_report(name='"><img src=http://x/y onerror=alert(1)>')), encoding="utf-8")
    browser.open(file)
    assert browser.complaints == []
    assert len(browser.requested) == 1
    assert browser.value("document.scripts.length") == 1
    assert browser.value("document.images.length") == 0


def test_the_layer_table_sorts(browser: Any, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text(report_page(_report()), encoding="utf-8")
    browser.open(file, height=1600)
    order = "[...document.querySelectorAll('tbody tr')].map(row => row.dataset.step).join('')"
    assert browser.value(order) == "012"
    rectangle = "(e => { const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2] })"
    place = browser.value(f"{rectangle}(document.querySelectorAll('th')[5])")
    browser.click(*place)
    assert browser.value(order) == "210"
    browser.click(*place)
    assert browser.value(order) == "012"


def _network(report: dict[str, Any]) -> dict[str, Any]:
    """The same, with what each step reads."""
    names = ["</svg><script>alert(1)</script>", "v0", "v1"]
    for step, name in zip(report["steps"], names, strict=True):
        step["inputs"], step["group"] = [name], "g"
        step["outputs"] = [{**step["outputs"][0], "type": "i8", "shape": [1, 8]}]
    report["model"] |= {"inputs": [], "outputs": []}
    return report


@pytest.mark.parametrize("width", [360, 768, 1280])
def test_the_network_is_drawn_and_layers_are_found(browser: Any, tmp_path: Path, width: int) -> None:
    file = tmp_path / "report.html"
    file.write_text(report_page(_network(_report())), encoding="utf-8")
    browser.open(file, width=width)
    assert browser.complaints == []
    assert browser.value("document.documentElement.scrollWidth") <= width
    assert browser.value("document.querySelectorAll('#network .row').length") == 4
    assert browser.value("document.querySelectorAll('#network .frame').length") == 2  # and in the legend
    lies = "outputs may lie over what their steps have read"
    assert lies in browser.value("document.querySelector('#plan .legend').textContent")
    assert "run as one, row by row" in browser.value("document.querySelector('#network .legend').textContent")
    shown = (
        "[...document.querySelectorAll('#layers tbody tr')].filter(r => r.offsetHeight).map(r => r.dataset.step).join()"
    )
    assert browser.value(shown) == "0,1,2"
    browser.value("document.getElementById('find-layer').focus()")
    browser.send("Input.insertText", text="CONV1")
    assert browser.value(shown) == "1"


def test_paper_is_light_and_shows_all(browser: Any, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text(report_page(_network(_report())), encoding="utf-8")
    dark = [{"name": "prefers-color-scheme", "value": "dark"}]
    browser.send("Emulation.setEmulatedMedia", media="print", features=dark)
    browser.open(file, width=768)
    ink = browser.value("getComputedStyle(document.querySelector('h1')).color")
    fields = browser.value("[...document.querySelectorAll('input')].filter(one => one.offsetHeight).length")
    clipped = browser.value("[...document.querySelectorAll('.wide, figure')].map(e => getComputedStyle(e).overflowX)")
    browser.send("Emulation.setEmulatedMedia", media="", features=[])
    assert (ink, fields, set(clipped)) == ("rgb(29, 35, 48)", 0, {"visible"})


def test_what_is_too_large_is_seen(browser: Any, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text(report_page(_report(limit=1000)), encoding="utf-8")
    browser.open(file)
    assert browser.value("document.querySelector('.verdict').textContent") == "does not fit"
    assert browser.value("document.querySelectorAll('.bar.over').length") == 1
    assert browser.value("document.querySelectorAll('svg .limit').length") == 1


@pytest.fixture(scope="module")
def crowd() -> Any:
    chance = random.Random(3)
    blocks = []
    for index in range(500):
        first = chance.randrange(300)
        blocks.append(
            block(f"/layer{index}/output", 64 * chance.randrange(1, 200), first, first + chance.randrange(1, 40))
        )
    problem = ram(*blocks)
    return problem, solved(problem, BestFit(), Budget(work=20_000))


@pytest.mark.slow
def test_five_hundred_buffers_stay_readable(browser: Any, tmp_path: Path, crowd: Any) -> None:
    """No label leaves its box, no two labels of the time axis touch, and every box answers."""
    problem, solution = crowd
    file = tmp_path / "plan.html"
    file.write_text(plan_page("500 buffers", "", panels_of_plan(problem, solution)), encoding="utf-8")
    browser.open(file)
    assert browser.complaints == []
    assert browser.value("document.querySelectorAll('.box').length") == 500
    escaped = browser.value(
        "[...document.querySelectorAll('.name')].filter(text => text.getBoundingClientRect().right > "
        "text.previousElementSibling.getBoundingClientRect().right + 1).length"
    )
    assert escaped == 0
    touching = browser.value(
        "(() => { const r = [...document.querySelectorAll('svg text.quiet[text-anchor=middle]')]"
        ".map(t => t.getBoundingClientRect()); return r.slice(1).filter((b, i) => b.left < r[i].right + 2).length })()"
    )
    assert touching == 0
    smallest = min(problem.blocks, key=lambda item: item.size_bytes).name
    x, y, _, _ = browser.value(CENTRE % json.dumps(smallest))
    browser.hover(x, y)
    assert browser.value("document.querySelector('#tip b').textContent") == smallest


@pytest.mark.slow
def test_the_svg_for_documents_draws_too(browser: Any, tmp_path: Path, crowd: Any) -> None:
    problem, solution = crowd
    file = tmp_path / "plan.svg"
    file.write_text(plan_svg(panels_of_plan(problem, solution)), encoding="utf-8")
    browser.open(file)
    assert browser.complaints == []
    assert browser.value("document.querySelectorAll('.box').length") == 500


LONG = "model/activation/Relu;model/batch_normalization/FusedBatchNormV3;model/conv2d/BiasAdd/ReadVariableOp"


@pytest.mark.parametrize("width", [360, 400, 768, 1320])
def test_nothing_leaves_the_page_at_any_width(browser: Any, tmp_path: Path, width: int) -> None:
    """What is wider than the screen, a table or a drawing, scrolls in a box of its own."""
    report = _report(name=LONG)
    report["steps"][0]["onnx_nodes"] = [LONG, LONG]
    report["model"]["inputs"] = [{"name": LONG, "type": "i8", "shape": [1, 32, 32, 3], "scale": 0.1, "zero_point": -3}]
    report["diagnostics"] = [
        {"code": "TW1", "severity": "warning", "message": LONG, "where": LONG, "details": [LONG], "fix": [LONG]}
    ]
    file = tmp_path / "report.html"
    file.write_text(report_page(report), encoding="utf-8")
    browser.open(file, width=width)
    assert browser.value("document.documentElement.scrollWidth") <= width
    outside = browser.value(
        "[...document.querySelectorAll('section > *, header *, .pool *, footer *')]"
        f".filter(e => e.getBoundingClientRect().right > {width}).map(e => e.outerHTML.slice(0, 90))"
    )
    assert outside == []


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 768, 1280])
def test_every_label_is_readable(browser: Any, tmp_path: Path, width: int, theme: str) -> None:
    report = _network(_report(limit=1000))
    report["model"]["inputs"] = [{"name": "x", "type": "i8", "shape": [8], "scale": 0.1, "zero_point": -3}]
    file = tmp_path / "report.html"
    file.write_text(report_page(report), encoding="utf-8")
    browser.theme(theme)
    browser.open(file, width=width)
    x, y, _, _ = browser.value(CENTRE % json.dumps("v1"))
    browser.hover(x, y)
    faint = browser.faint()
    browser.theme("")
    assert faint == []


@pytest.mark.slow
def test_a_label_that_is_hard_to_read_is_found(browser: Any, tmp_path: Path) -> None:
    file = tmp_path / "faint.html"
    file.write_text(
        """<body style="background: #fff"><p style="color: #999">grey</p><p style="color: #000; opacity: .3">thin</p>
        <div style="background: rgb(0 0 0 / .8)"><p style="color: #fff">fine</p><p style="color: #000">night</p></div>
        <svg width="90" height="60"><rect width="90" height="60" fill="#222"/><text y="40" fill="#000">box</text></svg>
        <p style="color: #999" hidden>gone</p><input placeholder="hint">
        <style>input { background: #fff } input::placeholder { color: #aaa; opacity: 1 }</style>""",
        encoding="utf-8",
    )
    browser.open(file)
    assert [label for label, _, _ in browser.faint()] == ["grey", "thin", "night", "box", "hint"]


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_labels_have_the_colour_that_is_readable_on_boxes(browser: Any, tmp_path: Path, theme: str) -> None:
    file = tmp_path / "report.html"
    file.write_text(report_page(_report()), encoding="utf-8")
    browser.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])
    browser.open(file)
    fills = browser.value("[...new Set([...document.querySelectorAll('.name')].map(e => getComputedStyle(e).fill))]")
    browser.send("Emulation.setEmulatedMedia", features=[])
    assert fills == ["rgb(29, 35, 48)"]
