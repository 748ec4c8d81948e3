"""Knows `tilewright sweep`: networks with every combination of flags, what nothing beats, tables and a page."""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tilewright.cli.flags import program_typed
from tilewright.cli.log_display import CLEAR_REST, TO_START, verbose_flag
from tilewright.cli.option import examples, option
from tilewright.cli.output import demand_writable_files, moves_on, progress, say
from tilewright.errors import Exit, TilewrightError, typed, usage_error
from tilewright.report.plain_text import Part, Table

if TYPE_CHECKING:
    from tilewright.exploration.sweep.axes import Axis
    from tilewright.exploration.sweep.cache import Cache
    from tilewright.exploration.sweep.flow import Row
    from tilewright.exploration.sweep.sweep import Sweep

_OF_LISTS = ("target", "board", "optimize", "arithmetic")
_SUFFIXES = (".csv", ".html", ".json", ".parquet")
_NO_CACHE = "none"
_BEAT_SECONDS = 0.2
_OF_PLANS = "TW5"  # codes with which something does not fit; others are about what was asked for


@click.command(
    "sweep",
    epilog=examples(
        "sweep kws.onnx --target cortex-m4,siracusa --memory fast=16K..256K --optimize speed,ram",
        "sweep kws.onnx vww.onnx --board nucleo-f446re --arithmetic onnx,tflm -o sweep.html -o sweep.csv",
    ),
)
@click.argument("models", type=click.Path(path_type=Path), nargs=-1, required=True, metavar="MODEL...|SWEEP.toml")
@option("-t", "--target", metavar="NAME,...", help="Targets (`tilewright targets`).")
@option("--board", metavar="NAME|FILE.toml,...", help="Boards instead of targets (`tilewright boards`).")
@option(
    "--memory",
    multiple=True,
    metavar="NAME=BYTES,...|A..B",
    help="Limits of a memory: 16K,20K or 16K..256K (doubling) or 16K..64K+8K. NAME may be fast, main or flash: each "
    "target's own scratchpad (or only RAM), large RAM, constants.",
)
@option("--optimize", metavar="speed,balanced,ram", help="As of `tilewright check`.")
@option("--arithmetic", metavar="NAME,...", help="As of `tilewright check`.")
@option("--set", "settings", multiple=True, metavar="NAME=VALUE,...", help="Values of a setting of the target.")
@option(
    "--vary",
    multiple=True,
    metavar="KEYWORD=VALUE,...",
    help="Any other keyword of tilewright.compile, as groups=1,2,4 or dim.length=64,128.",
)
@option(
    "-o",
    "--output",
    "files",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write all points as FILE.csv, FILE.json, FILE.parquet, or as a page, FILE.html.",
)
@option(
    "--processes",
    type=click.IntRange(min=1),
    metavar="N",
    help="How many points at the same time. Default: one for each core of this machine.",
)
@option("--scheduler", default="", metavar="ADDRESS|local", help="Of a Dask cluster whose workers take the points.")
@option(
    "--cache",
    "cache_folder",
    default="",
    metavar="FOLDER|none",
    help="Where rows are kept that are known. Default: a folder in the user's cache.",
)
@verbose_flag
def command(
    models: tuple[Path, ...],
    memory: tuple[str, ...],
    settings: tuple[str, ...],
    vary: tuple[str, ...],
    files: tuple[Path, ...],
    processes: int | None,
    scheduler: str,
    cache_folder: str,
    **lists: Any,
) -> None:
    """Plan networks with every combination of flags, and show those that nothing beats in RAM, flash and cycles.

    Every figure is what `tilewright check` says of the same flags. What is known is not planned again. A point that
    does not fit, or fails, is a row with its code. Exit code 5 where no point of a network fits.
    """
    from tilewright.exploration.sweep.axes import demand_apart
    from tilewright.exploration.sweep.sweep import asked_points, executor_for, swept

    _demand_known_suffixes(files)
    demand_writable_files(*files, read=models)
    named, axes = _asked(models, {name: lists[name] for name in _OF_LISTS}, memory, settings, vary)
    chosen = tuple(asked_points(named, demand_apart(axes)))
    count = _Count(started=time.monotonic(), moves=moves_on(sys.stderr))
    with executor_for(scheduler, processes, chosen) as executor:
        result = swept(axes, chosen, executor, _cache(cache_folder), count.heard)
    count.end()
    for file in files:
        _write(result, file)
    say(*_shown(result))
    _demand_one_each(result)


def _asked(
    models: Sequence[Path], lists: dict[str, Any], memory: Sequence[str], settings: Sequence[str], vary: Sequence[str]
) -> tuple[tuple[Path, ...], tuple[Axis, ...]]:
    """Networks and axes, of files and flags."""
    from tilewright.exploration.sweep.axes import axis, unreadable
    from tilewright.exploration.sweep.sweep import read_sweep

    named: list[Path] = []
    axes: list[Axis] = []
    for model in models:
        if model.suffix != ".toml":
            named.append(model)
            continue
        more, of_file = read_sweep(model)
        named += more
        axes += of_file
    axes += [axis(name, text) for name, text in lists.items() if text is not None]
    pairs = [("memory.", text) for text in memory] + [("set.", text) for text in settings]
    for prefix, text in (*pairs, *(("", text) for text in vary)):
        name, equals, values = text.partition("=")
        if not (name and equals and values):
            raise unreadable(f"'{text}' is not NAME=VALUE,...", "write it as NAME=A,B,C")
        axes.append(axis(prefix + name, values))
    return tuple(named), tuple(axes)


