"""Knows how constants are stored: packed as the kernels want them, equal ones once.
Does not know where they are placed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tilewright.graph import Site
from tilewright.kernel import Kernel
from tilewright.operands import input_operands
from tilewright.operator import Operator

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """The constants of all nodes: by node, operand -> name; and the arrays by name."""

    names: Mapping[str, Mapping[str, str]]
    arrays: Mapping[str, Array]


def store_constants(bound: list[tuple[Site, Operator, Kernel]]) -> Stored:
    """Pack every node's constants for its kernel. The first node that needs an array gives it its name."""
    names: dict[str, dict[str, str]] = {}
    arrays: dict[str, Array] = {}
    known: dict[bytes, str] = {}
    for site, operator, kernel in bound:
        mine: dict[str, str] = {}
        for operand, array in _needed(site, operator, kernel).items():
            digest = _digest(array)
            if digest not in known:
                known[digest] = f"{site.node.name}.{operand}"
                array.flags.writeable = False
                arrays[known[digest]] = array
            mine[operand] = known[digest]
        names[site.node.name] = mine
    return Stored(names=names, arrays=arrays)


def _needed(site: Site, operator: Operator, kernel: Kernel) -> dict[str, Array]:
    import numpy as np

    packed = kernel.pack(site)
    if packed:
        return {operand: np.ascontiguousarray(array) for operand, array in packed.items()}
    return {
        source.operand: np.array(site.constants[source.tensor], order="C")
        for source in input_operands(operator, kernel, site)
        if source.tensor in site.constants
    }


def _digest(array: Array) -> bytes:
    header = f"{array.dtype.str}{array.shape}".encode()
    return hashlib.sha256(header + array.tobytes()).digest()
