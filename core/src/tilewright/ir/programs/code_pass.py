"""Knows what a code pass is. Does not know any pass, nor the order they run in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tilewright.ir.programs.program import Program


@dataclass(frozen=True, slots=True, kw_only=True)
class CodePassContext:
    """What a pass may look at beside the program: the user's settings for it, `NAME.KEY=VALUE` without `NAME.`."""

    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class CodePass:
    """A named change of the C tree. `apply` is pure and may neither move a buffer nor need more memory."""

    name: str
    summary: str
    apply: Callable[[Program, CodePassContext], Program]
    after: tuple[str, ...] = ()  # passes that must have run before this one, where they run at all
    before: tuple[str, ...] = ()
    default: bool = False  # runs without being asked for
    settings: tuple[str, ...] | None = None  # names of those it takes; None: it checks them itself
