"""Knows the shapes of graph inputs: symbols and the values a user gives them. Does not know nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tilewright.errors import TilewrightError, model_error, typed, unsupported_error, usage_error
from tilewright.errors.suggestions import did_you_mean
from tilewright.frontend.reading.file_model import FileValue
from tilewright.frontend.reading.names import show, show_all
from tilewright.frontend.reading.values import checked_size
from tilewright.ir.graphs.graph import Tensor
from tilewright.ir.tensors.element_types import ELEMENT_TYPES, type_name


def symbol_of(value: FileValue, axis: int) -> str:
    """What a dimension without a number is called: by its symbol, or `NAME[AXIS]` where it has none."""
    dim = (value.dims or ())[axis]
    return dim if isinstance(dim, str) else f"{value.name}[{axis}]"


def input_tensors(inputs: Sequence[FileValue], dims: Mapping[str, int], limit_bytes: int) -> tuple[Tensor, ...]:
    """Types of the graph inputs, every dimension a number.

    Raises TW1205 listing all symbols without a value, TW1219 for a `dims` entry that fits nothing or is
    negative, TW1206 for an absurd shape, TW2102 for a type that tilewright does not hold.
    """
    symbols: dict[str, FileValue] = {}
    for value in inputs:
        _check_type(value)
        for axis, dim in enumerate(value.dims or ()):
            if not isinstance(dim, int):
                symbols.setdefault(symbol_of(value, axis), value)
    _check_given(dims, symbols)
    missing = {symbol: value for symbol, value in symbols.items() if symbol not in dims}
    if missing:
        raise _symbolic(missing)
    return tuple(_tensor(value, dims, limit_bytes) for value in inputs)


def _tensor(value: FileValue, dims: Mapping[str, int], limit_bytes: int) -> Tensor:
    shape = tuple(
        dim if isinstance(dim, int) else dims[symbol_of(value, axis)] for axis, dim in enumerate(value.dims or ())
    )
    dtype = ELEMENT_TYPES[value.data_type]
    checked_size(shape, dtype.size_bytes, limit_bytes, f"input {show(value.name)}")
    return Tensor(name=value.name, dtype=dtype, shape=shape)


def _check_type(value: FileValue) -> None:
    where = f"input {show(value.name)}"
    if value.kind != "tensor_type" or value.data_type not in ELEMENT_TYPES:
        found = type_name(value.data_type) if value.kind == "tensor_type" else value.kind or "a value without a type"
        raise unsupported_error(
            "TW2102",
            f"an input is {found}, which tilewright does not hold",
            where=where,
            fix=("export the model with float or 8-bit integer tensors",),
        )
    if value.dims is None:
        raise model_error(
            "TW1205",
            "an input has no shape, not even its number of dimensions",
            where=where,
            fix=("export the model with example inputs of the shape it will run on",),
        )


def _check_given(dims: Mapping[str, int], symbols: Mapping[str, FileValue]) -> None:
    for symbol, number in dims.items():
        if symbol not in symbols:
            there = f"the model has {show_all(symbols, 8)}" if symbols else "every dimension of the model is a number"
            raise usage_error(
                "TW1219",
                f"--dim {show(symbol)[1:-1]}={number} names no symbolic dimension; {there}",
                details=did_you_mean(symbol, symbols),
                fix=("remove or correct that --dim",),
            )
        if number < 0:
            raise usage_error(
                "TW1219", f"--dim {show(symbol)[1:-1]}={number} is negative", fix=(typed("--dim", f"{symbol}=1"),)
            )


def _symbolic(missing: Mapping[str, FileValue]) -> TilewrightError:
    first = next(iter(missing.values()))
    shown = list(missing)[:8]
    return model_error(
        "TW1205",
        f"{len(missing)} dimension(s) of the inputs have no number: {show_all(missing, 8)}",
        where=f"input {show(first.name)} {declared_text(first)}",
        details=("C for a machine with fixed memory is made for fixed shapes",),
        fix=(typed(*(word for symbol in shown for word in ("--dim", f"{symbol}=1"))),),
    )


def declared_text(value: FileValue) -> str:
    """A declared type for messages: `f32 [N,3,32,32]`."""
    dims = "any shape" if value.dims is None else "[" + ",".join("?" if d is None else str(d) for d in value.dims) + "]"
    return f"{type_name(value.data_type)} {dims}"
