"""Knows constants whose bytes a kernel arranges for each tile (`Kernel.pack_tile`), once tiles are chosen, and those
that hold places of its operands (`Kernel.pack_placed`). Does not know who chooses tiles, nor where anything is placed.

The place of a tile in the whole constant is the window that its access says: so sizes, transfers and addresses are
known before the tiles are, and only bytes change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tilewright.errors import TilewrightError, memory_error
from tilewright.ir.access.index import bare_loop
from tilewright.ir.access.index_map import Access, Box, MapAccess, Window
from tilewright.ir.machines.kernel import Kernel, Matched, PlacedTile, TileShape
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
                    self._demand("pack_tile", self.kernel.pack_tile, name, content, windows[name])
                    result[name][tuple(slice(axis.low, axis.high) for axis in windows[name])] = content
            done.update(windows.items())
        return result

    def placed(self, tiles: Sequence[PlacedTile], step: str) -> Mapping[str, Array]:
        """The same constants with what these tiles of a step read, each knowing where its operands are.

        TilewrightError TW8062 as above, TW5067 (exit 5) where tiles need other bytes in the same place.
        """
        result = {name: array.copy() for name, array in self.packed.items()}
        parts: list[tuple[str, tuple[slice, ...], Array]] = []
        for tile in tiles:
            for name, content in self._answered("pack_placed", self.kernel.pack_placed, tile).items():
                window = self.access.window(name, tile.box)
                self._demand("pack_placed", self.kernel.pack_placed, name, content, window)
                parts.append((name, tuple(slice(axis.low, axis.high) for axis in window), content))
                result[name][parts[-1][1]] = content
        for name, part, content in parts:
            if result[name][part].tobytes() != content.tobytes():
                raise _shared_by_tiles(self.kernel.name, name, step)
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
        return self._answered(
            "pack_tile", self.kernel.pack_tile, TileShape(site=self.site, access=self.access, box=box)
        )

    def _answered(
        self, hook: str, function: Callable[[Any], Mapping[str, Array]] | None, tile: object
    ) -> Mapping[str, Array]:
        if function is None:
            return {}
        owner = f"kernel '{self.kernel.name}'"
        answer: Mapping[str, Array] = demand_mapping(function(tile), owner, function, hook)
        if not answer.keys() <= self.packed.keys():
            wanted = f"some of what `pack` has: {', '.join(self.packed)}"
            raise wrong_answer(owner, function, hook, sorted(answer), wanted)
        return answer

    def _demand(self, hook: str, function: object, name: str, answer: Array, window: Window) -> None:
        owner, hook = f"kernel '{self.kernel.name}'", f"{hook} of '{name}'"
        demand_array(answer, owner, function, hook)
        shape, dtype = tuple(axis.high - axis.low for axis in window), self.packed[name].dtype
        if (answer.shape, answer.dtype) != (shape, dtype):
            wanted = f"what its map says the tile reads, {dtype}{list(shape)}"
            raise wrong_answer(owner, function, hook, f"{answer.dtype}{list(answer.shape)}", wanted)


def boxes_of(access: Access, nests: Sequence[Mapping[str, int]]) -> Iterator[Box]:
    """The tiles that nests of loops make, the outermost nest first: each cuts the tiles of the one before it."""
    boxes: list[Box] = [{loop.name: (0, loop.extent) for loop in access.loops}]
    for nest in nests:
        boxes = [part for box in boxes for part in parts_of(box, nest)]
    yield from boxes


def parts_of(around: Box, nest: Mapping[str, int]) -> Iterator[Box]:
    """The tiles that a nest cuts a box into, the last loop changing first."""
    boxes: list[Box] = [around]
    for loop, size in nest.items():
        boxes = [{**box, loop: part} for box in boxes for part in _parts(*box[loop], size)]
    yield from boxes


def _parts(low: int, high: int, size: int) -> Iterator[tuple[int, int]]:
    yield from ((start, min(start + size, high)) for start in range(low, high, size))


def _shared_by_tiles(kernel: str, operand: str, step: str) -> TilewrightError:
    return memory_error(
        "TW5067",
        f"tiles of '{step}' read the same bytes of {operand}, and kernel '{kernel}' packs others for each of them",
        details=("their operands are in other places, or they compute something else",),
        fix=(f"let the kernel's `access` give {operand} an axis for every loop that its tiles cut",),
    )
