"""Knows a sweep as a program, a notebook or the command line asks for it, and what comes of it.
Does not know how a point is worked out, nor how a table is drawn.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tilewright.errors import Exit, TilewrightError, plugin_error, typed
from tilewright.errors.suggestions import did_you_mean
from tilewright.exploration.executors import Executor, local_executor
from tilewright.exploration.sweep.axes import TARGET, Axis, axes_of, demand_apart, unreadable
from tilewright.exploration.sweep.cache import Cache, installed_versions
from tilewright.exploration.sweep.flow import Row, rows
from tilewright.exploration.sweep.pareto import front
from tilewright.exploration.sweep.points import Point, points
from tilewright.exploration.sweep.tables import csv_text, flat
from tilewright.plugins import discover

if TYPE_CHECKING:
    import pandas

_MOST_POINTS = 1_000_000
Heard = Callable[[int, int, Row], None]  # rows so far, of how many, the newest


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Sweep:
    """What every point takes, in the order of networks and axes. `front` in a row: nothing beats it."""

    axes: tuple[Axis, ...]
    rows: tuple[Row, ...]

    @property
    def front(self) -> tuple[Row, ...]:
        """The rows that no other of the same network equals or beats in RAM, flash, cycles and drift."""
        return tuple(row for row in self.rows if row["front"])

    def to_csv(self) -> str:
        """With a head, one line for each row."""
        return csv_text(self.rows)

    def to_pandas(self) -> pandas.DataFrame:
        """A column for each axis and figure. ImportError where pandas is not installed."""
        import pandas

        return pandas.DataFrame([flat(row) for row in self.rows])

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        fit = sum(row["fits"] for row in self.rows)
        return f"<tilewright.Sweep {len(self.rows)} points, {fit} fit, {len(self.front)} in the front>"


def sweep(
    models: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    processes: int | None = None,
    scheduler: str = "",
    cache: str | os.PathLike[str] | None = None,
    **varied: Any,
) -> Sweep:
    """Every network with every combination of values:

        sweep("net.onnx", target="cortex-m4,siracusa", optimize=["speed", "ram"], memory={"fast": "16K..256K"})

    Keywords are those of `tilewright.compile`, and `target`; `fast`, `main` and `flash` stand for each target's own
    memories. Figures are those of `tilewright check`.

    `processes`: how many work at the same time, by default one for each core; `scheduler`: of a Dask cluster, or
    "local"; `cache`: a folder of rows that are known. Raises TilewrightError TW1412 for what cannot be read; what is
    wrong with a point is in its row.
    """
    listed = [models] if isinstance(models, str | os.PathLike) else models
    axes = demand_apart(axes_of(varied))
    chosen = tuple(asked_points([Path(model) for model in listed], axes))
    known = None if cache is None else cache_in(Path(cache))
    with executor_for(scheduler, processes, chosen) as executor:
        return swept(axes, chosen, executor, known)


def swept(
    axes: tuple[Axis, ...], chosen: Sequence[Point], executor: Executor, cache: Cache | None, heard: Heard | None = None
) -> Sweep:
    """What all points take; `heard` is told of each as it comes."""
    result: dict[int, Row] = {}
    for number, row in rows(chosen, executor, cache):
        result[number] = row
        if heard:
            heard(len(result), len(chosen), row)
    ordered = [result[number] for number in range(len(chosen))]
    best = set(front(ordered))
    return Sweep(axes=axes, rows=tuple({**row, "front": number in best} for number, row in enumerate(ordered)))


def asked_points(models: Sequence[Path], axes: Sequence[Axis]) -> Iterator[Point]:
    """The points. TilewrightError (exit 2, 3 or 8) for what is wrong with all of a network or target."""
    if not models:
        raise unreadable("it names no model", "name one: tilewright sweep MODEL.onnx --target NAME")
    if not {TARGET, "board"} & {axis.name for axis in axes}:
        raise unreadable("it names no target", "say for which: --target NAME, or --board NAME")
    count = len(models)
    for axis in axes:
        count *= len(axis.values)
    if count > _MOST_POINTS:
        raise unreadable(f"it has {count:,} points", "vary less at a time, or take larger steps")
    for model in models:
        if not model.is_file():
            raise TilewrightError("TW1201", "there is no such model", str(model), exit_code=Exit.MODEL)
    known = discover().names("platform")
    for name in (str(value) for axis in axes if axis.name == TARGET for value in axis.values):
        if name not in known:
            fix = typed("tilewright", "targets", gives="lists those that are installed")
            raise plugin_error(
                "TW8001", f"target '{name}' is not installed", details=did_you_mean(name, known), fix=(fix,)
            )
    yield from points(models, axes)


def read_sweep(file: Path) -> tuple[tuple[Path, ...], tuple[Axis, ...]]:
    """The models and axes of a file: `models`, a list of paths beside the file, and what varies.
    TilewrightError TW1412 (exit 2).
    """
    try:
        table: Mapping[str, Any] = tomllib.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise unreadable(str(error).splitlines()[0], f"see that {file} is TOML: models = ['net.onnx']") from None
    models = table.get("models", [])
    if not isinstance(models, list) or not all(isinstance(model, str) for model in models):
        raise unreadable("'models' is no list of paths", "write models = ['net.onnx', 'other.onnx']")
    varied = {name: values for name, values in table.items() if name != "models"}
    return tuple(file.parent / model for model in models), tuple(axes_of(varied))


@contextmanager
def executor_for(scheduler: str, count: int | None, chosen: Sequence[Point]) -> Iterator[Executor]:
    """Who works the points out: a cluster where a scheduler is named, else processes of this machine."""
    processes = count or os.cpu_count() or 1
    if not scheduler:
        yield local_executor(processes, len(chosen))
        return
    from tilewright.exploration.sweep.dask_workers import dask_workers, demand_no_files

    for point in chosen:
        demand_no_files(point.flags)
    with dask_workers(scheduler, min(processes, len(chosen))) as executor:
        yield executor


def cache_in(folder: Path) -> Cache:
    """What is known in a folder, of the packages that are installed now."""
    return Cache(folder=folder, versions=installed_versions())
