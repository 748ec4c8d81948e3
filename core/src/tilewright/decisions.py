"""Knows everything that is chosen rather than derived, in one frozen value beside the stages.
Does not know how anything is chosen: the planner proposes, users and files pin.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Literal

from tilewright.layout import Layout


@dataclass(frozen=True, slots=True, kw_only=True)
class TileCopy:
    """How one operand travels over one hop. `depth` counts the loops of the nest around its transfers.

    depth 0 is resident: fetched once, before every loop. `buffers` 2 is double buffering.
    """

    depth: int
    buffers: int = 1
    mode: Literal["box", "slide"] = "box"  # slide: rows already there are kept, only new ones travel
    slide_loop: str = ""
    engine: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HopTile:
    """The tiling of one group over one hop of the memory hierarchy, from `far` to `near`."""

    far: str
    near: str
    nest: tuple[tuple[str, int], ...]  # (loop, tile extent), outermost first; a loop left out is not cut
    copies: Mapping[str, TileCopy]  # operand -> how it travels


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupTile:
    """The tiling of a group: one entry per hop, far to near. No hop: computed in place, in one piece."""

    hops: tuple[HopTile, ...] = ()
    inner: Mapping[str, Literal["whole", "recompute", "slide"]] = field(default_factory=dict)  # values that never leave
    kept: Mapping[str, str] = field(default_factory=dict)  # value it writes -> near memory where it stays whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Staging:
    """A copy of a constant in another memory: made once, by `NAME_init`, or by every step that reads it."""

    memory: str
    when: Literal["init", "use"] = "init"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decisions:
    """Partial or complete: what is absent is still open. Keys are names of the rewritten graph."""

    kernels: Mapping[str, str] = field(default_factory=dict)  # node -> kernel
    engines: Mapping[str, str] = field(default_factory=dict)  # node -> engine
    layouts: Mapping[str, Layout] = field(default_factory=dict)  # value -> storage order
    order: tuple[str, ...] = ()  # nodes; () is open
    groups: tuple[tuple[str, ...], ...] = ()  # nodes tiled together; a node in none is a group of its own
    in_place: Mapping[str, str] = field(
        default_factory=dict
    )  # output value -> input value whose bytes it takes; "" forbids
    io: Mapping[str, Literal["pool", "user"]] = field(default_factory=dict)  # graph input or output -> whose memory
    memories: Mapping[str, str] = field(default_factory=dict)  # value -> memory
    staged: Mapping[str, Staging] = field(default_factory=dict)  # constant -> where and when it is copied
    state: Mapping[str, str] = field(default_factory=dict)  # graph input -> graph output of the run before
    tiles: Mapping[str, GroupTile] = field(default_factory=dict)  # last node of a group -> tiling
    offsets: Mapping[str, int] = field(default_factory=dict)  # buffer -> bytes from the pool's start
    allocator: str = ""
    tiler: str = ""

    def pinned_by(self, pins: Decisions) -> Decisions:
        """The same decisions, overruled by whatever `pins` decides."""
        changes: dict[str, object] = {}
        for item in fields(self):
            mine, theirs = getattr(self, item.name), getattr(pins, item.name)
            changes[item.name] = {**mine, **theirs} if isinstance(mine, Mapping) else (theirs or mine)
        return replace(self, **changes)  # type: ignore[arg-type]  # every field keeps its own type
