"""Knows `tilewright compile`: from a model to a folder of C and a report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from tilewright.cli.flags import io_flag, model_flags, options_from
from tilewright.cli.output import json_text, progress, say, send_json, show_diagnostics
from tilewright.errors import usage_error

if TYPE_CHECKING:
    from tilewright.deployment import Deployment

STAGES = ("imported", "rewritten", "bound", "scheduled", "tiled", "allocated", "program")


@click.command("compile")
@model_flags
@io_flag("--io")
@click.option("-o", "--output", "folder", type=click.Path(path_type=Path), required=True, help="Folder to write to.")
@click.option("--json", "json_target", metavar="FILE|-", help="Also write the report there.")
@click.option(
    "--const-format",
    type=click.Choice(["auto", "incbin", "c", "bin"]),
    default="auto",
    show_default=True,
    help="How constants are stored.",
)
@click.option("--selftest", is_flag=True, help="Also generate a self-test with embedded vectors.")
@click.option(
    "--dump-after",
    multiple=True,
    type=click.Choice(STAGES),
    metavar="STAGE",
    help=f"Print a stage's value on stderr: {', '.join(STAGES)}.",
)
@click.option(
    "--export-state", multiple=True, metavar="STAGE=FOLDER", help="Save a stage's value, to edit or to compare."
)
@click.option("--import-state", "state", type=click.Path(path_type=Path), help="Continue from a saved value.")
@click.option("-q", "--quiet", is_flag=True, help="No progress, no tables.")
def command(
    folder: Path,
    json_target: str | None,
    const_format: Literal["auto", "incbin", "c", "bin"],
    selftest: bool,
    dump_after: tuple[str, ...],
    export_state: tuple[str, ...],
    state: Path | None,
    quiet: bool,
    **flags: Any,
) -> None:
    """Generate the C library for MODEL: sources, headers, constants, CMakeLists.txt, report.json and report.html."""
    from dataclasses import replace

    from tilewright.deployment import Deployment
    from tilewright.folder import demand_writable, demand_writable_file, write_folder
    from tilewright.report.build import build_report
    from tilewright.report.html import report_page
    from tilewright.report.text import layer_table, summary

    exports = _exports(export_state)
    for wanted in (folder, *exports.values()):
        demand_writable(wanted)
    if json_target and json_target != "-":
        demand_writable_file(Path(json_target))
    options = replace(options_from(flags), const_format=const_format, selftest=selftest)
    deployment = Deployment(flags["model"], flags["target"], options)
    if state is not None:
        deployment = deployment.import_state(state)
    report = build_report(deployment)
    show_diagnostics(deployment.diagnostics, flags["strict"])
    _dump(deployment, dump_after)
    pages = {"report.json": json_text(report).encode(), "report.html": report_page(report).encode()}
    files = {**deployment.artifact.files, **pages}
    write_folder(folder, files)
    for stage, target in exports.items():
        deployment.export_state(target, stage)
    if json_target:
        send_json(report, json_target)
    if not quiet:
        progress(summary(report))
        progress(layer_table(report))
        progress(f"wrote {len(files)} files")
    if json_target != "-":
        say(str(folder))


def _dump(deployment: Deployment, stages: tuple[str, ...]) -> None:
    for stage in stages:
        progress(_text_of(deployment, stage).rstrip("\n"))


def _text_of(deployment: Deployment, stage: str) -> str:
    from tilewright.dump import dump_text

    if stage == "program":
        return deployment.artifact.files[f"{deployment.prefix}.c"].decode()
    value = getattr(deployment, stage)
    return dump_text(value.graph if stage in ("imported", "rewritten") else value)


def _exports(requests: tuple[str, ...]) -> dict[str, Path]:
    """Stage -> folder."""
    exports = {}
    for request in requests:
        stage, equals, target = request.partition("=")
        if not equals or not target or stage not in STAGES[1:-1]:
            raise usage_error(
                "TW1101",
                f"'--export-state {request}' cannot be read",
                details=(f"STAGE is one of {', '.join(STAGES[1:-1])}",),
                fix=("write it as --export-state STAGE=FOLDER",),
            )
        exports[stage] = Path(target)
    return exports
