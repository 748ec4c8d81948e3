"""Knows what a file declares about values: shapes of graph inputs with their symbols, and whether declared types hold.
Does not know how types are inferred, nor nodes.

onnx's shape inference counts a window of a pool with ceil_mode that begins in the padding behind the input. Operators
and runtimes leave it out. What such a pool's output goes into may be declared with extents that follow from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from tilewright.errors import Diagnostic, TilewrightError, model_error, typed, unsupported_error, usage_error
from tilewright.errors.suggestions import did_you_mean
from tilewright.frontend.reading.file_model import FileGraph, FileValue, reads
from tilewright.frontend.reading.names import show, show_all
from tilewright.frontend.reading.values import checked_size
from tilewright.ir.graphs.graph import Tensor
from tilewright.ir.tensors.dtypes import ELEMENT_TYPES, type_name

_NUMBERS = {dtype: number for number, dtype in ELEMENT_TYPES.items()}


class Declarations:
    """The types that a file declares for values of its main graph; each is checked once, in the order of the nodes."""

    def __init__(self, graph: FileGraph, dims: Mapping[str, int], tensors: Mapping[str, Tensor]) -> None:
        self._declared: dict[str, list[FileValue]] = {}
        for value in (*graph.values, *graph.outputs):
            self._declared.setdefault(value.name, []).append(value)
        self._outputs = [value.name for value in graph.outputs]
        self._dims, self._tensors = dims, tensors
        self._rounded = _behind_rounded_pools(graph)
        self._forgiven: list[str] = []
        self._stale: dict[str, str] = {}  # value that has another shape than is declared -> what is said of it

    def check(self, name: str, value: str) -> None:
        """The file's value `name` is `value` of the graph. TW1212 where the file declares another type; another shape
        is one of the `warnings`.
        """
        tensor = self._tensors.get(value)
        if tensor is None:
            return
        for declared in self._declared.get(name, ()):
            if self._holds(declared, tensor):
                continue
            if not self._holds(replace(declared, dims=None), tensor):
                raise _wrong_type(declared, tensor, self._outputs)
            if name in self._rounded and self._holds(declared, tensor, extents=False):
                self._forgiven.append(name)
            else:
                actual = ",".join(map(str, tensor.shape))
                self._stale.setdefault(name, f"{show(name)} is declared {declared_text(declared)}, but is [{actual}]")

    def warnings(self) -> Iterator[Diagnostic]:
        """One warning about all shapes that are wrong, and one about those that are so because of a pool."""
        if self._stale:
            name, said = next(iter(self._stale.items()))
            more = f" (and {len(self._stale) - 1} more)" if len(self._stale) > 1 else ""
            yield Diagnostic(
                code="TW1212",
                severity="warning",
                message=f"{said}{more}; what follows from the operators is compiled",
                where=f"value {show(name)}",
                fix=_without_shape(name, self._outputs),
            )
        names = list(dict.fromkeys(self._forgiven))
        if names:
            yield Diagnostic(
                code="TW1225",
                severity="warning",
                message=f"{len(names)} value(s) are declared as onnx rounds pools with ceil_mode: {show_all(names)}",
                where=f"value {show(names[0])}",
                fix=("nothing has to be done: their extents follow from the operators, as in other runtimes",),
            )

    def _holds(self, declared: FileValue, tensor: Tensor, *, extents: bool = True) -> bool:
        """Whether type and number of dimensions are as declared, and, with `extents`, every extent is."""
        if declared.kind not in ("", "tensor_type") or declared.data_type not in (0, _NUMBERS[tensor.dtype]):
            return False
        if declared.dims is None:
            return True
        known = [self._dims.get(dim) if isinstance(dim, str) else dim for dim in declared.dims]
        if len(known) != len(tensor.shape):
            return False
        return not extents or all(dim in (None, extent) for dim, extent in zip(known, tensor.shape, strict=True))


def _behind_rounded_pools(graph: FileGraph) -> frozenset[str]:
    """Outputs of pools with ceil_mode, and all values that are computed from them."""
    values: set[str] = set()
    for node in graph.nodes:
        is_pool = node.op_type.endswith("Pool")
        rounded = is_pool and any(each.name == "ceil_mode" and each.value for each in node.attributes)
        if rounded or not values.isdisjoint(reads(node)):
            values.update(node.outputs)
    return frozenset(values)


def _wrong_type(declared: FileValue, tensor: Tensor, outputs: Sequence[str]) -> TilewrightError:
    actual = f"{tensor.dtype.value} [{','.join(map(str, tensor.shape))}]"
    stale, statement = "remove stale declarations", "del model.graph.value_info[:]"
    if declared.name in outputs:
        place = f"model.graph.output[{outputs.index(declared.name)}].type.tensor_type"
        stale, statement = "declare its type", f"{place}.elem_type = {_NUMBERS[tensor.dtype]}"
    return model_error(
        "TW1212",
        f"value {show(declared.name)} is declared {declared_text(declared)}, but it is {actual}",
        where=f"value {show(declared.name)}",
        fix=(f"{stale}: onnx.load, `{statement}`, onnx.save", "or export the model again"),
    )


def _without_shape(name: str, outputs: Sequence[str]) -> tuple[str, ...]:
    """What to do about a shape that is declared wrongly."""
    stale, statement = "remove stale declarations", "del model.graph.value_info[:]"
    if name in outputs:
        place = f"model.graph.output[{outputs.index(name)}].type.tensor_type"
        stale, statement = "declare no shape", f"{place}.ClearField('shape')"
    return (f"{stale}: onnx.load, `{statement}`, onnx.save", "or check --dim and the input shapes of the export")


def symbol_of(value: FileValue, axis: int) -> str:
    """The name of a dimension without a number: its symbol, or `NAME[AXIS]` where it has none."""
    dim = (value.dims or ())[axis]
    return dim if isinstance(dim, str) else f"{value.name}[{axis}]"


def input_tensors(inputs: Sequence[FileValue], dims: Mapping[str, int], limit_bytes: int) -> tuple[Tensor, ...]:
    """Types of the graph inputs, every dimension a number.

    Raises TW1205 listing all symbols without a value, TW1219 for a `dims` entry that fits nothing or is
    negative, TW1206 for an absurd shape, TW2102 for a type that tilewright does not hold.
    """
    for value in inputs:
        _check_type(value)
    symbols = symbols_of(inputs)
    _check_given(dims, symbols)
    missing = {symbol: value for symbol, value in symbols.items() if symbol not in dims}
    if missing:
        raise _symbolic(missing)
    return tuple(_tensor(value, dims, limit_bytes) for value in inputs)


def symbols_of(inputs: Sequence[FileValue]) -> dict[str, FileValue]:
    """Every dimension without a number, by its name, and the first input that has it."""
    symbols: dict[str, FileValue] = {}
    for value in inputs:
        for axis, dim in enumerate(value.dims or ()):
            if not isinstance(dim, int):
                symbols.setdefault(symbol_of(value, axis), value)
    return symbols


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
        kind = type_name(value.data_type) if value.kind == "tensor_type" else value.kind or "a value without a type"
        raise unsupported_error(
            "TW2102",
            f"an input is {kind}, which tilewright does not hold",
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


def with_fitting_dims(error: TilewrightError, missing: Iterable[str], extent: int | None) -> TilewrightError:
    """TW1205 with `--dim` for all that is `missing`: an extent that the network can be imported with, or none."""
    if extent is None:
        return replace(error, fix=("give each its number, as --dim NAME=NUMBER: no one number fits all of them",))
    return replace(error, fix=(typed(*(word for symbol in missing for word in ("--dim", f"{symbol}={extent}"))),))


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
