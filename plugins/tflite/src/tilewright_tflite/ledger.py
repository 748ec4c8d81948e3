"""Knows what all graphs of one import share: names, constants, and what may still be made of the file.
Does not know tensors or operators.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tilewright.api.importer import Limits
from tilewright_tflite.flatbuffer import BudgetError

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

_LETTERS = 1 << 25  # of all names together, in every place


class Ledger:
    """Mutable, and private to one import. BudgetError where a limit is passed."""

    def __init__(self, limits: Limits) -> None:
        self.constants: list[Any] = []  # onnx.TensorProto
        self._limits = limits
        self._letters, self._bytes, self._nodes = _LETTERS, limits.constant_bytes, limits.nodes
        self._made = limits.constant_bytes  # that arrays may still have which are not in the file as they are
        self._taken: set[str] = set()
        self._counts: dict[str, int] = {}  # name -> how many like it were taken

    def taken(self, name: str) -> bool:
        """Whether something has this name."""
        return name in self._taken

    def fresh(self, wanted: str) -> str:
        """A name that nothing has."""
        name, count = wanted, self._counts.get(wanted, 0)
        while name in self._taken:
            count += 1
            name = f"{wanted}_{count}"
        self.spend(name)
        self._counts[wanted] = count
        self._taken.add(name)
        return name

    def spend(self, *names: str) -> None:
        """Names are copied wherever they stand."""
        self._letters -= sum(map(len, names))
        if self._letters < 0:
            raise BudgetError("names")

    def node(self) -> None:
        """One more node."""
        self._nodes -= 1
        if self._nodes < 0:
            raise BudgetError("nodes")

    def made(self, size_bytes: int) -> None:
        """One more array that is more than the file's own bytes: zeros, or what was compressed."""
        self._made -= size_bytes
        if self._made < 0:
            raise BudgetError("constants")

    def constant(self, array: Array) -> None:
        """One more constant."""
        self._bytes -= array.nbytes
        if self._bytes < 0:
            raise BudgetError("constants")
        if len(self.constants) >= self._limits.initializers:
            raise BudgetError("initializers")
