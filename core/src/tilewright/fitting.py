"""Knows how a plan is found where the cheapest kernels do not fit the near memory: others instead; and the least memory
for which that ends well. Does not know tiles, nor how kernels are bound.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from tilewright.errors import TilewrightError
from tilewright.planner import Planner, other_kernels
from tilewright.stages import Allocated, Bound

Rebind = Callable[[Mapping[str, str], Mapping[str, int]], Bound]  # with these kernels, node -> name, and memory sizes
_MOST_LIMITS = 40  # that are tried: each is what one more step needs, whatever its kernel


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitting:
    """One model on one platform; `sizes` are other memory sizes than the platform has."""

    planner: Planner
    rebind: Rebind | None = None  # None: kernels are settled
    sizes: Mapping[str, int] = field(default_factory=dict)

    def plan(self, bound: Bound) -> Allocated:
        """The best plan with the cheapest kernels; the next cheapest where no tile of one fits the near memory.

        Raises the first kernel's TilewrightError; the memory that it asks for has been planned with, and is the least.
        """
        plan, errors = self._exchanged(bound, self.planner.plan)
        if plan is not None:
            return plan
        least = self._least(self.rebind, errors) if self.rebind is not None else None
        if least is None:
            raise errors[0] from None
        memory, size_bytes = least
        raise replace(
            errors[0],
            fix=(f"--memory {memory}={size_bytes}     is the least that does for all steps",),
        ) from None

    def _exchanged(
        self, bound: Bound, plan: Callable[[Bound], Allocated]
    ) -> tuple[Allocated | None, list[TilewrightError]]:
        """A plan, or why there is none: the errors of all kernels that were tried."""
        errors: list[TilewrightError] = []
        refused: dict[str, frozenset[str]] = {}
        while True:
            try:
                return plan(bound), errors
            except TilewrightError as error:
                errors.append(error)
                if error.subject not in bound.bindings:
                    return None, errors
                used = bound.bindings[error.subject].kernel.name
                refused[error.subject] = refused.get(error.subject, frozenset()) | {used}
                others = other_kernels(bound, refused, self.planner.pins)
                if others is None or self.rebind is None:
                    return None, errors
                bound = self.rebind(others, self.sizes)

    def _least(self, rebind: Rebind, errors: list[TilewrightError]) -> tuple[str, int] | None:
        """The least size of the memory that is too small with which a plan is found; None where none is known.

        Nothing smaller does than what the last step needs that had no other kernel. What that leaves open is the next
        such step, so sizes rise to the least one.
        """
        planner = replace(self.planner, longest=1)
        least = _needed(errors)
        for _ in range(_MOST_LIMITS):
            if least is None:
                return None
            tried = replace(self, planner=planner, sizes=dict([least]))
            plan, errors = tried._exchanged(rebind({}, tried.sizes), planner.first)
            if plan is not None:
                return least
            before, least = least, _needed(errors)
            if least is not None and (least[0] != before[0] or least[1] <= before[1]):
                return None
        return None


def _needed(errors: list[TilewrightError]) -> tuple[str, int] | None:
    """A memory, and the least size of it that the last error's step needs, whichever of its kernels is taken."""
    about = [error for error in errors if error.subject == errors[-1].subject]
    found = [error.needs for error in about if error.needs is not None]
    if len(found) < len(about):
        return None
    return min(found, key=lambda one: one[1])
