"""Calls of kernels over whole tensors, densely stored: operands without a site, for what only looks at operands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tilewright.ir.graphs.graph import Node
from tilewright.ir.machines.kernel import Call, Matched, Operand
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.layout import row_major, strides

NODE = Node(name="n", op="Any", inputs=(), outputs=())


def plain_operand(name: str, dtype: DType, shape: Sequence[int]) -> Operand:
    """The whole of a row-major tensor; its pointer is its name in lower case."""
    zeros = ("0",) * len(shape)
    return Operand(
        name=name, pointer=name.lower(), dtype=dtype, shape=tuple(shape), strides=strides(shape, row_major(len(shape))),
        extents=tuple(map(str, shape)), origin=zeros, before=zeros, after=zeros,
    )  # fmt: skip


def plain_call(operands: Mapping[str, tuple[DType, Sequence[int]]], first: str = "", last: str = "") -> Call:
    """A call that has these operands, and a site that says nothing."""
    return Call(
        site=Matched(node=NODE, inputs=(), outputs=(), constants={}),
        operands={name: plain_operand(name, *form) for name, form in operands.items()},
        extents={}, name="step", first=first, last=last,
    )  # fmt: skip
