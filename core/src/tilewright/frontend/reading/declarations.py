"""Knows whether the types that a file declares for values hold, and where a wrong one is onnx's own mistake.
Does not know how types are inferred.

onnx's shape inference counts a window of a pool with ceil_mode that begins in the padding behind the input. Operators
and runtimes leave it out. What such a pool's output goes into may be declared with extents that follow from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tilewright.errors import Diagnostic, TilewrightError, model_error
from tilewright.frontend.reading.dims import declared_text
from tilewright.frontend.reading.file_model import FileGraph, FileNode, FileValue, reads
from tilewright.frontend.reading.names import show, show_all
from tilewright.ir.graphs.graph import Tensor
from tilewright.ir.tensors.element_types import ELEMENT_TYPES

_NUMBERS = {dtype: number for number, dtype in ELEMENT_TYPES.items()}


class Declarations:
    """What a file says about the values of its main graph; asked once for each value, in the order of the nodes."""

    def __init__(self, graph: FileGraph, dims: Mapping[str, int], tensors: Mapping[str, Tensor]) -> None:
        self._declared: dict[str, list[FileValue]] = {}
        for value in (*graph.values, *graph.outputs):
            self._declared.setdefault(value.name, []).append(value)
        self._outputs = [value.name for value in graph.outputs]
        self._dims, self._tensors = dims, tensors
        self._rounded = _behind_rounded_pools(graph)
        self._forgiven: list[str] = []

    def check(self, name: str, value: str) -> None:
        """The file's value `name` is `value` of the graph. TW1212 where the file declares another type or shape."""
        tensor = self._tensors.get(value)
        if tensor is None:
            return
        for each in self._declared.get(name, ()):
            if self._holds(each, tensor):
                continue
            if name not in self._rounded or not self._holds(each, tensor, extents=False):
                raise _wrong(each, tensor, self._outputs)
            self._forgiven.append(name)

    def warnings(self) -> Iterator[Diagnostic]:
        """One warning about all shapes that are wrong because of a pool, if there are any."""
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
    """Outputs of pools with ceil_mode, and everything computed from them."""
    found: set[str] = set()
    for node in graph.nodes:
        if _rounds_up(node) or any(name in found for name in reads(node)):
            found.update(node.outputs)
    return frozenset(found)


def _rounds_up(node: FileNode) -> bool:
    return node.op_type.endswith("Pool") and any(each.name == "ceil_mode" and each.value for each in node.attributes)


def _wrong(declared: FileValue, tensor: Tensor, outputs: Sequence[str]) -> TilewrightError:
    found = f"{tensor.dtype.value} [{','.join(map(str, tensor.shape))}]"
    stale, statement = "remove stale declarations", "del model.graph.value_info[:]"
    if declared.name in outputs:
        typed = f"model.graph.output[{outputs.index(declared.name)}].type.tensor_type"
        stale, statement = "declare no shape", f"{typed}.ClearField('shape')"
        if declared.data_type != _NUMBERS[tensor.dtype]:
            stale, statement = "declare its type", f"{typed}.elem_type = {_NUMBERS[tensor.dtype]}"
    return model_error(
        "TW1212",
        f"value {show(declared.name)} is declared {declared_text(declared)}, but it is {found}",
        where=f"value {show(declared.name)}",
        fix=(f"{stale}: onnx.load, `{statement}`, onnx.save", "or check --dim and the input shapes of the export"),
    )
