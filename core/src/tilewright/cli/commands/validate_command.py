"""Knows `tilewright validate`: generate, build, run, and compare every step and every output."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

import click
from click.core import ParameterSource

from tilewright.cli.against import against_flag, as_json, compared, demand_agreement, demand_comparable, lines
from tilewright.cli.flags import io_flag, layout_flag, model_flags, runner_flag, target_of, trace_flag, write_trace
from tilewright.cli.log_display import PLANNING, RUNNING, working
from tilewright.cli.option import examples, option
from tilewright.cli.output import demand_writable_files, progress, send_result, show_diagnostics
from tilewright.errors import Diagnostic, TilewrightError, typed, usage_error
from tilewright.front_door.options_from_flags import files_read, options_from
from tilewright.ir.plans.decisions import IoOwner

_IO = re.compile(r"(?<![\w-])--io ")
_Said = TypeVar("_Said", Diagnostic, TilewrightError)


def _vectors_file(context: click.Context, parameter: click.Parameter, value: Path | None) -> Path | None:
    """The file of --io. Raises TilewrightError TW6001 (exit 2) for a word that belongs to --place-io."""
    del context, parameter
    if value is None or value.exists() or str(value).rpartition("=")[2] not in get_args(IoOwner):
        return value
    raise usage_error(
        "TW6001",
        f"--io is the file of test vectors here, not '{value}'",
        details=("where inputs and outputs live is --place-io of `validate`, as --io is of `compile`",),
        fix=(typed("--place-io", str(value), gives="instead of --io"),),
    )


def _demand_files(vectors: Path | None, named: Sequence[Path], *results: Path | str | None) -> None:
    """click.UsageError where random sets are counted, and a file brings others; a project's `sets` gives way.
    TilewrightError where a result cannot be written, see `demand_writable_files`.
    """
    demand_writable_files(*results, read=(*named, vectors))
    context = click.get_current_context()
    if vectors is not None and context.get_parameter_source("sets") is ParameterSource.COMMANDLINE:
        raise click.UsageError("--sets counts random sets, and --io brings its own: leave one of them out", context)


@contextmanager
def _place_io() -> Iterator[None]:
    """What is said of `--io`, which is --place-io of this command, with the name that can be typed here."""
    try:
        yield
    except TilewrightError as error:
        if error.code == "TW6001":  # about the file of --io
            raise
        raise _named_here(error) from error.__cause__


def _named_here(problem: _Said) -> _Said:
    """The same error or note, `--io` by its name here."""
    message, *fix = (_IO.sub("--place-io ", text) for text in (problem.message, *problem.fix))
    details = tuple(_IO.sub("--place-io ", text) for text in problem.details)
    return replace(problem, message=message, details=details, fix=tuple(fix))


@click.command(
    "validate",
    epilog=examples(
        "validate model.onnx --target generic",
        "validate model.onnx --target generic --io vectors.npz --json verdict.json",
    ),
)
@model_flags
@io_flag("--place-io")
@runner_flag
@option(
    "--io",
    "vectors",
    type=click.Path(path_type=Path),
    callback=_vectors_file,
    metavar="FILE.npz",
    help="Test vectors setK/in/TENSOR and setK/out/TENSOR. Default: random inputs, outputs from the reference.",
)
@option("--sets", type=click.IntRange(min=1), default=2, show_default=True, help="How many random sets; not with --io.")
@option("--sanitize", is_flag=True, help="Run under AddressSanitizer and UndefinedBehaviorSanitizer.")
@layout_flag
@against_flag
@trace_flag
@option("--json", "json_target", metavar="FILE|-", help="Write the verdict as JSON.")
def command(
    runner_name: str,
    vectors: Path | None,
    sets: int,
    sanitize: bool,
    layout: Literal["single", "split"],
    against: str | None,
    trace_file: Path | None,
    json_target: str | None,
    **flags: Any,
) -> None:
    """Build MODEL's generated code, run it, and compare it with the exact numpy reference, step by step."""
    from tilewright.deployment import Deployment
    from tilewright.validation.runner_choice import ready_runner
    from tilewright.validation.validation import validate, vectors_of
    from tilewright.validation.verdict_text import verdict_parts

    _demand_files(vectors, files_read(flags), json_target, trace_file)
    with _place_io():
        options = replace(options_from(flags), layout=layout)
        deployment = Deployment(flags["model"], target_of(flags, options), options)
        demand_comparable(deployment, against)
        runner = ready_runner(deployment, runner_name)
        vector_sets = vectors_of(deployment, vectors, sets)
        with working(PLANNING):
            deployment.compile()
    show_diagnostics(map(_named_here, deployment.diagnostics), flags["strict"])
    progress(f"running {len(vector_sets)} set(s) on {runner.name}")
    with working(RUNNING):
        validation = validate(deployment, runner, vector_sets, sanitize=sanitize, timeline=trace_file is not None)
        agreement = compared(deployment, vector_sets, validation.ran, against) if against else ()
    if trace_file:
        write_trace(deployment, validation.ran, trace_file)
    result = {**validation.data, "against": as_json(agreement, against)} if against else validation.data
    parts = (*verdict_parts(validation.verdict), *(lines(agreement, against) if against else ()))
    send_result(result, json_target, *parts)
    if fault := validation.fault:
        raise fault
    if against:
        demand_agreement(agreement, against, str(flags["model"]))
