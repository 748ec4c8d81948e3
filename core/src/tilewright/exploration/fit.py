"""Knows which boards run which networks, in how much of their memory and how fast, and which of these are the smallest.
Does not know how that is shown.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tilewright.errors import Diagnostic
from tilewright.exploration.executors import local_executor
from tilewright.exploration.planned_parts import Figures, Optimize, planned_parts
from tilewright.exploration.questions import by_target
from tilewright.ir.machines.board import Board
from tilewright.plugins import load_boards
from tilewright.report.cycles import milliseconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """One network on one board."""

    model: Path
    board: Board
    figures: Figures
    cost: float | None = None

    @property
    def ms(self) -> float | None:
        """An estimate; None where the clock is not known, or there is no plan."""
        clock = self.board.clock_hz
        return milliseconds(self.figures.cycles, clock) if clock and self.figures.fits else None

    def used(self, kind: str) -> int:
        """Bytes of all memories of a kind."""
        return sum(self.figures.used.get(memory.name, 0) for memory in self.board.memories if memory.kind == kind)

    def size(self, kind: str) -> int | None:
        """Bytes that the memories of a kind have which are used; None where one has no limit, or there is none."""
        sizes = [
            memory.size_bytes
            for memory in self.board.memories
            if memory.kind == kind and (kind == "const" or memory.name in self.figures.used)
        ]
        return None if not sizes or None in sizes else sum(size or 0 for size in sizes)

    def within(self, ms: float | None) -> bool:
        """Whether it runs, and in time."""
        return self.figures.fits and (ms is None or (self.ms is not None and self.ms <= ms))


def fits(
    models: Sequence[Path],
    boards: Sequence[Board],
    *,
    optimize: Optimize = "speed",
    reserved_bytes: int = 0,
    costs: Mapping[str, float] | None = None,
    processes: int = 1,
) -> Mapping[Path, tuple[Fit, ...]]:
    """Every network on every board, in their order. TilewrightError for a network that cannot be read."""
    groups = [(model, target, each) for model in models for target, each in by_target(boards).items()]
    tasks = [
        json.dumps([str(model), target, [board.name for board in each], optimize, reserved_bytes])
        for model, target, each in groups
    ]
    figures = dict(local_executor(processes, len(tasks)).results(_worked_out, dict(enumerate(tasks))))
    result: dict[tuple[Path, str], Fit] = {}
    for number, (model, _, each) in enumerate(groups):
        for board, values in zip(each, json.loads(figures[number]), strict=True):
            cost = (costs or {}).get(board.name, (costs or {}).get(board.part))
            result[model, board.name] = Fit(model=model, board=board, figures=Figures(**values), cost=cost)
    return {model: tuple(result[model, board.name] for board in boards) for model in models}


def smallest(those: Iterable[Fit]) -> tuple[Fit, ...]:
    """By cost where one is known, then by RAM, flash, clock and name."""
    return tuple(sorted(those, key=_order))


def run_all(result: Mapping[Path, Sequence[Fit]], ms: float | None) -> Iterator[str]:
    """Names of the boards that run every one of the networks, each on its own."""
    boards = [{fit.board.name for fit in those if fit.within(ms)} for those in result.values()]
    names = [fit.board.name for fit in smallest(next(iter(result.values())))]
    yield from (name for name in names if all(name in those for those in boards))


def not_there(boards: Sequence[Board], targets: Iterable[str]) -> Iterator[Diagnostic]:
    """A warning for each target of boards that no installed package offers."""
    known = set(targets)
    for target, each in by_target(boards).items():
        if target not in known:
            yield Diagnostic(
                code="TW8001",
                severity="warning",
                message=f"target '{target}' is not installed: {len(each)} parts are left out",
            )


def _order(fit: Fit) -> tuple[float, float, float, float, str]:
    endless = float("inf")
    ram = sum(memory.size_bytes or 0 for memory in fit.board.memories if memory.kind == "ram")
    flash = [memory.size_bytes for memory in fit.board.memories if memory.kind == "const"]
    size = sum(size for size in flash if size is not None) if flash and None not in flash else endless
    return endless if fit.cost is None else fit.cost, ram, size, fit.board.clock_hz or 0, fit.board.name


def _worked_out(task: str) -> str:
    """In whatever process: boards are known by their names, and figures come back."""
    model, target, names, optimize, reserved = json.loads(task)
    boards = load_boards().boards
    candidates = [boards[name] for name in names]
    figures = planned_parts(Path(model), target, candidates, optimize=optimize, reserved_bytes=reserved)
    return json.dumps([{**asdict(figure), "used": dict(figure.used)} for figure in figures])
