"""Knows how to compute a small value that is made of constants only: a shape, or amounts, that the file computes.
Does not know operators of the file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt
    import onnx

    Array = npt.NDArray[np.generic]

_NODES, _CONSTANTS, _ELEMENTS = 512, 1024, 4096  # the newest of them that are looked at; of each value
_KNOWN = frozenset(
    (
        "Add", "Cast", "Concat", "Div", "Equal", "Floor", "Gather", "Identity", "Max", "Min", "Mod", "Mul", "Not",
        "Reshape", "Slice", "Sub", "Where",
    )
)  # fmt: skip


def folded(value: str, nodes: Sequence[onnx.NodeProto], constants: Sequence[onnx.TensorProto]) -> Array | None:
    """The elements of a value; None where it depends on an input, or on more than is looked at."""
    makers = {node.output[0]: node for node in nodes[-_NODES:] if node.op_type in _KNOWN and not node.domain}
    held = {each.name: each for each in constants[-_CONSTANTS:]}
    return _computed(value, makers, held, {})


def _computed(
    value: str, makers: Mapping[str, onnx.NodeProto], held: Mapping[str, onnx.TensorProto], known: dict[str, Any]
) -> Array | None:
    """Depth first, on a list: chains may be longer than Python's stack."""
    waiting = [value]
    while waiting:
        name = waiting[-1]
        if name in known:
            waiting.pop()
            continue
        maker = makers.get(name)
        missing = [each for each in maker.input if each and each not in known] if maker is not None else []
        if missing:
            waiting += missing
            if len(waiting) > _NODES:
                return None
            continue
        array = _constant(held.get(name)) if maker is None else _evaluated(maker, known)
        if array is None or array.size > _ELEMENTS:
            return None
        known[waiting.pop()] = array
    return np.asarray(known[value])


def _constant(held: onnx.TensorProto | None) -> Array | None:
    from onnx import numpy_helper

    if held is None or int(np.prod(held.dims, dtype=object)) > _ELEMENTS:
        return None
    return np.asarray(numpy_helper.to_array(held))


def _evaluated(node: onnx.NodeProto, known: Mapping[str, Any]) -> Array | None:
    """None where the values do not fit: whoever checks the whole graph says so."""
    from onnx.reference import ReferenceEvaluator

    stated = {name: known[name] for name in node.input if name}
    try:
        with np.errstate(all="ignore"):
            (array,) = ReferenceEvaluator(node).run(None, stated)
    except (ArithmeticError, IndexError, RuntimeError, TypeError, ValueError):
        return None
    return np.asarray(array)
