"""Knows how what a group needs crosses the hops before the last: whole, before everything else or after it.
Does not know the tiles of the last hop (`fuse`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from tilewright.access import whole
from tilewright.decisions import HopTile, TileCopy
from tilewright.identifiers import safe_identifier
from tilewright.lower.addresses import AddressBook
from tilewright.lower.bonds import Bond, bonds_of
from tilewright.lower.fuse_boxes import BOX
from tilewright.lower.nest import COUNTERS, Level, Nest
from tilewright.lower.parts import move_part
from tilewright.lower.pipeline import Mover
from tilewright.lower.slots import Slot, Tiling
from tilewright.tile.fuse import Chain, Crossing, Whole
from tilewright.tile.fuse_buffers import tile_buffer_name
from tilewright.tile.spaces import Machine


def places_of(chain: Chain) -> Iterator[Mapping[str, str]]:
    """Before and after each hop that is crossed whole: value -> the buffer that it has come to."""
    found: Mapping[str, str] = {}
    yield found
    for one in chain.outer:
        here = {item.operand.value: _brought(one, item) for item in one.items}
        found = {**found, **here}
        yield found


def _brought(crossing: Crossing, item: Whole) -> str:
    return tile_buffer_name(item.step, item.operand.name, crossing.near, 0)


def group_bonds(
    machine: Machine, chain: Chain, book: AddressBook, places: Mapping[str, str]
) -> tuple[tuple[Bond, ...], ...]:
    """Of each step; `places` as in `bonds_of`."""
    return tuple(
        bonds_of(
            one.space.site,
            machine.operators[one.space.site.node.op],
            machine.bound.bindings[one.step.name],
            book,
            places,
        )
        for one in chain.members
    )


def outer_movers(crossing: Crossing, tilings: Sequence[Tiling], bonds: Sequence[Sequence[Bond]]) -> Iterator[Mover]:
    """How everything crosses a hop in one piece. `bonds` have it where it is before."""
    hop = HopTile(far=crossing.far, near=crossing.near, nest=(), copies={})
    level = Level(
        hop=hop, counter=COUNTERS[0], variable=BOX, cuts=(), outer={}, box={}, outer_ranges={}, ranges={}
    )  # fmt: skip
    for item in crossing.items:
        number = next(at for at, one in enumerate(tilings) if one.step.name == item.step)
        bond = next(one for one in bonds[number] if one.operand == item.operand.name)
        shapes = {bond.operand: bond.shape}
        access = whole({} if bond.written else shapes, shapes if bond.written else {})
        slot = Slot(
            bond=bond,
            level=level,
            copy=TileCopy(depth=0),
            name=f"{tilings[number].names[bond.operand]}_{safe_identifier(crossing.near, 'near')}",
            buffers=(_brought(crossing, item),),
            room=bond.shape,
        )
        tiling = replace(
            tilings[number],
            nest=Nest(access=access, levels=(level,), members={}, struct=""),
            bonds=(bond,),
            slots=((slot,),),
            inner={},
            function=f"{tilings[number].function}_{safe_identifier(crossing.near, 'near')}",
        )
        yield Mover(slot=slot, part=move_part(tiling, level, slot), level=level)
