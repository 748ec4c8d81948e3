"""Knows the page that shows a report: one file, nothing loaded from anywhere.
Does not know how a plan is drawn. Text is in `page.mako`, its looks in `page.css`, its behaviour in `page.js`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any

from tilewright import __version__
from tilewright.c_text.templates import template
from tilewright.report.cycles import cost_text, front_command, point_text, step_time
from tilewright.report.drawing.chart import LEFT, RIGHT, WIDTH, bottom, chart_svg, kinds, strip_svg
from tilewright.report.drawing.network import network_svg, place_colours
from tilewright.report.drawing.panels import Panel, panels_of_report
from tilewright.report.plain_text import json_text
from tilewright.report.text import meaning, nodes_of, piece_by_piece, shown_names, streaming_of


def report_page(report: Mapping[str, Any]) -> str:
    """The whole page for a report: verdict, pools, memory over time, layers, diagnostics, versions."""
    model, target = report["model"], report["target"]
    worst = max((d["severity"] == "error" for d in report["diagnostics"]), default=False)
    limited = [pool for pool in report["pools"] if pool["limit_bytes"] is not None and not pool.get("soft")]
    fits = all(pool["used_bytes"] <= pool["limit_bytes"] for pool in limited)
    return _page(
        title=model["name"],
        subtitle=(
            f"{len(report['steps'])} steps · {report['macs']:,} multiply-accumulates · "
            f"{report['constants_bytes']:,} B of constants · target {target['name']}"
            + (f" · {cost}" if (cost := cost_text(report)) else "")
        ),
        verdict="fits" if fits and not worst else "does not fit",
        panels=panels_of_report(report),
        report=report,
    )


def plan_page(title: str, subtitle: str, panels: Sequence[Panel]) -> str:
    """The page for an allocation problem: pools and memory over time."""
    return _page(title=title, subtitle=subtitle, verdict="", panels=panels, report=None)


def _page(*, title: str, subtitle: str, verdict: str, panels: Sequence[Panel], report: Mapping[str, Any] | None) -> str:
    folder = files("tilewright.report")
    page = template(folder.joinpath("page.mako").read_text("utf-8"), html=True)
    return str(
        page.render(
            title=title,
            subtitle=subtitle,
            verdict=verdict,
            panels=panels,
            largest=max((panel.used for panel in panels), default=0) or 1,
            drawings=[_drawing(panel) for panel in panels],
            kinds=kinds(panels),
            front=_front(report),
            front_command="" if report is None else front_command(report),
            tensors=[] if report is None else _tensor_rows(report["model"]),
            network="" if report is None else network_svg(report),
            places=[] if report is None else place_colours(report).items(),
            fused="" if report is None else _fused_text(report),
            steps=[] if report is None else _rows(report),
            diagnostics=[] if report is None else report["diagnostics"],
            facts=_facts(report),
            style=folder.joinpath("page.css").read_text("utf-8"),
            script=folder.joinpath("page.js").read_text("utf-8"),
        )
    )


def _drawing(panel: Panel) -> str:
    drawing, height = strip_svg(panel) if panel.constant else chart_svg(panel)
    width = LEFT + WIDTH + RIGHT
    frame = f'data-left="{LEFT}" data-width="{WIDTH}" data-steps="{len(panel.times)}" data-bottom="{bottom(panel)}"'
    live = (
        "" if panel.constant else f' data-live="{" ".join(map(str, panel.live))}" data-times="{" ".join(panel.times)}"'
    )
    return f'<svg viewBox="0 0 {width} {height}" {frame}{live} role="img">{drawing}</svg>'


def _tensor_rows(model: Mapping[str, Any]) -> list[tuple[str, str, str, str]]:
    """Inputs and outputs: which of both, name, type and shape, what stored integers stand for, how rows pass."""
    return [
        (word, item["name"], f"{item['type']}{item['shape']}", "; ".join(_remarks(item)))
        for word, key in (("input", "inputs"), ("output", "outputs"))
        for item in model.get(key, ())
    ]


def _remarks(item: Mapping[str, Any]) -> Iterator[str]:
    if "scale" in item:
        yield meaning(item)
    if "rows" in item:
        yield streaming_of(item)


def _rows(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Layers with what the table's bars need, as percentages. Of steps tiled together the last has the cycles, and the
    others name it: `within`.
    """
    steps = report["steps"]
    cycles = max(sum(step["cycles"]["total"] for step in steps), 1e-9)
    macs = max(sum(step["macs"] for step in steps), 1)
    shorts = shown_names(report)
    last = {step["group"]: step["id"] for step in steps if "group" in step}
    heaviest = max((step["peak_bytes"] for step in steps), default=0) or 1
    return [
        {
            **step,
            "nodes": nodes_of(step, shorts),
            "whole": ", ".join(step["onnx_nodes"] or [step["name"]]),
            "within": None if last.get(step.get("group"), step["id"]) == step["id"] else last[step["group"]],
            "share": 100 * step["cycles"]["total"] / cycles,
            "work": 100 * step["macs"] / macs,
            "time": step_time(step, report),
            "fill": 100 * step["peak_bytes"] / heaviest,
        }
        for step in steps
    ]


def _fused_text(report: Mapping[str, Any]) -> str:
    """How steps that run as one are computed; "" where none do."""
    groups = [step["group"] for step in report["steps"] if "group" in step]
    return piece_by_piece(report["steps"]) if len(set(groups)) < len(groups) else ""


def _front(report: Mapping[str, Any] | None) -> list[tuple[str, str, str, bool]]:
    """RAM, cycles, what to type, and whether it is this plan; nothing where there is one plan only."""
    points = report.get("front", ()) if report else ()
    rows = [
        (f"{point['ram_bytes']:,} B", f"{point['more_cycles_percent']:+.1f} %", point_text(point), point["chosen"])
        for point in points
    ]
    return rows if len(rows) > 1 else []


def _facts(report: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    if report is None:
        return [("tilewright", __version__)]
    allocation = report.get("allocation", {})
    facts = [
        (report["tool"]["name"], report["tool"]["version"]),
        *(
            (plugin["distribution"], plugin["version"])
            for plugin in report["plugins"]
            if plugin["distribution"] != "tilewright"
        ),
        ("plan", report["plan_id"]),
        ("model", f"sha256 {report['model']['sha256'][:16]}…"),
    ]
    if allocation:
        facts.append(("allocator", f"{allocation['allocator']}, plan of {allocation['found_by']}"))
    return facts


def report_files(report: Mapping[str, Any]) -> dict[str, bytes]:
    """`report.json` and the page that shows it."""
    return {"report.json": json_text(report).encode(), "report.html": report_page(report).encode()}
