"""Knows `tilewright compile`: from a model to a folder of C and a report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from tilewright.cli.flags import io_flag, layout_flag, model_or_group_flags, target_of
from tilewright.cli.option import examples, names_option, option
from tilewright.cli.output import demand_apart, demand_writable_files, hand_over, progress, send_json, show_diagnostics
from tilewright.config.board_tools import with_project
from tilewright.config.package_facts import package_facts
from tilewright.errors import usage_error
from tilewright.front_door.options_from_flags import exporters_from, files_read, options_from

if TYPE_CHECKING:
    from tilewright.config.options import Options
    from tilewright.deployment import Deployment
    from tilewright.errors import Diagnostic
    from tilewright.report.plain_text import Part

_OF_ONE = {  # parameters that mean nothing for several models: their prefixes are in the group's file
    "name": "--name",
    "dump_after": "--dump-after",
    "export_state": "--export-state",
    "state": "--import-state",
}
STAGES = ("imported", "rewritten", "bound", "scheduled", "tiled", "allocated", "program")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    """What becomes of the result: where it is written, and how much is said about it."""

    folder: Path
    json_target: str | None
    exports: Mapping[str, Path]  # of stages, by their names
    front: bool  # the report has memory against cycles
    quiet: bool
    strict: bool

    def demand_writable(self, read: Sequence[Path | None]) -> None:
        """Before anything is worked out. TilewrightError (exit 2): TW1107 where a place cannot be written to, TW1125
        where that is one of the files that are read.
        """
        from tilewright.snapshot.atomic_folder import demand_writable

        for folder in (self.folder, *self.exports.values()):
            demand_writable(folder)
        demand_writable_files(self.json_target, read=read)

    def waiting(self) -> AbstractContextManager[None]:
        """While a plan is searched."""
        from tilewright.cli.log_display import PLANNING, working

        return working("" if self.quiet else PLANNING)

    def write(self, files: Mapping[str, bytes], diagnostics: Iterable[Diagnostic]) -> str:
        """Write everything, unless `strict` and there is a warning. What else to say: how many old files went."""
        from tilewright.snapshot.written_files import leftovers, write_files

        demand_apart(self.json_target, [self.folder / name for name in files if name != "report.json"])
        old = leftovers(self.folder, files)
        show_diagnostics((*diagnostics, *old.diagnostics), self.strict)
        write_files(self.folder, files, old.stale)
        return f", removed {len(old.stale)} of the run before" if old.stale else ""

    def tell(self, report: Mapping[str, Any], parts: Iterable[Part], written: str) -> None:
        """The report for programs, what it says for people, and the folder on stdout for a shell."""
        if self.json_target:
            send_json(report, self.json_target)
        if not self.quiet:
            progress(*parts)
            progress(written)
        if self.json_target != "-":
            hand_over(str(self.folder))


@click.command(
    "compile",
    epilog=examples(
        "compile model.onnx --target cortex-m4 -o model",
        "compile model.onnx --target cortex-m4 --emit zephyr,make --selftest -o model",
        "compile --group app.toml -o app",
    ),
)
@model_or_group_flags
@io_flag("--io")
@option("-o", "--output", "folder", type=click.Path(path_type=Path), required=True, help="Folder to write to.")
@option("--json", "json_target", metavar="FILE|-", help="Also write the report there.")
@option(
    "--front", is_flag=True, help="The report also has memory against cycles: this plan, others, what to type for them."
)
@option(
    "--const-format",
    type=click.Choice(["auto", "incbin", "c", "bin"]),
    default="auto",
    show_default=True,
    help="How constants are stored.",
)
@layout_flag
@names_option(
    "--emit",
    default="cmake",
    show_default=True,
    metavar="NAME,...",
    help="Build systems to write for: cmake, make, zephyr, platformio, arduino, esp-idf, cmsis-pack, or a plugin's "
    "exporter; project is a program for the tools of --board (by default with --board), bench measures on a board, and "
    "misra lists deviations from MISRA C:2012.",
)
@option(
    "--package",
    default="",
    metavar="KEY=VALUE,...",
    help="What generated packages are called: name, version, vendor, licence, url. Default: as the network, 0.0.0.",
)
@option("--selftest", is_flag=True, help="Also generate a self-test with embedded vectors.")
@option(
    "--dump-after",
    multiple=True,
    type=click.Choice(STAGES),
    metavar="STAGE",
    help=f"Print a stage's value on stderr: {', '.join(STAGES)}.",
)
@option("--export-state", multiple=True, metavar="STAGE=FOLDER", help="Save a stage's value, to edit or to compare.")
@option("--import-state", "state", type=click.Path(path_type=Path), help="Continue from a saved value.")
@option("-q", "--quiet", is_flag=True, help="No progress, no tables.")
@click.pass_context
def command(
    context: click.Context,
    /,
    group: Path | None,
    folder: Path,
    json_target: str | None,
    front: bool,
    dump_after: tuple[str, ...],
    export_state: tuple[str, ...],
    state: Path | None,
    quiet: bool,
    **flags: Any,
) -> None:
    """Generate the C library for MODEL: sources, headers, constants, build files, report.json and report.html."""
    wanted = _Wanted(
        folder=folder,
        json_target=json_target,
        exports=_exports(export_state),
        front=front,
        quiet=quiet,
        strict=flags["strict"],
    )
    wanted.demand_writable((group, *files_read(flags)))
    chosen = group is not None or context.get_parameter_source("emit") is not ParameterSource.DEFAULT
    options = _options(flags, chosen=chosen)
    _demand_what(context, group, flags)
    if group is None:
        _compile_model(flags["model"], target_of(flags, options), options, wanted, state, dump_after)
    elif options.emit != ("cmake",):
        raise click.UsageError("--group writes for CMake only: leave --emit out", context)
    else:
        _compile_group(group, options, wanted)


def _options(flags: Mapping[str, Any], *, chosen: bool) -> Options:
    """What the flags say, and a project for the board where nobody has chosen exporters."""
    options = replace(
        options_from(flags),
        const_format=flags["const_format"],
        layout=flags["layout"],
        emit=exporters_from(flags["emit"]),
        package=package_facts(flags["package"]),
        selftest=flags["selftest"],
    )
    return options if chosen else with_project(options)


def _demand_what(context: click.Context, group: Path | None, flags: dict[str, Any]) -> None:
    """Either a group, without what is about one model alone, or MODEL."""
    parameters = {parameter.name: parameter for parameter in context.command.params}
    if group is None:
        if flags["model"] is None:
            raise click.MissingParameter(ctx=context, param=parameters["model"], param_hint="'MODEL'")
        return
    typed_names = {name for name in context.params if context.get_parameter_source(name) is ParameterSource.COMMANDLINE}
    if typed_names & {"model", "target"}:  # a project's own target is for its single models
        raise click.UsageError("--group says which models and which target: leave MODEL and --target out", context)
    single = [flag for name, flag in _OF_ONE.items() if name in typed_names]
    if single:
        raise click.UsageError(f"{', '.join(single)}: of one model, not of --group: leave it out", context)


def _compile_model(
    model: Path, target: str, options: Options, wanted: _Wanted, state: Path | None, dumped: Sequence[str]
) -> None:
    """One model, from its file or from a value that was saved."""
    from tilewright.deployment import Deployment
    from tilewright.report.drawing.html import report_files
    from tilewright.report.report_json import build_report
    from tilewright.report.text import layer_parts, summary_parts

    deployment = Deployment(model, target, options)
    if state is not None:
        deployment = deployment.import_state(state)
    with wanted.waiting():
        report = build_report(deployment, front=wanted.front, further=wanted.front)
    files = {**deployment.files, **report_files(report)}
    for stage in dumped:
        hand_over(_text_of(deployment, stage).rstrip("\n"), err=True)
    stale = wanted.write(files, deployment.diagnostics)
    for stage, folder in wanted.exports.items():
        deployment.export_state(folder, stage)
    wanted.tell(report, (*summary_parts(report), *layer_parts(report)), f"wrote {len(files)} files{stale}")


def _compile_group(file: Path, options: Options, wanted: _Wanted) -> None:
    """Every model in a folder of its own, and the memory they share."""
    from tilewright.multi_model.manifest import deployments, group_files, group_report, read_group, shared_pools
    from tilewright.multi_model.shared_pools import soft_warnings
    from tilewright.report.plain_text import json_text

    group = read_group(file)
    members = deployments(group, options, file.parent)
    with wanted.waiting():
        pools = shared_pools(group, members)
        report = group_report(group, members, pools, front=wanted.front)
    soft = soft_warnings(pools, {prefix: member.allocated for prefix, member in members.items()})
    diagnostics = (*soft, *(item for member in members.values() for item in member.diagnostics))
    files = {**group_files(group, members, pools), "report.json": json_text(report).encode()}
    stale = wanted.write(files, diagnostics)
    wanted.tell(report, _group_parts(report), f"wrote {len(files)} files{stale}")


def _group_parts(report: Mapping[str, Any]) -> Iterator[Part]:
    """What each model takes of every shared pool, and how long it runs where the clock is known."""
    from tilewright.report.cycles import time_text
    from tilewright.report.plain_text import Table

    models = report["models"]
    rows = [("pool", "shared", *models)]
    rows += [
        (pool["name"], f"{pool['used_bytes']:,} B", *(f"{pool['models'].get(name, 0):,} B" for name in models))
        for pool in report["pools"]
    ]
    yield Table(rows=rows, right=range(1, 2 + len(models)))
    for name, model in models.items():
        if said := time_text(model):
            yield f"{name}: {said}"


def _text_of(deployment: Deployment, stage: str) -> str:
    from tilewright.snapshot.dump import dump_text

    if stage == "program":
        return deployment.artifact.files[f"{deployment.prefix}.c"].decode()
    if stage == "imported":
        return dump_text(deployment.imported.graph)
    return dump_text(getattr(deployment, "graph" if stage == "rewritten" else stage))  # of a saved state, its own


def _exports(requests: tuple[str, ...]) -> dict[str, Path]:
    """Stage -> folder. TilewrightError TW1101 (exit 2) where one of both is given twice."""
    exports: dict[str, Path] = {}
    for request in requests:
        stage, equals, target = request.partition("=")
        if not equals or not target or stage not in STAGES[1:-1]:
            raise usage_error(
                "TW1101",
                f"'--export-state {request}' cannot be read",
                details=(f"STAGE is one of {', '.join(STAGES[1:-1])}",),
                fix=("write it as --export-state STAGE=FOLDER",),
            )
        folder = Path(target)
        if stage in exports or folder in exports.values():
            raise usage_error(
                "TW1101",
                f"'--export-state {request}': this {'stage' if stage in exports else 'folder'} is given twice",
                details=("a folder holds one stage, and a stage is saved once",),
                fix=("write one --export-state STAGE=FOLDER for each, with a folder of its own",),
            )
        exports[stage] = folder
    return exports
