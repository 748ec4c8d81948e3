"""Knows how a command finds its runner, and says what to install when it cannot run here. Does not run anything."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from tilewright.cli.output import json_text, progress
from tilewright.errors import toolchain_error, typed

if TYPE_CHECKING:
    from tilewright.deployment import Deployment
    from tilewright.ir.runner import Runner, RunResult

Command = TypeVar("Command", bound=Callable[..., Any])


def trace_flag(command: Command) -> Command:
    """`--trace FILE.json`."""
    return click.option(
        "--trace",
        "trace_file",
        type=click.Path(path_type=Path),
        metavar="FILE.json",
        help="Write a trace for ui.perfetto.dev: the plan's estimate, and what the runner measured if it has a clock.",
    )(command)


def ready_runner(deployment: Deployment, name: str) -> Runner:
    """The runner of that name, or with "" the target's first. TilewrightError TW7001 (exit 7): it cannot run here.

    A name may leave out what follows a dash where the target has one such runner: `qemu` for `qemu-riscv32`.
    """
    from tilewright.plugins import load_named

    wanted = full_name(name, deployment.platform.runners)
    runner: Runner = load_named(("runner", wanted)).runners[wanted]
    missing = runner.available()
    if missing is not None:
        raise toolchain_error(
            "TW7001", f"runner '{wanted}' cannot run here", details=(missing,), fix=(typed("tilewright", "doctor"),)
        )
    return runner


def full_name(name: str, runners: Sequence[str]) -> str:
    """What `name` means for a target that has these runners; as it is where it means none of them, or several."""
    longer = [runner for runner in runners if runner.startswith(f"{name}-")]
    return longer[0] if name not in runners and len(longer) == 1 else name or runners[0]


def write_trace(deployment: Deployment, result: RunResult, file: Path) -> None:
    """The estimate and the measurement in one file. TilewrightError (exit 2) when it cannot be written."""
    from tilewright.report.build import build_report
    from tilewright.report.trace import build_trace
    from tilewright.snapshot.atomic_folder import write_file

    if result.timeline is None:
        progress("the runner has no clock: the trace holds the plan's estimate only")
    trace = build_trace(build_report(deployment, artifacts=False), result.timeline, result.clock)
    write_file(file, json_text(trace).encode())
