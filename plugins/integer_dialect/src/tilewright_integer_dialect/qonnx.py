"""Knows QONNX, the form in which Brevitas and FINN export quantised networks: floats that a node Quant rounds to a
grid. Does not know how pairs of QuantizeLinear and DequantizeLinear, which these nodes become, are turned into
integers.

`y = (clip(round(x / scale + zero_point), low, high) - zero_point) * scale`. Values of up to 16 bits become integers,
constants those of up to 32. A pair adds its zero point behind the rounding: halves, which go to even, go the other way
where a zero point is odd, as in the pairs that Brevitas itself exports. Pairs are those of onnxruntime's domain: they
have 16 bits and scales for each channel beside every operator set, and files of these tools are of old ones, too.
Source: the operator definitions of QONNX.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tilewright.api import unsupported_error
from tilewright.api.graph import DType
from tilewright.api.importer import ImportedModel, Limits
from tilewright_integer_dialect.file_nodes import FileNode, OddNode, file_nodes
from tilewright_integer_dialect.float_nodes import FloatNodes
from tilewright_integer_dialect.writing import declared_shapes, file_constants

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

_DOMAINS = ("qonnx.custom_op.general", "finn.custom_op.general", "onnx.brevitas")
_PAIRS = "com.microsoft"
_CLIP_INPUTS = 11  # the operator set from which on limits are inputs
_MOST_BITS = 16
_MOST_BITS_OF_CONSTANTS = 32  # biases have as many
_ROUNDINGS = ("ROUND", "HALF_EVEN")  # one thing, by its older and its newer name


@dataclass(frozen=True, slots=True, kw_only=True)
class _Grid:
    """What a Quant rounds to. Scale and zero point are arrays of one element, or of one for each channel."""

    scale: Any
    zero_point: Any
    low: int
    high: int

    @property
    def dtype(self) -> str:
        """Numpy's name of the type that holds it."""
        steps = self.high - self.low
        if steps >= 2**16:
            return "int32"
        return f"{'int' if self.low < 0 else 'uint'}{8 if steps < 2**8 else 16}"

    @property
    def whole(self) -> bool:
        """Whether it is all of that type."""
        return self.high - self.low in (2**8 - 1, 2**16 - 1)


def speaks(model: Any, types: Mapping[str, DType]) -> bool:
    """Whether there is a Quant."""
    return any(node.op_type == "Quant" and node.domain in _DOMAINS for node in model.graph.node)


