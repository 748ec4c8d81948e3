"""Knows which of a target's rival settings are taken where nobody chose: those whose plan is the best one.
Does not know any setting, nor how anything is planned.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tilewright.bind.candidates import engine_of
from tilewright.errors import Diagnostic, Exit, TilewrightError
from tilewright.ir.machines.platform import Platform
from tilewright.ir.plans.stages import Allocated, Binding, Bound
from tilewright.plan.proposals.planner import merit
from tilewright.plan.proposals.shortfall import PlanFailure

Settings = Mapping[str, str]
Plan = Callable[[Settings, float | None], Allocated | Sequence[PlanFailure]]  # cycles to beat; (): it cannot


@dataclass(frozen=True, slots=True, kw_only=True)
class Rival:
    """Settings that were planned with, and the plan of every network; () where one of them does not fit, or all cannot
    be faster than a rival before.
    """

    settings: Settings
    plans: tuple[Allocated, ...]
    slow: bool = False

    @property
    def merit(self) -> tuple[float, int]:
        """Smaller is better: cycles (an estimate) of all, and bytes of all."""
        merits = [merit(plan) for plan in self.plans]
        return sum(cycles for cycles, _ in merits), sum(size_bytes for _, size_bytes in merits)

    def told(self) -> str:
        """In a line."""
        flags = " ".join(f"--set {name}={value}" for name, value in self.settings.items())
        if not self.plans:
            return f"{flags}: {'takes longer, even if nothing waits for copies' if self.slow else 'does not fit'}"
        return f"{flags}: {self.merit[0]:,.0f} cycles (estimate), {self.merit[1]:,} B"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    """All rivals, in the order in which the target named them."""

    rivals: tuple[Rival, ...] = field(default_factory=tuple)

    @property
    def taken(self) -> Rival | None:
        """The best one, of equals the first; None where none fits."""
        return min((rival for rival in self.rivals if rival.plans), key=lambda rival: rival.merit, default=None)

    @property
    def settings(self) -> Settings:
        """Of the best one; none where none fits: the target's own, which say why."""
        return self.taken.settings if self.taken else {}

    def notes(self) -> Iterator[Diagnostic]:
        """The note TW5038 of what was compared, where something was taken."""
        if self.taken is None:
            return
        chosen = ", ".join(f"{name}={value}" for name, value in self.settings.items())
        yield Diagnostic(
            code="TW5038",
            severity="note",
            message=f"{chosen}: the best of {len(self.rivals)} settings",
            details=tuple(rival.told() for rival in self.rivals),
        )


def contest(rivals: Sequence[Settings], plans: Sequence[Plan]) -> Contest:
    """What becomes of each of `rivals` when every network is planned with it: all of them must fit."""
    result = Contest()
    for settings in rivals:
        beat = result.taken.merit[0] if result.taken else None
        result = Contest(rivals=(*result.rivals, _planned(settings, plans, beat)))
    return result


def least_cycles(bound: Bound, views: Collection[str]) -> float:
    """What the steps of a binding take at least, whatever is copied: the fastest kernels, all cores busy. Nodes in
    `views` execute nothing.
    """
    return sum(_least(bound.platform, binding) for name, binding in bound.bindings.items() if name not in views)


def _least(platform: Platform, binding: Binding) -> float:
    engines = ((engine_of(candidate.kernel, platform), candidate.cycles) for candidate in binding.candidates)
    return min(engine.slowdown * cycles / max(1, engine.cores) for engine, cycles in engines)


def _planned(settings: Settings, plans: Sequence[Plan], beat: float | None) -> Rival:
    """A TilewrightError is that there is no such plan, unless it is a bug: with the target's own settings it is raised
    again.
    """
    result, left = list[Allocated](), beat
    for plan in plans:
        try:
            answer = plan(settings, left)
        except TilewrightError as error:
            if error.exit_code is Exit.INTERNAL:
                raise
            return Rival(settings=settings, plans=())
        if not isinstance(answer, Allocated):
            return Rival(settings=settings, plans=(), slow=not answer)
        result.append(answer)
        left = None if left is None else left - merit(answer)[0]
    return Rival(settings=settings, plans=tuple(result))
