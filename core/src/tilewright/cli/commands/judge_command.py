"""Knows `tilewright judge`: who is right where tilewright and somebody else compute different values."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from tilewright.cli.flags import bind_flag, dim_flag, external_flag, limit_flag, network_flag, slide_flag
from tilewright.cli.log_display import JUDGING, verbose_flag, working
from tilewright.cli.option import examples, offered, option
from tilewright.cli.output import demand_writable_files, send_result

if TYPE_CHECKING:
    from tilewright.deployment import Deployment
    from tilewright.validation.judging import Frames


@click.command(
    "judge",
    epilog=examples(
        "judge model.onnx --against onnxruntime",
        "judge model.onnx --against onnxruntime --io vectors.npz --json verdict.json",
        "judge model.onnx --against device.npz",
        "judge model.onnx --against stream.npz --slide 'image[2]=2'",
    ),
)
@click.argument("model", type=click.Path(path_type=Path))
@option(
    "--against",
    required=True,
    metavar="RUNTIME|FILE.npz",
    help="The other side: a runtime as of `validate`, or values setK/out/TENSOR, of outputs or of any value inside.",
)
@option(
    "--io",
    "vectors",
    type=click.Path(path_type=Path),
    metavar="FILE.npz",
    help="Inputs setK/in/TENSOR. Default: those of --against FILE.npz, or else random ones.",
)
@option("--sets", type=click.IntRange(min=1), default=2, show_default=True, help="How many random sets; not with --io.")
@option(
    "-t",
    "--target",
    default="",
    metavar="NAME",
    help="Also with the graph passes of this target. Integers are the same on all.",
    shell_complete=offered("platform"),
)
@bind_flag
@dim_flag
@slide_flag
@option("--seed", type=int, default=0, show_default=True, help="Seed of random inputs.")
@network_flag
@limit_flag
@external_flag
@option("--json", "json_target", metavar="FILE|-", help="Write the verdict as JSON.")
@verbose_flag
def command(
    against: str, vectors: Path | None, sets: int, json_target: str | None, model: Path, target: str, **flags: Any
) -> None:
    """Say who is right where tilewright and another side differ: MODEL's first value that is not the same, computed
    exactly.

    tilewright's side is its references, which the generated code equals (`tilewright validate`). The value is computed
    in rational arithmetic over the scales of the file, from values on which both sides agree. With --slide the sets of
    inputs are the calls of one stream: both sides are judged on the window of each call.
    """
    from tilewright.cli.against import demand_known
    from tilewright.deployment import Deployment
    from tilewright.front_door.options_from_flags import reading_options_from
    from tilewright.network import importers_for
    from tilewright.plugins.loading import load_packs
    from tilewright.validation.judgement_text import demand_no_fault, judgement_data, judgement_parts
    from tilewright.validation.judging import judge_file, judge_runtime

    file = Path(against) if against.endswith(".npz") or Path(against).exists() else None
    demand_writable_files(json_target, read=(model, vectors, file))
    _demand_no_sets(file or vectors)
    options = reading_options_from(flags)
    registry = None if target else load_packs(welcome=importers_for(model, options))
    deployment = Deployment(model, target, options, registry)
    if file is None:
        demand_known(deployment, against)
    with working(JUDGING):
        if file is None:
            ask = partial(_asked, deployment, against)
            verdict, count = judge_runtime(deployment, vectors, sets, ask)
        else:
            verdict, count = judge_file(deployment, file, vectors)
    other = file.name if file else against
    send_result(judgement_data(verdict, other, count), json_target, *judgement_parts(verdict, other, count))
    demand_no_fault(verdict)


def _demand_no_sets(brought: Path | None) -> None:
    context = click.get_current_context()
    if brought is not None and context.get_parameter_source("sets") is ParameterSource.COMMANDLINE:
        raise click.UsageError(f"--sets counts random sets, and {brought} brings its own: leave one out", context)


def _asked(deployment: Deployment, runtime: str, frames: Frames) -> Frames:
    """What the runtime computes, with every value inside that has a name here."""
    from tilewright.cli.against import other_values

    names = {*deployment.imported.graph.tensors, *deployment.rewritten.graph.tensors}
    complete = [{**deployment.imported.bound, **frame} for frame in frames]
    return other_values(deployment, runtime, names, complete)
