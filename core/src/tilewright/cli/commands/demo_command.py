"""Knows `tilewright demo`: a trained network compiled, built, run and checked, with what comes in the wheel."""

from __future__ import annotations

from pathlib import Path

import click

from tilewright.cli.flags import runner_flag
from tilewright.cli.log_display import RUNNING, working
from tilewright.cli.option import examples, offered, option
from tilewright.cli.output import progress, say
from tilewright.errors import Exit, TilewrightError

_PACKAGE_OF_TARGET = "tilewright-cortexm"
_ON_AN_EMULATOR = 20  # images: each takes a while there


@click.command("demo", epilog=examples("demo", "demo --target cortex-m4 --on qemu-cortex-m", "demo -o digits"))
@option(
    "-t",
    "--target",
    default="generic",
    show_default=True,
    metavar="NAME",
    help="Target to compile for (`tilewright targets`).",
    shell_complete=offered("platform"),
)
@runner_flag
@option(
    "-o",
    "--output",
    "folder",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Also write the network and its C there.",
)
def command(target: str, runner_name: str, folder: Path | None) -> None:
    """Compile a trained network for handwritten digits, build it, run it on its test images, and check every bit.

    Needs a C compiler, and nothing from the network.
    """
    from tilewright.config.options import Options
    from tilewright.deployment import Deployment
    from tilewright.front_door.demonstration import NETWORK, demonstrated, network
    from tilewright.report.report_json import build_report
    from tilewright.report.text import layer_parts, summary_parts
    from tilewright.snapshot.atomic_folder import demand_writable, write_folder
    from tilewright.validation.runner_choice import ready_runner

    _demand_a_target(target)
    if folder:
        demand_writable(folder)
    deployment = Deployment(network(), target, Options(name="digits"))
    report = build_report(deployment)
    say(*summary_parts(report), "", *layer_parts(report), "")
    runner = ready_runner(deployment, runner_name)
    with working(RUNNING):
        tried = demonstrated(deployment, runner, None if runner.name == "host" else _ON_AN_EMULATOR)
    executed = "" if tried.instructions is None else f", {tried.instructions:,.0f} instructions each"
    say(
        f"ran {tried.images} test images with {runner.name}{executed}: {tried.correct} digits recognised, "
        f"{tried.equal} equal to the integer reference bit for bit"
    )
    if tried.equal < tried.images:
        raise TilewrightError(
            "TW6002",
            "validation failed: outputs differ from the reference",
            fix=("report it, with the output of `tilewright doctor`",),
            exit_code=Exit.MISMATCH,
        )
    if not folder:
        say(f"Next: tilewright demo --target {target} -o digits     keeps the network and its C")
        return
    write_folder(folder, {**deployment.files, NETWORK: network()})
    progress(f"wrote {folder}")
    say(f"Next: tilewright check {folder / NETWORK} --target {target} --layers")


def _demand_a_target(target: str) -> None:
    """TilewrightError TW8001 (exit 8) with the package that brings targets, where nobody has installed any."""
    from tilewright.errors import plugin_error
    from tilewright.plugins import discover

    if not discover().names("platform"):
        raise plugin_error("TW8001", f"target '{target}' is not installed", fix=(f"pip install {_PACKAGE_OF_TARGET}",))
