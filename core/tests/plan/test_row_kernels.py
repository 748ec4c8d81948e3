"""Which kernels are best where every call computes one row."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tilewright.bind import bind
from tilewright.ir.access import Access, parse_map, whole
from tilewright.ir.decisions import Decisions
from tilewright.ir.dtypes import DType
from tilewright.ir.kernel import Kernel, Matched, TileShape
from tilewright.ir.layer import Layers
from tilewright.plan.row_kernels import kernels_by_rows
from tilewright.testing.one_step import portable_kernels, vocabulary
from tilewright.testing.row_networks import ONE_MEMORY
from tilewright.testing.sketch import Sketch


def in_one_piece(site: Matched) -> Access:
    """An access that no loop can be cut of."""
    return whole({"X": site.input(0).shape}, {"Y": site.output.shape})


def by_rows(site: Matched) -> Access:
    """One that takes rows."""
    return parse_map("h : X[:,:,h,:] -> Y[:,:,h,:]").bind({"X": site.input(0).shape, "Y": site.output.shape})


def chosen(access: Callable[[Matched], Access], cycles: Callable[[TileShape], float]) -> dict[str, str]:
    """What is chosen for a Clip over an image that a fast kernel of somebody's computes."""
    sketch = Sketch(operators=vocabulary())
    x = sketch.input("x", DType.F32, (1, 2, 8, 8))
    graph = sketch.finish(sketch.node("Clip", (x,), {"min": 0.0, "max": 6.0}, name="clip"))
    theirs = Kernel(name="acme.clip", op="Clip", access=access, cycles=cycles, call=";")
    kernels = {**portable_kernels(), theirs.name: theirs}
    bound = bind(graph, ONE_MEMORY, vocabulary(), kernels, Decisions())
    assert bound.bindings["clip"].kernel is theirs
    return kernels_by_rows(bound, Layers(operators=vocabulary()))


def test_a_kernel_of_whole_images_is_exchanged() -> None:
    assert chosen(in_one_piece, lambda tile: 1.0) == {"clip": "portable.clip"}


def test_a_fast_kernel_that_takes_rows_stays() -> None:
    assert chosen(by_rows, lambda tile: 1.0 * tile.extent("h")) == {}


@pytest.mark.parametrize("each", [10.0, 100.0])
def test_a_kernel_that_loses_much_by_rows_is_exchanged(each: float) -> None:
    assert chosen(by_rows, lambda tile: each) == ({"clip": "portable.clip"} if each > 16 else {})
