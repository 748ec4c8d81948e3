"""Knows the tiler `cpsat`: the core's choices become a joint problem, and its answer groups.
Does not know how the problem is solved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from tilewright.api import Exit, TilewrightError
from tilewright.api.tiler import Group, TileChoices, TilingRequest
from tilewright_cpsat.menus import Menus
from tilewright_cpsat.misfit import explained
from tilewright_cpsat.solve import SolverWork, solve

_BEYOND = "at least as fast as the optimum of single steps"


@dataclass(frozen=True, slots=True, kw_only=True)
class CpsatTiler:
    """Tiles, values that stay in scratchpads, and places in them, chosen together."""

    name: str = "cpsat"
    summary: str = "tiles and their places in the scratchpad together, by OR-Tools CP-SAT; says what is proved"
    work: SolverWork = field(default_factory=SolverWork)

    def plan(self, request: TilingRequest) -> tuple[Group, ...]:
        """See `Tiler.plan`. TilewrightError TW5102 (exit 5) names demands that cannot be met together."""
        choices = TileChoices(request)
        try:
            quick = choices.quick()
        except TilewrightError as error:
            if error.exit_code is not Exit.DOES_NOT_FIT:
                raise
            raise explained(choices, error) from error
        if not choices.memories or any(tile.internal_values for tile in request.decisions.tiles.values()):
            return quick
        menus = Menus(choices, quick)
        answer = solve(menus.joint, menus.known, self.work)
        if answer is None:
            return quick
        single = menus.groups(answer)
        together = self._together(choices, menus, single)
        if any(len(names) > 1 for names in request.decisions.groups):
            return together or quick
        plans = [single, *([together] if together else []), quick]
        best = min(plans, key=_cycles)  # the first of equals
        if best is single or answer.gap(menus.joint) > 0:
            return best
        return tuple(replace(group, claim=_BEYOND) for group in best)

    def _together(self, choices: TileChoices, menus: Menus, single: tuple[Group, ...]) -> tuple[Group, ...] | None:
        """The same with steps tiled together, placed again; None where nothing is, or it has no places."""
        groups = choices.together(single)
        if len(groups) == len(single):
            return None
        return menus.placed(groups, self.work.place)


def _cycles(groups: Sequence[Group]) -> float:
    return sum(group.cycles for group in groups)
