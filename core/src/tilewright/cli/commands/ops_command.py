"""Knows `tilewright ops`: the operators of a target, from the same objects that the compiler asks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from tilewright.cli.option import examples, option
from tilewright.cli.output import hand_over, say, send_json
from tilewright.report.plain_text import Table

if TYPE_CHECKING:
    from tilewright.ir.graphs.operator import Operator
    from tilewright.ir.machines.kernel import Kernel
    from tilewright.ir.machines.platform import Platform


@click.command("ops", epilog=examples("ops --target cortex-m4", "ops --format md"))
@option("-t", "--target", default="", metavar="NAME", help="Its kernels, too. Default: those for every target.")
@option("--format", "form", type=click.Choice(["text", "md", "json"]), default="text", show_default=True)
@option("--json", "json_target", metavar="FILE|-", help="The same as --format json, to a file.")
def command(target: str, form: str, json_target: str | None) -> None:
    """List every operator: the ONNX versions it is read from and the kernels of the target that compute it."""
    from tilewright.plugins.loading import load_for, load_packs

    registry = load_for(target=target) if target else load_packs()
    platform = registry.platforms[target] if target else None
    rows = [
        _row(operator, [kernel for kernel in registry.kernels.values() if _computes(kernel, operator, platform)])
        for operator in registry.operators.values()
    ]
    if json_target or form == "json":
        return send_json(rows, json_target or "-")
    header = ("operator", "from ONNX", "kernels", "what")
    table = [header, *((row["operator"], _onnx(row), _kernels(row), row["summary"]) for row in rows)]
    if form == "text":
        say(Table(rows=table))
        return None
    hand_over("| " + " | ".join(header) + " |\n|---|---|---|---|")
    for cells in table[1:]:
        hand_over("| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |")
    return None


def _computes(kernel: Kernel, operator: Operator, platform: Platform | None) -> bool:
    return kernel.computes == operator.name and (platform.runs(kernel.target) if platform else kernel.target == "*")


def _row(operator: Operator, kernels: list[Kernel]) -> dict[str, Any]:
    return {
        "operator": operator.name,
        "summary": operator.summary,
        "onnx": [
            {"op_type": item.op_type, "domain": item.domain, "since": item.since, "attributes": sorted(item.attributes)}
            for item in operator.imports
        ],
        "kernels": [
            {
                "name": kernel.name,
                "target": kernel.target,
                "constraint": (kernel.match.__doc__ or "").strip().split("\n")[0],
            }
            for kernel in kernels
        ],
    }


def _kernels(row: dict[str, Any]) -> str:
    return " ".join(kernel["name"] for kernel in row["kernels"]) or "none"


def _onnx(row: dict[str, Any]) -> str:
    """Such as `Clip-6.., Relu-6..`; made by rewriting where no ONNX operator becomes it directly."""
    oldest: dict[str, int] = {}
    for item in row["onnx"]:
        name = f"{item['domain']}.{item['op_type']}" if item["domain"] else item["op_type"]
        oldest[name] = min(item["since"], oldest.get(name, item["since"]))
    return ", ".join(f"{name}-{since}.." for name, since in sorted(oldest.items())) or "(by rewriting)"
