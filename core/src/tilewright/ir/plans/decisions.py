"""Knows everything that is chosen rather than derived, in one frozen value beside the stages.
Does not know how anything is chosen: the planner proposes, users and files pin.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Literal

from tilewright.ir.plans.region import Region
from tilewright.ir.tensors.layout import Layout

IoOwner = Literal["pool", "user", "push", "pull"]
STREAMED: tuple[IoOwner, ...] = ("push", "pull")  # nowhere whole: inputs arrive in rows, outputs are taken in rows
OUTSIDE: tuple[IoOwner, ...] = ("user", *STREAMED)  # not in the plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Staging:
    """A copy of a constant in another memory: made once, by `NAME_init`, or by every step that reads it."""

    memory: str
    when: Literal["init", "use"] = "init"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recomputation:
    """A value that is computed once more, for these readers; without any, never."""

    value: str
    readers: tuple[str, ...] = ()  # nodes


@dataclass(frozen=True, slots=True, kw_only=True)
class Decisions:
    """Partial or complete: what is absent is still open. Keys are names of the rewritten graph."""

    kernels: Mapping[str, str] = field(default_factory=dict)  # node -> kernel
    engines: Mapping[str, str] = field(default_factory=dict)  # node -> engine
    layouts: Mapping[str, Layout] = field(default_factory=dict)  # value -> storage order
    recomputed: tuple[Recomputation, ...] = ()  # one after the other; the nodes they add are among those of the rest
    order: tuple[str, ...] = ()  # nodes; () is open
    deferred: Mapping[str, str] = field(default_factory=dict)  # node -> later one behind which it is waited for, or ""
    groups: tuple[tuple[str, ...], ...] = ()  # nodes tiled together; a node in none is a group of its own
    in_place: Mapping[str, str] = field(
        default_factory=dict
    )  # output value -> input value whose bytes it takes; "" forbids
    io: Mapping[str, IoOwner] = field(default_factory=dict)  # graph input or output -> whose memory
    memories: Mapping[str, str] = field(default_factory=dict)  # value -> memory
    staged: Mapping[str, Staging] = field(default_factory=dict)  # constant -> where and when it is copied
    state: Mapping[str, str] = field(default_factory=dict)  # graph input -> graph output of the run before
    tiles: Mapping[str, Region] = field(default_factory=dict)  # last step of a region -> how it is tiled
    offsets: Mapping[str, int] = field(default_factory=dict)  # buffer -> bytes from the pool's start
    allocator: str = ""
    tiler: str = ""

    @property
    def streams_io(self) -> bool:
        """Whether any input or output passes in rows."""
        return any(whose in STREAMED for whose in self.io.values())

    def pinned_by(self, pins: Decisions) -> Decisions:
        """The same decisions, overruled by whatever `pins` decides."""
        changes: dict[str, object] = {}
        for item in fields(self):
            mine, theirs = getattr(self, item.name), getattr(pins, item.name)
            changes[item.name] = {**mine, **theirs} if isinstance(mine, Mapping) else (theirs or mine)
        return replace(self, **changes)  # type: ignore[arg-type]  # every field keeps its own type
