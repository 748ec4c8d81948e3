"""How far every operator of the core can be cut, and that its tiles compute what its reference does, on the twin.

    python benchmarks/operator_tiling.py [--run] [OPERATOR ...]

The table has for each layer of `tilewright.testing.operator_layers`: the loops that may be cut, reductions that may be
cut in brackets; what stays whole, and why; the bytes of all its operands; and the least bytes of the scratchpad that
its tiles can do with, without cutting reductions and with. With `--run` every layer is run in the least of them, in a
tenth and in a third of its inputs, single and double buffered, over one hop and over two: 12 programs, some minutes.
The least is a quarter and 64 B more than the table says: with the very least, most layers have a tile for each element.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from itertools import product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "kit"))

from layer_programs import Case, layer_space, least_room, run_on_twin, two_hops  # found only now
from tilewright.ir.access.index_map import MapAccess
from tilewright.ir.plans.tiler import Buffering
from tilewright.runners.twin import TwinRunner
from tilewright.testing.cluster import cluster
from tilewright.testing.operator_layers import Sample, every_layer
from tilewright.tile.search.tiling_search import smallest_bytes
from tilewright.tile.space.tiling_space import TilingSpace

MIDDLE_BYTES = 10 << 10
SHARES = (0, 10, 3)  # the least; a tenth, a third of the inputs
BUFFERINGS: tuple[Buffering, ...] = ("single", "double")


def main() -> int:
    """Print the table, and with `--run` a line for each program; 1 where a result is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("operators", nargs="*", metavar="OPERATOR")
    parser.add_argument("--run", action="store_true", help="every layer, too")
    arguments = parser.parse_args()
    layers = [layer for layer in every_layer() if not arguments.operators or layer.op in arguments.operators]
    print("| layer | may be cut | stays whole | operands, B | least scratchpad, B | reductions cut, B |")
    print("|---|---|---|---:|---:|---:|")
    for layer in layers:
        print(row(layer), flush=True)
    return run(layers) if arguments.run else 0


def row(layer: Sample) -> str:
    """One line of the table."""
    plain, split = (layer_space(layer, cluster(), split=wanted) for wanted in (False, True))
    cut = [f"({loop.name})" if loop not in plain.cuts else loop.name for loop in split.cuts]
    least = [f"{smallest_bytes(plain, 'single'):,}", f"{smallest_bytes(split, 'single'):,}" if split.sums else ""]
    return f"| {layer.name} | {', '.join(cut)} | {whole(split)} | {operand_bytes(plain):,} | {' | '.join(least)} |"


def whole(space: TilingSpace) -> str:
    """Loops that are not cut and axes that have none, with the reason."""
    result = [f"{loop}: {reason.split(',')[0]}" for loop, reason in space.refused.items()]
    if isinstance(space.access, MapAccess):
        for operand, axes in space.access.axes.items():
            uncut = (at for at, axis in enumerate(axes) if axis.index is None and axis.extent > 1)
            result += [f"axis {at} of {operand}" for at in uncut]
    return "; ".join(result)


def operand_bytes(space: TilingSpace) -> int:
    """Bytes of all operands that are copied."""
    total = 0
    for item in space.copied:
        size = item.item_bytes
        for extent in item.shape:
            size *= extent
        total += size
    return total


def run(layers: Sequence[Sample]) -> int:
    """Run all layers in every room, buffering and number of hops."""
    near = cluster()
    platforms = {"one hop": near, "two hops": two_hops(near.memory("l1").size_bytes or 0, MIDDLE_BYTES)}
    failed = 0
    print()
    for share, buffering, (way, platform) in product(SHARES, BUFFERINGS, platforms.items()):
        cases = [
            Case(layer=layer, room_bytes=room(layer, share), buffering=buffering, number=number)
            for number, layer in enumerate(layers)
        ]
        with tempfile.TemporaryDirectory() as folder:
            wrong = run_on_twin(cases, platform, Path(folder), TwinRunner(seeds=(1,)))
        print(
            f"{room_name(share)}, {buffering}, {way}: {len(cases) - len(wrong)} of {len(cases)} right",
            *wrong,
            flush=True,
        )
        failed += len(wrong)
    return 1 if failed else 0


def room(layer: Sample, share: int) -> int:
    """Bytes for tiles."""
    least = least_room(layer, cluster()) * 5 // 4 + 64
    inputs = sum(array.nbytes for array in layer.inputs if array is not None)
    return max(least, inputs // share) if share else least


def room_name(share: int) -> str:
    """The same in words."""
    return f"1/{share} of the inputs" if share else "the least"


if __name__ == "__main__":
    sys.exit(main())
