"""Knows `tilewright check`: everything short of generating files."""

from __future__ import annotations

from typing import Any

import click

from tilewright.cli.flags import io_flag, model_flags, program_typed, target_of, typed_again
from tilewright.cli.log_display import LESS_MEMORY, PLANNING, working
from tilewright.cli.option import examples, option
from tilewright.cli.output import demand_writable_files, say, send_json, show_diagnostics
from tilewright.front_door.options_from_flags import files_read, options_from

_SHOWN = ("json_target", "layers", "front")  # parameters that change what is shown, and no plan


@click.command(
    "check",
    epilog=examples(
        "check model.onnx --target cortex-m4",
        "check model.onnx --target cortex-m4 --memory ram=64K --clock 80MHz --layers",
    ),
)
@model_flags
@io_flag("--io")
@option("--json", "json_target", metavar="FILE|-", help="Write the report as JSON.")
@option("--layers", is_flag=True, help="Show the layer table.")
@option("--front", is_flag=True, help="Show memory against cycles: this plan, others, and what to type for them.")
def command(json_target: str | None, layers: bool, front: bool, **flags: Any) -> None:
    """Will MODEL compile for the target, will it fit, and what will it cost? Writes nothing; needs no toolchain."""
    from tilewright.deployment import Deployment
    from tilewright.report.cycles import ends_hint, front_table, less_memory, no_front
    from tilewright.report.report_json import build_report
    from tilewright.report.streams import hop_costs, hop_parts, hops_json
    from tilewright.report.text import layer_parts, summary_parts

    demand_writable_files(json_target, read=files_read(flags))
    options = options_from(flags)
    deployment = Deployment(flags["model"], target_of(flags, options), options)
    with working(PLANNING):
        deployment.compile()  # what cannot be lowered or written must not pass
    with working(LESS_MEMORY):
        report = build_report(deployment, artifacts=False, front=True, further=front)
        hops = hop_costs(deployment)
        streamed = tuple(hop_parts(deployment, hops))
    show_diagnostics(deployment.diagnostics, flags["strict"])
    if json_target:
        send_json({**report, **hops_json(deployment, hops)}, json_target)
    if json_target == "-":
        return
    say(*summary_parts(report), *streamed)
    if layers:
        say("", *layer_parts(report))
    if front:
        say("", *(front_table(report) or (no_front(report),)), "")
    context = click.get_current_context()
    program = program_typed(context)
    checked = f"{program} check {typed_again(context, leave_out=(*_SHOWN, 'optimize'))}"
    less = tuple(less_memory(deployment.front, checked))
    if less:
        say(*less)
    again = typed_again(context, leave_out=_SHOWN)
    if not front and (hint := tuple(ends_hint(report, f"{program} check {again}"))):
        say(*hint)
    say(f"FITS.   Next: {program} compile {again} -o {deployment.prefix}")