@dataclass(slots=True)
class _Count:
    """How far it is, on a line of the terminal that changes."""

    started: float
    moves: bool
    failed: int = 0
    newest: float = 0.0

    def heard(self, done: int, of: int, row: Row) -> None:
        """Of a row, as it comes."""
        self.failed += row["code"] == "TW9001"
        now = time.monotonic()
        if not self.moves or (now - self.newest < _BEAT_SECONDS and done < of):
            return
        self.newest = now
        left = (now - self.started) / done * (of - done)
        failed = f", {self.failed} failed" if self.failed else ""
        click.echo(f"{TO_START}{done:,} of {of:,} points{failed}, {left:,.0f} s left{CLEAR_REST}", err=True, nl=False)

    def end(self) -> None:
        """Leave the line empty."""
        if self.moves:
            click.echo(f"{TO_START}{CLEAR_REST}", err=True, nl=False)


def _cache(folder: str) -> Cache | None:
    from tilewright.exploration.sweep.sweep import cache_in

    if folder == _NO_CACHE:
        return None
    own = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tilewright" / "sweep"
    return cache_in(Path(folder) if folder else own)


def _demand_known_suffixes(files: Sequence[Path]) -> None:
    for file in files:
        if file.suffix not in _SUFFIXES:
            raise usage_error(
                "TW1101",
                f"'--output {file}': its name does not say what it shall be",
                fix=(f"end it in one of {', '.join(_SUFFIXES)}",),
            )


def _write(sweep: Sweep, file: Path) -> None:
    from tilewright.exploration.sweep.page import sweep_page
    from tilewright.exploration.sweep.tables import write_parquet
    from tilewright.report.plain_text import json_text
    from tilewright.snapshot.atomic_folder import write_file

    if file.suffix == ".parquet":
        write_parquet(sweep.rows, file)
    else:
        text = sweep_page(sweep) if file.suffix == ".html" else json_text(list(sweep.rows))
        write_file(file, (sweep.to_csv() if file.suffix == ".csv" else text).encode())
    progress(f"wrote {file}")


def _shown(sweep: Sweep) -> Iterator[Part]:
    """The front of every network, and why others are not there."""
    varied = [axis.name for axis in sweep.axes if len(axis.values) > 1 and axis.name != "target"]
    program = program_typed(click.get_current_context())
    for model in dict.fromkeys(row["model"] for row in sweep.rows):
        own = [row for row in sweep.rows if row["model"] == model]
        best = sorted((row for row in own if row["front"]), key=lambda row: (row["ram_bytes"], row["cycles"]))
        fit = sum(row["fits"] for row in own)
        points = f"{len(own):,} point{'s' * (len(own) != 1)}"
        yield f"{Path(model).stem}: {points}, {fit:,} fit, {len(best)} that nothing beats"
        if not best:
            continue
        table = [_head(varied, best), *(_cells(row, varied, best) for row in best)]
        yield Table(rows=table, right=range(1, 4), indent=2)
        yield f"  Next: {program} check {shlex.quote(model)} {best[0]['flags']}"


def _head(varied: Sequence[str], best: Sequence[Row]) -> tuple[str, ...]:
    drift = ("drift",) if any(row["drift_steps"] for row in best) else ()
    return ("target", "RAM", "flash", "est. cycles", *drift, *varied)


def _cells(row: Row, varied: Sequence[str], best: Sequence[Row]) -> tuple[str, ...]:
    drift = (f"{row['drift_steps']:g}",) if any(other["drift_steps"] for other in best) else ()
    axes = (str(row["values"][name]) for name in varied)
    return (
        row["target"],
        f"{row['ram_bytes']:,}",
        f"{row['flash_bytes']:,}",
        f"{row['cycles']:,}",
        *drift,
        *axes,
    )


def _demand_one_each(sweep: Sweep) -> None:
    """TilewrightError TW5007 (exit 5) where no point of a network fits."""
    fit = {row["model"] for row in sweep.rows if row["fits"]}
    without = {row["model"]: row for row in reversed(sweep.rows) if row["model"] not in fit}
    if without:
        model, row = next(iter(without.items()))
        alone = typed("tilewright", "check", model, *shlex.split(row["flags"]), gives="says it of this point alone")
        larger = "vary what gives it more memory" if row["code"].startswith(_OF_PLANS) else alone
        raise TilewrightError(
            "TW5007",
            f"no point of {', '.join(Path(name).stem for name in without)} fits",
            "",
            (f"{Path(model).stem}, {row['flags']}: {row['reason']} ({row['code']})",),
            (typed("tilewright", "explain", row["code"], gives="says what that is"), larger),
            Exit.DOES_NOT_FIT,
        )
