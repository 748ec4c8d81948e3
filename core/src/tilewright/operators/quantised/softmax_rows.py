"""Knows the rows of a QSoftmax: along which axis they lie, and what a kernel reads and writes.
Does not know what is computed of a row.
"""

from __future__ import annotations

from tilewright.ir.graphs.graph import Site

TFLM = "tflm"  # the rounding that is TensorFlow Lite Micro's


def axis_of(site: Site) -> int:
    """The axis of rows, counted from the front."""
    return site.node.integer("axis", -1) % len(site.input(0).shape)


def softmax_map(site: Site, table: str) -> str:
    """The index map: whole rows, and the index of a table."""
    axis, rank = axis_of(site), len(site.input(0).shape)
    loops = [f"a{index}" for index in range(rank) if index != axis]
    indices = ",".join(":" if index == axis else f"a{index}" for index in range(rank))
    return f"{' '.join(loops)} : X[{indices}] {table} -> Y[{indices}]"
