"""Knows how constants are stored: packed as the kernels want them, equal ones once.
Does not know where they are placed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tilewright.ir.plans.layer import Layer

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredConstants:
    """The constants of all nodes: by node, operand -> name; and the arrays by name."""

    names: Mapping[str, Mapping[str, str]]
    arrays: Mapping[str, Array]


def store_constants(layers: Mapping[str, Layer]) -> StoredConstants:
    """Pack the constants of every node's layer for its kernel. The first node that needs an array gives it its name."""
    names: dict[str, Mapping[str, str]] = {}
    arrays: dict[str, Array] = {}
    known: dict[bytes, str] = {}
    stored: dict[Layer, Mapping[str, str]] = {}
    for node, layer in layers.items():
        if layer not in stored:
            stored[layer] = _stored(node, layer, arrays, known)
        names[node] = stored[layer]
    return StoredConstants(names=names, arrays=arrays)


def _stored(node: str, layer: Layer, arrays: dict[str, Array], known: dict[bytes, str]) -> Mapping[str, str]:
    """The name of each constant of a layer; `arrays` and `known` (name by digest) learn the new ones."""
    mine: dict[str, str] = {}
    for operand, array in _needed(layer).items():
        digest = _digest(array)
        if digest not in known:
            known[digest] = f"{node}.{operand}"
            array.flags.writeable = False
            arrays[known[digest]] = array
        mine[operand] = known[digest]
    return mine


def _needed(layer: Layer) -> dict[str, Array]:
    import numpy as np

    if layer.packed:
        return {operand: np.asarray(array, order="C") for operand, array in layer.packed.items()}
    return {
        source.operand: np.array(layer.site.constants[source.tensor], order="C")
        for source in layer.sources(layer.site)
        if source.tensor in layer.site.constants
    }


def _digest(array: Array) -> bytes:
    header = f"{array.dtype.str}{array.shape}".encode()
    return hashlib.sha256(header + array.tobytes()).digest()
