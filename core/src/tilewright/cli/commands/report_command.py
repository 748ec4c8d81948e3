"""Knows `tilewright report`: a report.json shown again."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from tilewright.cli.option import examples, option
from tilewright.cli.output import hand_over, say
from tilewright.errors import TilewrightError, usage_error

SCHEMA = "report-2.json"  # the end of its name in `report_json`, which takes long to import
STEP_COLUMNS = ("id", "name", "op", "kernel", "engine", "macs", "peak_bytes")


@click.command("report", epilog=examples("report model/report.json", "report model/report.json --format svg"))
@click.argument("file", type=click.Path(path_type=Path))
@option("--format", "form", type=click.Choice(["text", "md", "csv", "svg", "html"]), default="text", show_default=True)
def command(file: Path, form: str) -> None:
    """Show FILE (a report.json) as text, Markdown, a CSV of its layers, an SVG of the memory plan, or a page."""
    report = read_report(file)
    with complete(str(file)):
        _show(report, form)


def _show(report: dict[str, Any], form: str) -> None:
    from tilewright.report.cycles import front_table
    from tilewright.report.text import layer_parts, summary_parts

    if form == "text":
        front = front_table(report)
        say(*summary_parts(report), "", *front, *(("",) if front else ()), *layer_parts(report))
    elif form == "md":
        hand_over(_markdown(report))
    elif form == "csv":
        hand_over(_csv(report).rstrip("\n"))
    elif form == "svg":
        from tilewright.report.drawing.chart import report_svg

        hand_over(report_svg(report).rstrip("\n"))
    else:
        from tilewright.report.drawing.html import report_page

        hand_over(report_page(report).rstrip("\n"))


def read_report(file: Path) -> dict[str, Any]:
    """A report, or TilewrightError TW1109 (exit 2) that says what is wrong with the file."""
    try:
        report = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise _no_report("cannot read the report", str(file), error.strerror or "") from None
    except ValueError as error:
        raise _no_report("the report is no JSON", str(file), str(error)) from None
    schema = str(report.get("schema", "")).rpartition("/")[2] if isinstance(report, dict) else ""
    if schema == "group-1.json":
        raise _of_a_group(str(file))
    if schema != SCHEMA and re.fullmatch(r"report-\d+\.json", schema):
        raise _no_report("the report is of another version of tilewright", str(file), f"{schema}; this reads {SCHEMA}")
    if not isinstance(report, dict) or schema != SCHEMA:
        raise _no_report("the file is no tilewright report", str(file))
    return report


@contextmanager
def complete(place: str) -> Iterator[None]:
    """TilewrightError TW1109 (exit 2) where a report lacks what is looked up in it: edited, or of another program."""
    try:
        yield
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise _no_report("a report is not complete", place, f"not there, or of another kind: {error}") from error


def _of_a_group(place: str) -> TilewrightError:
    details = ("it has a report of each model, under `models`; a single model's is what is shown and compared",)
    fix = ("give the report of one model: `tilewright check MODEL --target NAME --json report.json` writes it",)
    return usage_error("TW1109", "the file is the report of a group of models", where=place, details=details, fix=fix)


def _no_report(message: str, place: str, *details: str) -> TilewrightError:
    fix = "give the report.json that `tilewright compile` wrote"
    return usage_error("TW1109", message, where=place, details=details, fix=(fix,))


def _markdown(report: dict[str, Any]) -> str:
    from tilewright.report.text import shown_names, summary

    shorts = shown_names(report)
    lines = ["```", summary(report), "```", "", "| step | name | operator | kernel | MACs | live bytes |"]
    lines.append("|---:|---|---|---|---:|---:|")
    lines += [
        "| {id} | {name} | {op} | {kernel} | {macs:,} | {peak_bytes:,} |".format_map(
            {**step, "name": shorts[step["name"]].replace("|", r"\|")}
        )
        for step in report["steps"]
    ]
    return "\n".join(lines)


def _csv(report: dict[str, Any]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    executed = ("estimated_instructions",) if "instructions" in report else ()
    writer.writerow([*STEP_COLUMNS, *executed, "estimated_cycles", "onnx_nodes"])
    for step in report["steps"]:
        row = [step[column] for column in STEP_COLUMNS]
        row += [step["instructions"]["total"]] if executed else []
        writer.writerow([*row, step["cycles"]["total"], " ".join(step["onnx_nodes"])])
    return text.getvalue()
