"""Knows what users decide about a graph that is bound: by patterns of names, and by files, whose names must be there.
Does not know how any of that is carried out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tilewright.config.copied_constants import copied_constants, demand_copyable
from tilewright.config.decision_names import demand_named
from tilewright.config.memory_pins import demand_io, pinned_memories
from tilewright.config.name_patterns import names_of
from tilewright.config.options import Options
from tilewright.config.recurrent_state import demand_kept
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.stages import Bound


def decides(options: Options) -> bool:
    """Whether any name of the graph is decided about."""
    return bool(options.memory_pins or options.constant_copies) or options.pins != Decisions()


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
    memories = pinned_memories(options.memory_pins, names, bound.platform, pins.io)
    staged = copied_constants(options.constant_copies, names, bound.platform)
    return Decisions(memories=memories, staged=staged).pinned_by(pins)
