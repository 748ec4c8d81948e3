"""Knows what code passes that are asked for change before planning. Does not know what they do to programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tilewright.ir.machines.platform import Platform
from tilewright.ir.programs.code_pass import CodePass
from tilewright.transform.passthrough import PASSTHROUGH, managed_by_application
from tilewright.transform.transform import demand_known


def platform_for(platform: Platform, passes: Sequence[CodePass], asked: Mapping[str, Mapping[str, str]]) -> Platform:
    """The machine for a program with these passes (name -> settings). TilewrightError (exit 2): TW1111 an unknown pass,
    TW1112 a setting that it does not have.
    """
    demand_known(tuple(asked), passes, asked)
    if PASSTHROUGH.name in asked:
        return managed_by_application(platform, asked[PASSTHROUGH.name])
    return platform
