"""Knows which trips of a reduction are a row of an image that it reads flattened, through a view of the same bytes.
Does not know in which order rows are computed, nor what becomes of the sums.
"""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from tilewright.ir.access.index import bare_loop
from tilewright.ir.access.index_map import Access, Loop, MapAccess
from tilewright.ir.plans.region import SplitReduction
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.layout import Layout
from tilewright.tile.space.step_spaces import StepOperand


class Flattened(NamedTuple):
    """An operand that shows an image, and the loop through it: a row is `length` trips in each of `runs` parts."""

    operand: str
    loop: Loop
    runs: int
    length: int

    def sums(self, dtype: DType) -> SplitReduction:
        """The reduction by rows of the image."""
        return SplitReduction(loops=(self.loop.name,), dtype=dtype, runs=self.runs, length=self.length)


def flattened(
    access: Access, operand: StepOperand, loop: Loop, image: tuple[int, ...], layout: Layout, axis: int
) -> Flattened | None:
    """How a loop goes through the rows, along `axis`, of an image whose bytes are the operand's. None where it does not
    go through all of the operand, one element after the other.
    """
    if not isinstance(access, MapAccess) or prod(operand.shape) != loop.extent or image[axis] == 1:
        return None
    if all(bare_loop(one) != loop.name for one in access.axes[operand.name]):
        return None
    at = layout.index(axis)
    runs, length = (prod(image[one] for one in axes) for axes in (layout[:at], layout[at + 1 :]))
    return Flattened(operand=operand.name, loop=loop, runs=runs, length=length)
