"""Knows what users decide about a graph that is bound: by patterns of names, and by files, whose names must be there.
Does not know how any of that is carried out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from tilewright.config.graph_io import demand_io
from tilewright.config.memory_rules import copied_constants, demand_copyable, demand_meaning, pinned_memories
from tilewright.config.name_patterns import names_of
from tilewright.config.options import Options
from tilewright.config.recurrent_state import demand_kept
from tilewright.errors import usage_error
from tilewright.errors.suggestions import did_you_mean
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.stages import Bound


def decides(options: Options) -> bool:
    """Whether any name of the graph is decided about."""
    return bool(options.memory_pins or options.constant_copies or _layers(options)) or options.pins != Decisions()


def demand_borders(options: Options, ends: Sequence[str], state: Mapping[str, str]) -> None:
    """What flags and files say of inputs and outputs is about those there are: `ends`, and beside them those that
    `state` has, input -> output. TilewrightError (exit 2) TW1113 and TW1114.
    """
    demand_kept(options.pins.state, state)
    demand_io((*options.io_of, *options.pins.io), ends, {*state, *state.values()})


def decided(pins: Decisions, options: Options, bound: Bound, source: Graph | None) -> Decisions:
    """`pins`, which has what files say, and what patterns decide; `source` is the graph as it was imported.

    TilewrightError (exit 2): TW1119 for a name in a file, TW1116 for a pattern, that is nothing of the network;
    TW1103 or TW5033 for a copy of a constant that cannot be.
    """
    demand_named(options.pins, bound)
    demand_copyable(options.pins.staged, bound.platform)
    names = names_of(bound, source)
    for pattern, arithmetic in _layers(options):
        demand_meaning(pattern, names, f"--arithmetic {pattern}={arithmetic}")
    memories = pinned_memories(options.memory_pins, names, bound.platform, pins.io)
    staged = copied_constants(options.constant_copies, names, bound.platform)
    return Decisions(memories=memories, staged=staged).pinned_by(pins)


def _layers(options: Options) -> list[tuple[str, str]]:
    """The layers, by pattern, that have an arithmetic of their own."""
    return [(pattern, arithmetic) for pattern, arithmetic in options.arithmetic if pattern != "*"]


_TILE = re.compile(r"\w+@(?P<memory>[^#]+)#\d+")  # see `tile.footprint.tile_buffer_name`


def demand_named(pins: Decisions, bound: Bound) -> None:
    """Every node, value and constant that is decided about is there. TilewrightError TW1119 (exit 2).

    Orders, groups, tiles, offsets and what is computed again are refused by the stages that take them whole, ends of
    the graph and state beside the flags about them.
    """
    nodes = {node.name: None for node in bound.graph.nodes}
    values = {name: None for name in bound.graph.tensors if name not in bound.graph.constants}
    constants = dict.fromkeys((*bound.constants, *bound.graph.constants))
    known = {"node": nodes, "value": values, "constant": constants}
    known["value or constant"] = {**values, **constants}
    for key, kind, name in _named(pins):
        if name not in known[kind] and not (key == "memories" and _is_part(name, nodes, bound)):
            raise usage_error(
                "TW1119",
                f"the pinned decisions name '{name}' under `{key}`, and the network has no such {kind}",
                details=did_you_mean(name, tuple(known[kind])),
                fix=("correct or remove it; `compile --dump-after bound` lists the names",),
            )


def _is_part(name: str, nodes: Collection[str], bound: Bound) -> bool:
    """Whether it is what scratch, or a tile buffer, of a node would be called."""
    node, _, part = name.rpartition(".")
    tile = _TILE.fullmatch(part)
    memories = {memory.name for memory in bound.platform.memories}
    return node in nodes and (part == "scratch" or (tile is not None and tile["memory"] in memories))


def _named(pins: Decisions) -> Iterator[tuple[str, str, str]]:
    """The key of a decision, what kind of thing it is about, and the name of that."""
    yield from (("kernels", "node", name) for name in pins.kernels)
    yield from (("engines", "node", name) for name in pins.engines)
    yield from (("deferred", "node", name) for pair in pins.deferred.items() for name in pair if name)
    yield from (("layouts", "value", name) for name in pins.layouts)
    yield from (("in_place", "value", name) for pair in pins.in_place.items() for name in pair if name)
    yield from (("staged", "constant", name) for name in pins.staged)
    yield from (("memories", "value or constant", name) for name in pins.memories)
