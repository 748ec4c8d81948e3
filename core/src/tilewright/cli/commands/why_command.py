"""Knows `tilewright why`: who could compute one step of a network, and why it is computed as it is."""

from __future__ import annotations

from typing import Any

import click

from tilewright.cli.flags import io_flag, model_flags, program_typed, target_of, typed_again
from tilewright.cli.log_display import PLANNING, working
from tilewright.cli.option import examples, option
from tilewright.cli.output import demand_writable_files, send_result, show_diagnostics
from tilewright.front_door.options_from_flags import files_read, options_from


@click.command(
    "why",
    epilog=examples("why model.onnx conv1 --target cortex-m4", "why model.onnx conv1 --target cortex-m4 --json -"),
)
@model_flags
@click.argument("step")
@io_flag("--io")
@option("--json", "json_target", metavar="FILE|-", help="Write what is known as JSON.")
def command(step: str, json_target: str | None, **flags: Any) -> None:
    """Why is STEP of MODEL computed as it is? Kernels that take it, their costs, every refusal, tiles and places.

    STEP is a name of `tilewright check --layers`, or a node of the model that became part of one.
    """
    from tilewright.deployment import Deployment
    from tilewright.report.why import why, why_parts

    context = click.get_current_context()
    again = typed_again(context, leave_out=("json_target", "step"))
    demand_writable_files(json_target, read=files_read(flags))
    options = options_from(flags)
    deployment = Deployment(flags["model"], target_of(flags, options), options)
    with working(PLANNING):
        facts = why(deployment, step, f"{program_typed(context)} check {again} --layers")
    show_diagnostics(deployment.diagnostics, flags["strict"])
    send_result(facts, json_target, *why_parts(facts))
