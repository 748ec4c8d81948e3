"""Knows the tiler `cpsat`: the core's choices become a joint problem, and its answer groups.
Does not know how the problem is solved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tilewright.api import Exit, Group, TileChoices, TilewrightError, TilingRequest
from tilewright_cpsat.menus import Menus
from tilewright_cpsat.misfit import explained
from tilewright_cpsat.solve import Work, solve


@dataclass(frozen=True, slots=True, kw_only=True)
class CpsatTiler:
    """Tiles, values that stay in near memories, and places in them, chosen together."""

    name: str = "cpsat"
    summary: str = "tiles and their places in the near memory together, by OR-Tools CP-SAT; says what is proved"
    work: Work = field(default_factory=Work)

    def plan(self, request: TilingRequest) -> tuple[Group, ...]:
        """See `Tiler.plan`. TilewrightError TW5102 (exit 5) names demands that cannot be met together."""
        choices = TileChoices(request)
        try:
            quick = choices.quick()
        except TilewrightError as error:
            if error.exit_code is not Exit.DOES_NOT_FIT:
                raise
            raise explained(choices, error) from error
        together = any(len(group.steps) > 1 for group in quick if group.name in request.decisions.tiles)
        if together or not choices.memories:
            return quick
        menus = Menus(choices, quick)
        answer = solve(menus.joint, menus.known, self.work)
        if answer is None:
            return quick
        single = menus.groups(answer)
        return min((single, self._together(choices, menus, single), quick), key=_cycles)  # the first of equals

    def _together(self, choices: TileChoices, menus: Menus, single: tuple[Group, ...]) -> tuple[Group, ...]:
        """The same with steps tiled together, placed again; as it was where there is nothing to gain, or no place."""
        if choices.request.longest == 1:
            return single
        groups = choices.together(single)
        if _cycles(groups) >= _cycles(single):
            return single
        return menus.placed(groups, self.work.place) or single


def _cycles(groups: Sequence[Group]) -> float:
    return sum(group.cycles for group in groups)
