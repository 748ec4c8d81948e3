"""Knows `tilewright diff`: two reports side by side, and a gate for continuous integration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tilewright.cli.commands.report_command import complete, read_report
from tilewright.cli.option import examples, names_option, option
from tilewright.cli.output import demand_writable_files, send_result
from tilewright.errors import Exit, TilewrightError
from tilewright.report.plain_text import Part, Table


@click.command(
    "diff",
    epilog=examples(
        "diff before.json model/report.json", "diff before.json model/report.json --fail-on ram+2%,cycles+500"
    ),
)
@click.argument("old", type=click.Path(path_type=Path))
@click.argument("new", type=click.Path(path_type=Path))
@names_option(
    "--fail-on",
    "limits",
    default="",
    metavar="NAME+N%[,...]",
    help="Exit 9 when NAME grew by more, as ram+2%,cycles+500.",
)
@option("--json", "json_target", metavar="FILE|-", help="Write the differences as JSON.")
def command(old: Path, new: Path, limits: str, json_target: str | None) -> None:
    """Compare two reports: memory, cycles, layers. With --fail-on, exit 9 when something grew too much."""
    from tilewright.report.compare import differences, parse_gates

    demand_writable_files(json_target, read=(old, new))
    before, after = read_report(old), read_report(new)
    with complete(f"{old} or {new}"):
        growths = differences(before, after)
        shown = _shown(growths, before, after)
    gates = parse_gates(limits, [item.name for item in growths])
    broken = [(gate, item) for gate in gates for item in growths if item.name == gate.name and gate.broken_by(item)]
    rows = [{"name": item.name, "old": item.old, "new": item.new, "growth": item.growth} for item in growths]
    send_result({"differences": rows, "failed": [gate.name for gate, _ in broken]}, json_target, *shown)
    if broken:
        lines = tuple(
            f"{item.name} grew by {item.growth:,} ({item.percent:.2f} %), "
            f"allowed: {gate.most:,g}{' %' if gate.relative else ''}"
            for gate, item in broken
        )
        names = ", ".join(gate.name for gate, _ in broken)
        fix = ("accept it: compare with the new report from now on",)
        raise TilewrightError("TW5024", f"more than --fail-on allows: {names}", "", lines, fix, Exit.GATE)


def _shown(growths: Any, before: dict[str, Any], after: dict[str, Any]) -> tuple[Part, ...]:
    rows = [("", "old", "new", "growth", "")]
    for item in growths:
        percent = "" if not item.growth else "new" if not item.old else f"{item.percent:+.2f} %"
        rows.append(
            (item.name, _number(item.old), _number(item.new), f"{item.growth:+,}" if item.growth else "=", percent)
        )
    return (Table(rows=rows, right=(1, 2, 3, 4)), *_layers(before, after))


def _layers(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Steps that came, went, or are computed by another kernel now."""
    old = {step["name"]: step["kernel"] for step in before["steps"]}
    new = {step["name"]: step["kernel"] for step in after["steps"]}
    lines = [f"- step {name} ({kernel})" for name, kernel in old.items() if name not in new]
    lines += [f"+ step {name} ({kernel})" for name, kernel in new.items() if name not in old]
    lines += [
        f"~ step {name}: {old[name]} -> {kernel}" for name, kernel in new.items() if old.get(name, kernel) != kernel
    ]
    return lines


def _number(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"
