"""Knows how constants are stored: packed as the kernels want them, equal ones once.
Does not know where they are placed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tilewright.ir.machines.platform import Platform
from tilewright.ir.plans.constant_homes import Homes, homes
from tilewright.ir.plans.layer import Layer

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

Known = dict[tuple[bytes, Homes, str], str]  # digest, where it has to live, whose tiles it is packed for -> name


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredConstants:
    """The constants of all nodes: by node, operand -> name; and the arrays by name."""

    names: Mapping[str, Mapping[str, str]]
    arrays: Mapping[str, Array]


def store_constants(layers: Mapping[str, Layer], platform: Platform) -> StoredConstants:
    """Pack the constants of every node's layer for its kernel. The first node that needs an array gives it its name.

    Equal arrays that have to live in different memories, or are packed for tiles or places, are two.
    """
    names: dict[str, Mapping[str, str]] = {}
    arrays: dict[str, Array] = {}
    known: Known = {}
    stored: dict[Layer, Mapping[str, str]] = {}
    for node, layer in layers.items():
        if layer not in stored or layer.kernel.packs_late:
            stored[layer] = _stored(node, layer, platform, arrays, known)
        names[node] = stored[layer]
    return StoredConstants(names=names, arrays=arrays)


def _stored(node: str, layer: Layer, platform: Platform, arrays: dict[str, Array], known: Known) -> Mapping[str, str]:
    """The name of each constant of a layer; `arrays` and `known` learn the new ones."""
    mine: dict[str, str] = {}
    for operand, array in _needed(layer).items():
        own = node if layer.kernel.packs_late else ""
        key = _digest(array), homes(layer.kernel, operand, platform), own
        if key not in known:
            known[key] = f"{node}.{operand}"
            array.flags.writeable = False
            arrays[known[key]] = array
        mine[operand] = known[key]
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
