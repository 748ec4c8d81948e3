"""Knows what kernels share that compute a reduction in parts: the grain of parts, and what C is told of the sums.
Does not know any of their loops.
"""

from __future__ import annotations

from collections.abc import Mapping

from tilewright.api.kernel import Call

GRAIN = 8  # channels of a part are a multiple: words stay whole, and rows that are copied have some length


def image_sums(call: Call) -> Mapping[str, object]:
    """Steps of the sums of an image, channels last; an image of one axis is a single row."""
    steps = call.operands["acc"].strides
    return {"acc_batch": steps[0], "acc_row": 0 if len(steps) == 3 else steps[2], "acc_column": steps[-1]}


def always(left: str, right: str) -> bool | None:
    """Whether two extents, as C, are equal; None where only the program knows."""
    return int(left) == int(right) if left.isdecimal() and right.isdecimal() else None
