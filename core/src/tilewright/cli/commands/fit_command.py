"""Knows `tilewright fit`: the smallest parts that run networks, with margin, time, and what to type."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tilewright.cli.flags import program_typed
from tilewright.cli.log_display import verbose_flag, working
from tilewright.cli.option import FiniteRange, examples, option
from tilewright.cli.output import complain, demand_writable_files, send_result
from tilewright.config.clock import clock_text
from tilewright.config.memory_pools import parse_bytes
from tilewright.errors import Exit, TilewrightError, typed
from tilewright.report.plain_text import Part, Table

if TYPE_CHECKING:
    from tilewright.exploration.fit import Fit
    from tilewright.exploration.planned_parts import Optimize
    from tilewright.ir.machines.board import Board


@click.command(
    "fit",
    epilog=examples(
        "fit model.onnx",
        "fit kws.onnx vww.onnx --chips 'stm32*' --ms 20 --cost prices.csv",
    ),
)
@click.argument("models", type=click.Path(path_type=Path), nargs=-1, required=True, metavar="MODEL...")
@option(
    "--chips",
    "patterns",
    multiple=True,
    metavar="PATTERN",
    help="Parts and boards to look at, as 'stm32f4*' or nucleo. Default: every part (`tilewright boards`).",
)
@option("--ms", type=FiniteRange(min=0.0, min_open=True), help="At most so many milliseconds an inference.")
@option(
    "--cost",
    "cost_file",
    type=click.Path(path_type=Path),
    metavar="FILE.csv",
    help="Names and amounts, as stm32f446re,3.20: cheapest first.",
)
@option("--reserve", default="0", metavar="BYTES", help="Kept of the RAM for stack and application, as 4K. Default: 0.")
@option(
    "--optimize",
    type=click.Choice(["speed", "balanced", "ram"]),
    default="speed",
    show_default=True,
    help="As of `tilewright check`.",
)
@option("--most", type=click.IntRange(min=1), default=10, show_default=True, help="Lines for each model.")
@option(
    "--processes",
    type=click.IntRange(min=1),
    default=None,
    metavar="N",
    help="How many plan at the same time. Default: one for each core of this machine.",
)
@option("--json", "json_target", metavar="FILE|-", help="Write every part as JSON, those that it does not fit, too.")
@verbose_flag
def command(
    models: tuple[Path, ...],
    patterns: tuple[str, ...],
    ms: float | None,
    cost_file: Path | None,
    reserve: str,
    optimize: Optimize,
    most: int,
    processes: int | None,
    json_target: str | None,
) -> None:
    """Which parts run the networks MODEL...? The smallest of them, with what is left, and what to type.

    Every figure is what `tilewright check` says with the same flags. Bytes are the plan's: the stack and the rest of an
    application need more, see --reserve. Exit code 5 where nothing runs one of the networks.
    """
    from tilewright.exploration.costs import read_costs
    from tilewright.exploration.fit import fits

    demand_writable_files(json_target, read=(*models, cost_file))
    costs = read_costs(cost_file) if cost_file else {}
    boards = _boards(patterns)
    with working(f"planning: {len(models)} models on {len(boards)} parts"):
        result = fits(
            models,
            boards,
            optimize=optimize,
            reserved_bytes=parse_bytes(reserve),
            costs=costs,
            processes=processes or os.cpu_count() or 1,
        )
    flags = "" if optimize == "speed" else f" --optimize {optimize}"
    shown = [part for model in result for part in _shown(model, result[model], ms, most, flags)]
    rows = [_facts(fit, flags) for those in result.values() for fit in those]
    send_result(rows, json_target, *shown, *_all_of_them(result, ms))
    _demand_one_each(result, ms)


def _boards(patterns: Sequence[str]) -> tuple[Board, ...]:
    """What is looked at: targets that are not installed are left out, with a warning."""
    from tilewright.exploration.fit import not_there
    from tilewright.front_door.board_choice import boards_called, demand_boards
    from tilewright.plugins import discover

    installed = demand_boards()
    parts = [board for board in installed.values() if board.name == board.part]
    wanted = [board for pattern in patterns for board in boards_called(pattern, installed)] or parts
    targets = discover().names("platform")
    for warning in not_there(wanted, targets):
        complain(warning.render())
    return tuple({board.name: board for board in wanted if board.target in targets}.values())


def _shown(model: Path, those: Sequence[Fit], ms: float | None, most: int, flags: str) -> Iterator[Part]:
    """A table of the smallest, and how many more there are."""
    from tilewright.exploration.fit import smallest

    good = smallest(fit for fit in those if fit.within(ms))
    limit = f" within {ms:g} ms" if ms else ""
    timeless = sum(fit.figures.fits and fit.ms is None for fit in those) if ms else 0
    unknown = f", {timeless} more with no clock known" if timeless else ""
    yield f"{model.stem}: {len(good)} of {len(those)} run it{limit}{unknown}"
    if not good:
        return
    priced = any(fit.cost is not None for fit in good)
    money = ("cost",) if priced else ()
    rows = [("part", "core", "clock", "RAM", "of", "free", "flash", "of", "est. ms", *money, "type")]
    rows += [_row(fit, priced, flags) for fit in good[:most]]
    yield Table(rows=rows, right=range(3, len(rows[0]) - 1), indent=2)
    program = program_typed(click.get_current_context())
    yield f"  Next: {program} check {shlex.quote(str(model))} {good[0].figures.flags}{flags}"


def _row(fit: Fit, priced: bool, flags: str) -> tuple[str, ...]:
    ram, size = fit.used("ram"), fit.size("ram")
    flash = fit.size("const")
    clock = fit.board.clock_hz
    return (
        fit.board.name,
        fit.board.core,
        clock_text(clock) if clock else "",
        f"{ram:,}",
        "" if size is None else f"{size:,}",
        "" if size is None else f"{(size - ram) / size:.0%}",
        f"{fit.used('const'):,}",
        "" if flash is None else f"{flash:,}",
        "" if fit.ms is None else f"{fit.ms:,.3g}",
        *((f"{fit.cost:g}" if fit.cost is not None else "",) if priced else ()),
        f"{fit.figures.flags}{flags}",
    )


def _all_of_them(result: Mapping[Path, Sequence[Fit]], ms: float | None) -> Iterator[Part]:
    from tilewright.exploration.fit import run_all

    if len(result) > 1 and (names := tuple(run_all(result, ms))):
        yield f"each of the {len(result)} networks, one at a time: {len(names)} parts, the smallest is {names[0]}"


def _demand_one_each(result: Mapping[Path, Sequence[Fit]], ms: float | None) -> None:
    """TilewrightError TW5006 (exit 5) where nothing runs one of the networks."""
    without = [model for model, those in result.items() if not any(fit.within(ms) for fit in those)]
    if not without:
        return
    reasons = [_why(model, result[model], ms) for model in without]
    raise TilewrightError(
        "TW5006",
        f"no part runs {', '.join(model.stem for model in without)}",
        "",
        tuple(reasons),
        (
            typed("tilewright", "boards", gives="lists what there is"),
            "leave --ms or --chips out, or shrink the network",
        ),
        Exit.DOES_NOT_FIT,
    )


def _why(model: Path, those: Sequence[Fit], ms: float | None) -> str:
    """The best that there is: the fastest that runs it, else what the largest part says."""
    runs = [fit for fit in those if fit.ms is not None]
    if runs:
        fastest = min(runs, key=lambda fit: (fit.ms or 0.0, fit.board.name))
        return f"{model.stem}: the fastest is {fastest.board.name}, {fastest.ms:,.3g} ms"
    if any(fit.figures.fits for fit in those):
        return f"{model.stem}: of those that run it no clock is known"
    reasons = dict.fromkeys(fit.figures.reason for fit in those)
    return f"{model.stem}: {next(iter(reasons), 'nothing was looked at')}"


def _facts(fit: Fit, flags: str) -> dict[str, Any]:
    """As `--json` writes them."""
    return {
        "model": str(fit.model),
        "part": fit.board.name,
        "core": fit.board.core,
        "target": fit.board.target,
        "clock_hz": fit.board.clock_hz,
        "fits": fit.figures.fits,
        "used_bytes": dict(fit.figures.used),
        "sizes": {memory.name: memory.size_bytes for memory in fit.board.memories},
        "cycles": fit.figures.cycles if fit.figures.fits else None,
        "milliseconds": fit.ms,
        "kind": "estimate",
        "cost": fit.cost,
        "flags": f"{fit.figures.flags}{flags}",
        "code": fit.figures.code,
        "reason": fit.figures.reason,
    }
