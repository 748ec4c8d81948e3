"""Knows what commands that run something share: the flag and the file of a trace. Does not run anything."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from tilewright.cli.option import option
from tilewright.cli.output import progress

if TYPE_CHECKING:
    from tilewright.deployment import Deployment
    from tilewright.ir.programs.runner import RunResult

Command = TypeVar("Command", bound=Callable[..., Any])


def trace_flag(command: Command) -> Command:
    """`--trace FILE.json`."""
    return option(
        "--trace",
        "trace_file",
        type=click.Path(path_type=Path),
        metavar="FILE.json",
        help="Write a trace for ui.perfetto.dev: the plan's estimate, and what the runner measured if it has a clock.",
    )(command)


def write_trace(deployment: Deployment, result: RunResult, file: Path) -> None:
    """The estimate and the measurement in one file. TilewrightError (exit 2) when it cannot be written."""
    from tilewright.report.plain_text import json_text
    from tilewright.report.report_json import build_report
    from tilewright.report.trace import build_trace
    from tilewright.snapshot.atomic_folder import write_file

    if result.timeline is None:
        progress("the runner has no clock: the trace holds the plan's estimate only")
    trace = build_trace(build_report(deployment, artifacts=False), result.timeline, result.clock)
    write_file(file, json_text(trace).encode())
