"""Knows the contract between the importer and an operator family: how one ONNX node becomes nodes of the normal form.
Does not know any operator, nor how a file is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from tilewright.ir.graphs.graph import Attribute, Tensor

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]


MOST_ELEMENTS = 1 << 23  # 64 MiB of float64 or int64
MOST_OPERANDS = 1 << 10  # of a node that takes any number


@dataclass(frozen=True, slots=True, kw_only=True)
class OnnxNode:
    """One node as the file has it, its attributes turned into Python values and known to be well-typed."""

    name: str
    op_type: str
    domain: str
    version: int  # of the operator set it was written for
    inputs: tuple[str, ...]  # names already resolved to values of the graph being built; "" is absent
    outputs: tuple[str, ...]
    attributes: Mapping[str, object]  # int, float, str, tuples of them, or a numpy array for a tensor
    unread: frozenset[str] = frozenset()  # outputs that nothing reads: they need not be written

    def integer(self, name: str, default: int = 0) -> int:
        """An int attribute."""
        return int(_checked(self.attributes.get(name, default), int, name))

    def number(self, name: str, default: float = 0.0) -> float:
        """A float attribute."""
        return float(_checked(self.attributes.get(name, default), (int, float), name))

    def text(self, name: str, default: str = "") -> str:
        """A string attribute."""
        return str(_checked(self.attributes.get(name, default), str, name))

    def integers(self, name: str, default: tuple[int, ...] = ()) -> tuple[int, ...]:
        """A list-of-ints attribute."""
        return tuple(int(item) for item in _checked(self.attributes.get(name, default), tuple, name))


def need_room(node: OnnxNode, graph: Conversion, elements: int) -> None:
    """Refuse a node for which the importer itself would make arrays of more elements than MOST_ELEMENTS."""
    if elements > MOST_ELEMENTS:
        raise graph.refuse(node, f"it takes a table of {elements:,} elements; at most {MOST_ELEMENTS:,} are made")


def need_few_operands(node: OnnxNode, graph: Conversion) -> None:
    """Refuse a node with more than MOST_OPERANDS: what is done for each of them, or each pair, would take too long."""
    if len(node.inputs) > MOST_OPERANDS:
        raise graph.refuse(node, f"it has {len(node.inputs):,} operands; at most {MOST_OPERANDS:,} are taken")


def _checked(value: Any, kind: Any, name: str) -> Any:
    """The reader has checked types against `Import.attributes`; a mismatch here is a bug of the Import."""
    if not isinstance(value, kind):
        raise TypeError(f"attribute {name} is {value!r}, not {kind}")
    return value


class Conversion(Protocol):
    """What an import function may do. All names it is given and gives are of the graph being built."""

    def tensor(self, name: str) -> Tensor:
        """Type and shape of a value that is already there."""
        ...

    def constant(self, name: str) -> Array | None:
        """The elements of a value known at compile time, else None."""
        ...

    def stored_bits(self, name: str) -> int:
        """Bits of an element as the file stores it: 4 or 2 for a constant that is only held in 8."""
        ...

    def need_constant(self, node: OnnxNode, index: int) -> Array:
        """The elements of input `index`; refuses the node with a clear reason when they are not constant."""
        ...

    def add_constant(self, array: Array, hint: str) -> str:
        """A new constant; `hint` becomes part of its name. An output of the node as hint writes that output."""
        ...

    def emit(
        self,
        node: OnnxNode,
        op: str,
        inputs: Sequence[str],
        outputs: Sequence[str] = (),
        attributes: Mapping[str, Attribute] | None = None,
        hint: str = "",
    ) -> str:
        """Add a node of the normal form and infer its outputs. Returns its first output's name.

        `outputs` empty makes one new value, named after `node` and `hint`. Pass `node.outputs` for the last.
        """
        ...

    def name(self, node: OnnxNode, hint: str) -> str:
        """A name that nothing has, for one of several new values that one `emit` writes."""
        ...

    def apply(
        self,
        node: OnnxNode,
        op_type: str,
        version: int,
        inputs: Sequence[str],
        outputs: Sequence[str] = (),
        attributes: Mapping[str, object] | None = None,
        hint: str = "",
    ) -> str:
        """Import another ONNX node, of operator set `version` of domain "", in the place of `node`.

        For operators that are defined by others (QLinearConv). Names as in `emit`; returns the first output's.
        """
        ...

    def rename(self, node: OnnxNode, source: str) -> None:
        """The ONNX node's first output is simply `source` (Identity, Dropout, a no-op)."""
        ...

    def refuse(self, node: OnnxNode, reason: str) -> Exception:
        """An error to raise: this node cannot be imported, and why. All refusals of a model are shown together."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """One signature of one ONNX operator: valid from opset `since` until the next Import of the same op_type.

    `attributes` maps every attribute the signature knows to its ONNX type name
    ("INT", "INTS", "FLOAT", "FLOATS", "STRING", "STRINGS", "TENSOR"); any other attribute is refused.
    """

    op_type: str
    since: int
    attributes: Mapping[str, str]
    convert: Callable[[OnnxNode, Conversion], None]
    domain: str = ""
    min_inputs: int = 1
    max_inputs: int = 1
    halves: bool = False  # takes floats of 16 bits; else their inputs become float32, and results are rounded to them
    packed: bool = False  # takes constants of 4 and 2 bits, as the same numbers in 8; else they are refused


def with_halves(*imports: Import) -> tuple[Import, ...]:
    """The same for an operator family that takes floats of 16 bits as they are."""
    return tuple(replace(signature, halves=True) for signature in imports)
