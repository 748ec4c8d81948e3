"""Knows how one network is planned for many boards of a target: imported and rewritten once, and planned once for all
boards that give one answer.
Does not know how boards are ranked, nor in which process it runs.

Where the network fits layer by layer, with the fastest kernels, limits change nothing about its plan: that is the one
without limits. What does not fit in some limits does not fit in smaller ones. Everything else is planned.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.errors import Exit, TilewrightError
from tilewright.exploration.questions import Question, questions
from tilewright.ir.machines.board import Board
from tilewright.plugins.registry import Registry
from tilewright.report.plan_figures import plan_cycles

Optimize = Literal["speed", "balanced", "ram"]
_NO_ROOM = "TW5001"
LAYER_BY_LAYER = "whole"  # the tiler of the core that computes every step in one piece


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What a network takes on a board; or why it does not run there, with the code of the error."""

    flags: str  # what to type
    used: Mapping[str, int]  # memory -> bytes; empty where there is no plan
    cycles: int = 0  # of one inference, an estimate
    code: str = ""
    reason: str = ""

    @property
    def fits(self) -> bool:
        """Whether there is a plan."""
        return not self.code


@dataclass(slots=True)
class _Known:
    """What has been found so far for a network and a target: nothing here is seen from outside."""

    first: Deployment
    reserved_bytes: int
    free: dict[str, tuple[Figures, Figures]]  # form -> without limits: the plan, and layer by layer
    answers: dict[object, Figures]  # key -> figures
    refused: list[tuple[Question, Figures]]


def planned_parts(
    model: Path | bytes,
    target: str,
    boards: Iterable[Board],
    *,
    optimize: Optimize = "speed",
    reserved_bytes: int = 0,
    registry: Registry | None = None,
) -> Iterator[Figures]:
    """What `model` takes on each board, in their order. TilewrightError for a model that cannot be read."""
    first = Deployment(model, target, Options(optimize=optimize), registry)
    known = _Known(first=first, reserved_bytes=reserved_bytes, free={}, answers={}, refused=[])
    candidates = tuple(boards)
    every = [question for board in candidates for question in questions(board, reserved_bytes)]
    for question in sorted(every, key=_roominess, reverse=True):
        if question.single:
            known.answers.setdefault(question.key, _answer(known, question))
    for board in candidates:
        yield _best(known, board)


def _best(known: _Known, board: Board) -> Figures:
    """The first answer that is a plan, else the last."""
    figures = Figures(flags="", used={})
    for question in questions(board, known.reserved_bytes):
        result = known.answers.get(question.key) or _planned(known, question)
        known.answers[question.key] = result
        figures = replace(result, flags=question.flags)
        if figures.fits or result.code != _NO_ROOM:
            break
    return figures


def _roominess(question: Question) -> tuple[float, ...]:
    sizes = [float("inf") if size is None else size for size in question.sizes.values()]
    return (sizes[0], *sorted(sizes, reverse=True))


def _answer(known: _Known, question: Question) -> Figures:
    """Of a question about one RAM: without planning where that is possible."""
    if question.key in known.answers:
        return known.answers[question.key]
    if question.form not in known.free:
        endless = question.without_limits()
        known.free[question.form] = _planned(known, endless), _planned(known, endless, tiler=LAYER_BY_LAYER)
    free, layers = known.free[question.form]
    if not free.fits or (_within(free.used, question.sizes) and _within(layers.used, question.sizes)):
        return free
    for refused, figures in known.refused:
        if refused.form == question.form and _no_more(question.sizes, refused.sizes):
            return replace(figures, reason=f"where there is more of it: {figures.reason}")
    figures = _planned(known, question)
    if figures.code == _NO_ROOM:
        known.refused.append((question, figures))
    return figures


def _within(used: Mapping[str, int], sizes: Mapping[str, int | None]) -> bool:
    return all((limit := sizes.get(name)) is None or size <= limit for name, size in used.items())


def _no_more(sizes: Mapping[str, int | None], others: Mapping[str, int | None]) -> bool:
    """Whether each memory has no more than another's."""
    return all(
        others[name] is None or (size is not None and size <= (others[name] or 0)) for name, size in sizes.items()
    )


def _planned(known: _Known, question: Question, tiler: str = "auto") -> Figures:
    """By a plan of its own, of the network as it was imported and rewritten before."""
    first = known.first
    options = Options(
        optimize=first.options.optimize,
        board=question.board,
        pools=question.pools,
        memory=question.limits,
        tiler=tiler,
    )
    deployment = Deployment(first.model, first.target, options, first.registry)
    deployment.imported, deployment.rewritten = first.imported, first.rewritten
    try:
        plan = deployment.allocated
    except TilewrightError as error:
        if error.exit_code not in (Exit.DOES_NOT_FIT, Exit.UNSUPPORTED):
            raise
        return Figures(flags="", used={}, code=error.code, reason=error.message)
    cycles = plan_cycles(plan, deployment.registry.operators)
    return Figures(flags="", used=deployment.worst_case_buffer_size, cycles=cycles)