def translate(model: Any, types: Mapping[str, DType], limits: Limits) -> ImportedModel:
    """See `Dialect.translate`. TilewrightError TW2101 (exit 4) with every Quant that cannot be taken."""
    from onnx import ModelProto, helper

    nodes, constants = FloatNodes(model.graph, declared_shapes(model.graph)), file_constants(model.graph)
    opset = max((entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx")), default=1)
    odd = []
    for node in file_nodes(model.graph.node):
        try:
            if node.op == "Quant" and node.raw.domain in _DOMAINS:
                _quant(node, nodes, constants, opset)
            else:
                nodes.keep(node)
        except OddNode as reason:
            odd.append(f"{node.label}: {reason}")
    if odd:
        raise unsupported_error(
            "TW2101",
            f"{len(odd)} node{'s' if len(odd) > 1 else ''} of QONNX cannot be taken",
            details=tuple(odd),
            fix=("export with constant scales, zero points and bit widths",),
        )
    made = ModelProto()
    made.CopyFrom(model)
    del made.graph.node[:]
    made.graph.node.extend(nodes.nodes)
    made.graph.initializer.extend(nodes.initializers)
    if all(entry.domain != _PAIRS for entry in made.opset_import):
        made.opset_import.append(helper.make_opsetid(_PAIRS, 1))
    return ImportedModel(model=made)


def _quant(node: FileNode, nodes: FloatNodes, constants: Mapping[str, Array], opset: int) -> None:
    import numpy as np

    scale, zero_point, bits = (_known(node, index, constants) for index in (1, 2, 3))
    if node.text("rounding_mode", "ROUND").upper() not in _ROUNDINGS:
        raise OddNode(f"it rounds by {node.text('rounding_mode', '')}; {' and '.join(_ROUNDINGS)} can be taken")
    if bits.size != 1 or bits.item() != int(bits.item()) or int(bits.item()) < 2:
        raise OddNode(f"{bits.reshape(-1).tolist()} bits")
    if not np.array_equal(zero_point, np.rint(zero_point)) or scale.min(initial=1) <= 0:
        raise OddNode("a zero point with fractions, or a scale that is not above 0")
    signed, narrow = node.integer("signed", default=1), node.integer("narrow", default=0)
    levels = 1 << int(bits.item())
    low = (-levels // 2 + narrow) if signed else 0
    grid = _Grid(scale=scale, zero_point=zero_point, low=low, high=low + levels - 1 - narrow)
    constant = constants.get(node.inputs[0])
    if int(bits.item()) > _MOST_BITS_OF_CONSTANTS:
        raise OddNode(f"{int(bits.item())} bits; {_MOST_BITS_OF_CONSTANTS} are the most that can be taken")
    if constant is not None:
        _weights(node, nodes, grid, constant)
    elif int(bits.item()) > _MOST_BITS:
        _in_floats(node, nodes, grid)
    else:
        _values(node, nodes, grid, opset)


def _known(node: FileNode, index: int, constants: Mapping[str, Array]) -> Any:
    name = node.inputs[index] if index < len(node.inputs) else ""
    if name not in constants:
        raise OddNode(f"input {index} ({name or 'absent'}) must be a constant")
    return constants[name]


def _values(node: FileNode, nodes: FloatNodes, grid: _Grid, opset: int) -> None:
    """A pair around the integers; what a grid of fewer bits does not reach is clipped before."""
    import numpy as np

    if grid.scale.size != 1 or grid.zero_point.size != 1:
        raise OddNode("values have one scale and one zero point")
    scale, zero = np.float32(grid.scale.item()), int(grid.zero_point.item())
    x = node.inputs[0]
    if not grid.whole:
        low, high = (float(np.float32(float(scale) * (end - zero))) for end in (grid.low, grid.high))
        if opset < _CLIP_INPUTS:
            x = nodes.write(node, "Clip", [x], min=low, max=high)
        else:
            x = nodes.write(node, "Clip", [x, nodes.number(node, low), nodes.number(node, high)])
    numbers = nodes.constant(node, scale), nodes.constant(node, np.array(zero, grid.dtype))
    stored = nodes.write(node, "QuantizeLinear", [x, *numbers], domain=_PAIRS)
    nodes.write(node, "DequantizeLinear", [stored, *numbers], node.outputs[0], domain=_PAIRS)


def _weights(node: FileNode, nodes: FloatNodes, grid: _Grid, array: Array) -> None:
    """The integers themselves, and what makes floats of them: along one axis where channels have their own scales."""
    import numpy as np

    exact = np.rint(np.asarray(array, np.float32) / np.float32(grid.scale) + grid.zero_point)
    stored = nodes.constant(node, np.clip(exact, grid.low, grid.high).astype(grid.dtype))
    full = np.broadcast_shapes(grid.scale.shape, grid.zero_point.shape)
    axes = [array.ndim - len(full) + place for place, extent in enumerate(full) if extent != 1]
    if len(axes) > 1:
        raise OddNode(f"scales of the shape {list(full)}")
    count = array.shape[axes[0]] if axes else 1
    scales, zeros = (np.broadcast_to(each, full).reshape(-1) for each in (grid.scale, grid.zero_point))
    shape: tuple[int, ...] = (count,) if axes else ()
    numbers = (
        nodes.constant(node, scales.astype(np.float32).reshape(shape)),
        nodes.constant(node, zeros.astype(grid.dtype).reshape(shape)),
    )
    words = {"axis": axes[0]} if axes else {}
    nodes.write(node, "DequantizeLinear", [stored, *numbers], node.outputs[0], domain=_PAIRS, **words)


def _in_floats(node: FileNode, nodes: FloatNodes, grid: _Grid) -> None:
    """Values of more than 16 bits: the formula, in floats."""
    import numpy as np

    scale, zero = (nodes.constant(node, np.asarray(each, np.float32)) for each in (grid.scale, grid.zero_point))
    moved = nodes.write(node, "Add", [nodes.write(node, "Div", [node.inputs[0], scale]), zero])
    ends = [nodes.number(node, float(end)) for end in (grid.low, grid.high)]
    inside = nodes.write(node, "Clip", [nodes.write(node, "Round", [moved]), *ends])
    nodes.write(node, "Mul", [nodes.write(node, "Sub", [inside, zero]), scale], node.outputs[0])
