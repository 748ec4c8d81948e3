"""Knows which arithmetic the user asks for, of those that the core and the target have.
Does not know what any of them computes.
"""

from __future__ import annotations

from collections.abc import Mapping

from tilewright.config.options import Options
from tilewright.errors import typed, usage_error
from tilewright.errors.suggestions import did_you_mean, nearest
from tilewright.ir.graphs.arithmetic import Arithmetic, ArithmeticChoice
from tilewright.ir.machines.platform import Platform


def arithmetic_choice(
    options: Options, platform: Platform | None, core: Mapping[str, Arithmetic], own: str
) -> ArithmeticChoice:
    """What every integer layer computes; `own` is what the file means. TilewrightError TW1127 (exit 2) for a name that
    nobody has.
    """
    offered = platform.arithmetics if platform else ()
    known = {**core, **{each.name: each for each in offered}}
    for pattern, name in options.arithmetic:
        if name not in known:
            meant = nearest(name, sorted(known)) or own
            raise usage_error(
                "TW1127",
                f"there is no arithmetic '{name}'" + (f" on target '{platform.name}'" if platform else ""),
                details=(*did_you_mean(name, known), *(f"{each.name}: {each.summary}" for each in known.values())),
                fix=(typed("--arithmetic", meant if pattern == "*" else f"{pattern}={meant}"),),
            )
    return ArithmeticChoice(own=own, known=known, rules=options.arithmetic)
