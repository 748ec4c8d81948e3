"""Knows the buffers in which a step finds its operands: tile buffers, those of values, constants or their copies.
Does not know their places.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tilewright.ir.plans.constant_copies import read_as
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.region import Region, key_of
from tilewright.ir.plans.stages import Scheduled, Tiled


def lone_steps(tiled: Tiled) -> Iterator[Region]:
    """Each step that is tiled with no other, or computed in one piece, as a region of its own."""
    for region in tiled.regions:
        if not region.together:
            yield from (Region(steps=(step,)) for step in region.steps)
        elif len(region.steps) == 1:
            yield region


def operand_buffers(region: Region, scheduled: Scheduled, decisions: Decisions) -> Mapping[str, tuple[str, ...]]:
    """By operand of a step that is alone in its region, inputs first; "scratch" is not among them."""
    return {
        operand: tile_buffers(region, operand) or (home,) for operand, home in _homes(region.name, scheduled, decisions)
    }


def tile_buffers(region: Region, operand: str) -> tuple[str, ...]:
    """Those of the last hop over which an operand is copied; () where none is."""
    for hop in reversed(region.hops):
        if copy := hop.copies.get(key_of(region.name, operand)):
            return tuple(f"{region.name}.{operand}@{hop.inner}#{number}" for number in range(copy.buffers))
    return ()


def scratch_buffer(region: Region) -> str:
    """What the buffer with a region's scratch is called, where it has any."""
    return f"{region.name}.scratch"


def _homes(step: str, scheduled: Scheduled, decisions: Decisions) -> Iterator[tuple[str, str]]:
    """By operand where it lives."""
    bound, storage = scheduled.bound, scheduled.storage
    node = next(node for node in bound.graph.nodes if node.name == step)
    site, layer = bound.graph.site(node), bound.layers[step]
    constants = bound.bindings[step].constants
    for source in layer.sources(site):
        name = constants.get(source.operand)
        yield source.operand, storage[source.tensor].buffer if name is None else read_as(name, decisions, step)
    outputs = zip(layer.operator.outputs, site.node.outputs, strict=False)
    yield from ((operand, storage[value].buffer) for operand, value in outputs if value)
