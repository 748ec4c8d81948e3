"""Knows what only moves, picks or copies elements: types and ranges stay. Axes and pads that older operator sets kept
in attributes become inputs. Does not know arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tilewright.api.graph import DType
from tilewright_integer_dialect.file_nodes import FileNode, OddNode
from tilewright_integer_dialect.values import Value
from tilewright_integer_dialect.writing import Writing

_LARGEST = 2**31 - 1


def moving(*attributes: str) -> Callable[[FileNode, Writing], None]:
    """The rule of an operator whose inputs behind the first are constants of ONNX, with these attributes of numbers."""

    def rule(node: FileNode, writing: Writing) -> None:
        x = writing.value(node, 0)
        others = [_words(node, writing, index) for index in range(1, len(node.inputs))]
        _write(node, writing, x, others, attributes)

    return rule


def gather(node: FileNode, writing: Writing) -> None:
    """Elements by index; indices are constants, or inputs of the network that are integers in the file."""
    x, name = writing.value(node, 0), node.inputs[1]
    if name in writing.constants:
        array = writing.constants[name].astype("int64")
        indices = writing.constant(array, DType.I64, f"{name}_indices")
    else:
        indices = writing.value(node, 1)
        indices = indices if indices.dtype in (DType.I32, DType.I64) else writing.in_type(indices, DType.I32)
    writing.emit(node, "Gather", [x, indices], x.dtype, x.range, {"axis": node.integer("axis", default=0)})


def with_axes(node: FileNode, writing: Writing) -> None:
    """Squeeze and Unsqueeze: axes were an attribute before operator set 13."""
    axes = axes_of(node, writing)
    others = [] if axes is None else [writing.constant(axes, DType.I64, f"{node.name}_axes")]
    _write(node, writing, writing.value(node, 0), others, ())


def axes_of(node: FileNode, writing: Writing) -> tuple[int, ...] | None:
    """The attribute `axes`, or the second input."""
    axes = node.words("axes")
    return writing.parameter(node, 1) if axes is None else axes


def sliced(node: FileNode, writing: Writing) -> None:
    """Slice: starts, ends and axes were attributes before operator set 10."""
    if not node.has("starts"):
        moving()(node, writing)
        return
    words = [node.words(name) for name in ("starts", "ends", "axes")]
    others = [writing.constant(each, DType.I64, f"{node.name}_bounds") for each in words if each is not None]
    _write(node, writing, writing.value(node, 0), others, ())


def pad(node: FileNode, writing: Writing) -> None:
    """Pad: pads and the value were attributes before operator set 11. The value is one that the type holds."""
    x = writing.value(node, 0)
    pads = node.words("pads") if node.has("pads") else writing.parameter(node, 1)
    by_input = writing.parameter(node, 2) if not node.has("pads") else None
    border = by_input[0] if by_input else node.integer("value", default=0)
    mode = node.text("mode", "constant")
    if pads is None:
        raise OddNode("it has no pads")
    others = [writing.constant(pads, DType.I64, f"{node.name}_pads")]
    result = x.range
    if mode == "constant":
        others.append(writing.constant(border, x.dtype, f"{node.name}_border"))
        result = result.joined(others[-1].range)
    writing.emit(node, "Pad", [x, *others], x.dtype, result, {"mode": mode})


def concat(node: FileNode, writing: Writing) -> None:
    """All in the type that holds all of them."""
    values = [writing.value(node, index) for index in range(len(node.inputs))]
    result = values[0].range.joined(*(value.range for value in values[1:]))
    kinds = {value.dtype for value in values}
    dtype = kinds.pop() if len(kinds) == 1 else result.dtype
    typed = [writing.in_type(value, dtype) for value in values]
    writing.emit(node, "Concat", typed, dtype, result, {"axis": node.integer("axis")})


def max_pool(node: FileNode, writing: Writing) -> None:
    """The largest of a window; the border counts for nothing."""
    x = writing.bytes_of(writing.value(node, 0))
    words = {name: node.words(name) for name in ("kernel_shape", "strides", "pads", "dilations")}
    attributes: dict[str, object] = {name: list(word) for name, word in words.items() if word is not None}
    attributes["ceil_mode"] = node.integer("ceil_mode", default=0)
    if node.has("auto_pad"):
        attributes["auto_pad"] = node.text("auto_pad", "NOTSET")
    if len(node.outputs) > 1 and node.outputs[1]:
        raise OddNode("indices of a pool")
    writing.emit(node, "MaxPool", [x], x.dtype, x.range, attributes)


def constant(node: FileNode, writing: Writing) -> None:
    """Taken with the constants of the file."""
    if node.outputs[0] not in writing.constants:
        raise OddNode("a constant that is no tensor")


def _words(node: FileNode, writing: Writing, index: int) -> Value:
    words = writing.parameter(node, index)
    if words is None:
        raise OddNode(f"input {index} is left out before others")
    bounded = [min(max(word, -_LARGEST), _LARGEST) for word in words]
    return writing.constant(bounded, DType.I64, f"{node.name}_{index}")


def _write(node: FileNode, writing: Writing, x: Value, others: Sequence[Value], attributes: Sequence[str]) -> None:
    words = {name: node.words(name) for name in attributes}
    single = {name for name, word in words.items() if word is not None and name in ("axis", "allowzero")}
    kept = {name: (word[0] if name in single else list(word)) for name, word in words.items() if word is not None}
    writing.emit(node, node.op, [x, *others], x.dtype, x.range, kept)
