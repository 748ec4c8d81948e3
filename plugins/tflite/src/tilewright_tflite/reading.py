"""Knows the tables of a TensorFlow Lite file, and turns its bytes into a `Model` within limits.
Does not know what an operator computes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tilewright.api.importer import Limits
from tilewright_tflite.codes import CODES
from tilewright_tflite.flatbuffer import BudgetError, Buffer, DamagedError, Table
from tilewright_tflite.model import STORED, TYPES, Model, Operator, Subgraph, Tensor

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

MAGIC = b"TFL3"  # at byte 4
VERSION = 3
_CUSTOM = 32  # the code of an operator that has a name of its own
_OPERANDS = 1024  # of one operator
_NUMBERS = 10  # extents and operands, for each table
_GRAPHS = 256
_LEAST_LETTERS = 1 << 20
_NO_OPTIONS = b"\x04\x00\x04\x00\x04\x00\x00\x00"  # a vtable without fields, and a table behind it


def is_tflite(data: bytes) -> bool:
    """Whether the bytes begin as such files do."""
    return data[4:8] == MAGIC


def read(data: bytes, limits: Limits) -> Model:
    """Everything of a file that is used. Raises DamagedError or BudgetError."""
    if not is_tflite(data):
        raise DamagedError("bytes 4 to 7 are not TFL3")
    most = limits.nodes  # tensors, their scales, their buffers, operators, their options
    letters = max(_LEAST_LETTERS, len(data))
    buffer = Buffer(data=data, tables=most, numbers=_NUMBERS * most, letters=letters, longest_name=limits.name_length)
    root = buffer.root()
    if root.integer(0) != VERSION:
        raise DamagedError(f"it is of version {root.integer(0)} of the format, and only {VERSION} is known")
    if not 1 <= root.count(2) <= _GRAPHS:
        raise DamagedError(f"it has {root.count(2):,} graphs; from 1 to {_GRAPHS} can be")
    codes = [_code(table) for table in root.children(1)]
    contents = [_content(table, buffer) for table in root.children(4)]
    graphs = tuple(_graph(table, codes, contents, limits) for table in root.children(2))
    signatures = tuple((table.text(2), table.integer(4, 0, "<I")) for table in root.children(7))
    if any(place >= len(graphs) for _, place in signatures):
        raise DamagedError("a signature is of a graph that is not there")
    return Model(graphs=graphs, signatures=signatures)


def _code(table: Table) -> tuple[str, int, bool]:
    """Name and version of an operator, and whether the name is its own."""
    number = max(table.byte(0), table.integer(3))  # the older field ends at 127
    if number == _CUSTOM:
        return table.text(1) or "CUSTOM", table.integer(2, 1), True
    return CODES.get(number, f"BUILTIN_{number}"), table.integer(2, 1), False


def _content(table: Table, buffer: Buffer) -> Array | None:
    """The bytes of a buffer; None for one that is empty. Those of large files stand behind all tables."""
    start, size = table.integer(1, 0, "<Q"), table.integer(2, 0, "<Q")
    if start > 1:  # 1 marks one that was left out
        buffer.demand(start, size)
        return np.frombuffer(buffer.data, np.uint8, size, start)
    data = table.array(0, "u1")
    return data if data.size else None


def _graph(table: Table, codes: list[tuple[str, int, bool]], contents: list[Array | None], limits: Limits) -> Subgraph:
    tensors = tuple(_tensor(index, each, contents, limits) for index, each in enumerate(table.children(0)))
    return Subgraph(
        name=table.text(4),
        tensors=tensors,
        inputs=_indices(table, 1, len(tensors), least=0),
        outputs=_indices(table, 2, len(tensors), least=0),
        operators=tuple(_operator(index, each, codes, len(tensors)) for index, each in enumerate(table.children(3))),
    )


def _tensor(index: int, table: Table, contents: list[Array | None], limits: Limits) -> Tensor:
    shape, place = table.integers(0), table.integer(2, 0, "<I")
    if len(shape) > limits.rank:
        raise BudgetError("rank")
    if min(shape, default=0) < 0:
        raise DamagedError(f"tensor {index} has a negative extent")
    if place >= len(contents):
        raise DamagedError(f"tensor {index} is in buffer {place:,}, of {len(contents):,}")
    quantisation = table.child(4)
    scales = quantisation.array(2, "<f4") if quantisation else np.zeros(0, np.float32)
    zeros = quantisation.array(3, "<i8") if quantisation else np.zeros(0, np.int64)
    axis = quantisation.integer(6) if quantisation and len(shape) != 1 else 0  # old files give a bias its weights' axis
    kind = TYPES.get(table.byte(1), f"type {table.byte(1)}")
    return Tensor(
        index=index,
        name=table.text(3),
        type=kind,
        shape=shape,
        scales=scales,
        zero_points=zeros,
        axis=axis,
        data=contents[place],
        variable=table.flag(5),
        fault=_fault(table, quantisation, shape, axis) or _scale_fault(kind, scales, zeros),
    )


def _fault(table: Table, quantisation: Table | None, shape: tuple[int, ...], axis: int) -> str:
    """Why no operator may use a tensor, by the way it is stored."""
    if table.child(6) is not None:
        return "is stored sparsely"
    if quantisation is None:
        return ""
    if quantisation.byte(4) != 0:
        return "is quantised in a way of its own"
    scales = len(quantisation.array(2, "<f4"))
    if scales > 1 and not (0 <= axis < len(shape) and scales == shape[axis]):
        return f"has {scales:,} scales along axis {axis}, which does not fit its shape"
    return ""


def _scale_fault(kind: str, scales: Array, zeros: Array) -> str:
    """The same, by its scales and zero points."""
    if scales.size and not (np.isfinite(scales).all() and scales.min() >= 0):
        return "has a scale that is negative, or no number"
    if len(zeros) not in (0, 1, len(scales)):
        return f"has {len(zeros):,} zero points, and {len(scales):,} scales"
    if kind not in STORED or not zeros.size:
        return ""
    limits = np.iinfo("int8" if kind == "int4" else kind)
    return "" if limits.min <= zeros.min() and zeros.max() <= limits.max else f"has a zero point that is no {kind}"


def _operator(index: int, table: Table, codes: list[tuple[str, int, bool]], tensors: int) -> Operator:
    which = table.integer(0, 0, "<I")
    if which >= len(codes):
        raise DamagedError(f"operator {index} is of kind {which:,}, of {len(codes):,}")
    code, version, custom = codes[which]
    options, kind = table.child(4), table.integer(3, 0, "<B")
    return Operator(
        index=index,
        code=code,
        version=version,
        inputs=_indices(table, 1, tensors, least=-1),
        outputs=_indices(table, 2, tensors, least=0),
        options=options or _no_options(),
        options_type=kind if options else 0,
        custom=custom,
        custom_options=table.array(5, "u1").tobytes() if custom else b"",
    )


def _no_options() -> Table:
    """A table without fields."""
    return Buffer(data=_NO_OPTIONS, tables=1, numbers=0, letters=0, longest_name=0).table(4)


def _indices(table: Table, number: int, tensors: int, *, least: int) -> tuple[int, ...]:
    """Indices of tensors, all of which are there."""
    result = table.integers(number)
    if len(result) > _OPERANDS:
        raise BudgetError("operands")
    if result and not (min(result) >= least and max(result) < tensors):
        raise DamagedError(f"a tensor is named that is none of the {tensors:,} there are")
    return result
