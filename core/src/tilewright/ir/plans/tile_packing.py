"""Knows constants whose bytes a kernel arranges for each tile (`Kernel.pack_tile`), once tiles are chosen.
Does not know who chooses tiles, nor where constants are placed.

The place of a tile in the whole constant is the window that its access says: so sizes, transfers and addresses are
known before the tiles are, and only bytes change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tilewright.ir.access.index import bare_loop
from tilewright.ir.access.index_map import Access, Box, MapAccess, Window
from tilewright.ir.machines.kernel import Kernel, Matched, TileShape
from tilewright.ir.plugin_contract import demand_array, demand_mapping, wrong_answer

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]


@dataclass(frozen=True, slots=True, kw_only=True)
class TilePacking:
    """What a kernel has packed, before it knows tiles, and how it is read."""

    kernel: Kernel
    site: Matched
    access: Access
    packed: Mapping[str, Array]

    def of(self, boxes: Sequence[Box]) -> Mapping[str, Array]:
        """The same constants with the bytes of these tiles, of which the first is the largest.

        TilewrightError TW8062 for bytes of another type or shape than the tile's window has.
        """
        result = {name: array.copy() for name, array in self.packed.items()}
        done: set[tuple[str, Window]] = set()
        for box in boxes:
            windows = {name: self.access.window(name, box) for name in result}
            if done.issuperset(windows.items()):
                continue
            for name, content in self._asked(box).items():
                if (name, windows[name]) not in done:
                    self._demand(name, content, windows[name])
                    result[name][tuple(slice(axis.low, axis.high) for axis in windows[name])] = content
            done.update(windows.items())
        return result

    def refusal(self, shared: Sequence[str]) -> str:
        """Why these constants cannot be packed for tiles; "" where they can. `shared`: loops that cores share."""
        if not isinstance(self.access, MapAccess):
            return "packs constants for each tile, and its windows are no index map"
        whole = {loop.name: (0, loop.extent) for loop in self.access.loops}
        for name in self._asked(whole):
            loops = [bare_loop(axis) for axis in self.access.axes[name] if axis.index is not None]
            if not all(loops):
                return f"packs {name} for each tile, and an axis of it is neither a loop nor `:`"
            both = [loop for loop in loops if loop in shared]
            if both:
                return f"packs {name} for each tile, and several cores share its loop '{both[0]}'"
        return ""

    def _asked(self, box: Box) -> Mapping[str, Array]:
        if self.kernel.pack_tile is None:
            return {}
        owner, tile = f"kernel '{self.kernel.name}'", TileShape(site=self.site, access=self.access, box=box)
        answer = demand_mapping(self.kernel.pack_tile(tile), owner, self.kernel.pack_tile, "pack_tile")
        if not answer.keys() <= self.packed.keys():
            wanted = f"some of what `pack` has: {', '.join(self.packed)}"
            raise wrong_answer(owner, self.kernel.pack_tile, "pack_tile", sorted(answer), wanted)
        return answer

    def _demand(self, name: str, answer: Array, window: Window) -> None:
        owner, hook = f"kernel '{self.kernel.name}'", f"pack_tile of '{name}'"
        demand_array(answer, owner, self.kernel.pack_tile, hook)
        shape, dtype = tuple(axis.high - axis.low for axis in window), self.packed[name].dtype
        if (answer.shape, answer.dtype) != (shape, dtype):
            wanted = f"what its map says the tile reads, {dtype}{list(shape)}"
            raise wrong_answer(owner, self.kernel.pack_tile, hook, f"{answer.dtype}{list(answer.shape)}", wanted)


def boxes_of(access: Access, nests: Sequence[Mapping[str, int]]) -> Iterator[Box]:
    """The tiles that nests of loops make, the outermost nest first: each cuts the tiles of the one before it."""
    boxes: list[Box] = [{loop.name: (0, loop.extent) for loop in access.loops}]
    for nest in nests:
        for loop, size in nest.items():
            boxes = [{**box, loop: part} for box in boxes for part in _parts(*box[loop], size)]
    yield from boxes


def _parts(low: int, high: int, size: int) -> Iterator[tuple[int, int]]:
    yield from ((start, min(start + size, high)) for start in range(low, high, size))
