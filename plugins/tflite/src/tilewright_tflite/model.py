"""Knows a TensorFlow Lite file as plain frozen values: graphs, tensors, operators, under the file's own names and
numbers. Does not know FlatBuffers (`reading`), nor what an operator computes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from tilewright_tflite.flatbuffer import Table

    Array = npt.NDArray[np.generic]

# number of a type in the format -> its name, as numpy has it where numpy has it
TYPES: Mapping[int, str] = MappingProxyType(
    {
        0: "float32", 1: "float16", 2: "int32", 3: "uint8", 4: "int64", 5: "string", 6: "bool", 7: "int16",
        8: "complex64", 9: "int8", 10: "float64", 11: "complex128", 12: "uint64", 13: "resource", 14: "variant",
        15: "uint32", 16: "uint16", 17: "int4", 18: "bfloat16",
    }
)  # fmt: skip
HELD = (
    "float32",
    "float16",
    "float64",
    "int32",
    "uint8",
    "int64",
    "bool",
    "int16",
    "int8",
    "uint32",
    "uint16",
    "uint64",
)
BYTES = ("int8", "uint8")
STORED = ("int8", "uint8", "int16", "int4")  # types whose scales say which real numbers they stand for


@dataclass(frozen=True, slots=True, kw_only=True)
class Tensor:
    """A tensor. `scales` is empty where it is not quantised, has one entry, or one for each index of `axis`."""

    index: int
    name: str
    type: str
    shape: tuple[int, ...]
    scales: Array = field(compare=False)
    zero_points: Array = field(compare=False)
    axis: int = 0
    data: Array | None = field(default=None, compare=False, repr=False)  # bytes; None where it is computed
    variable: bool = False  # keeps its value from run to run
    fault: str = ""  # why no operator may use it

    @property
    def quantised(self) -> bool:
        """Whether its integers stand for real numbers."""
        return self.type in STORED and len(self.scales) > 0

    @property
    def constant(self) -> bool:
        """Whether its elements are in the file."""
        return self.data is not None

    @property
    def scale(self) -> np.float32:
        """The only scale."""
        return np.float32(self.scales[0])

    @property
    def zero_point(self) -> int:
        """The only zero point; 0 where the file leaves it out."""
        return int(self.zero_points[0]) if len(self.zero_points) else 0

    @property
    def described(self) -> str:
        """Type and shape, for messages."""
        return f"{self.type} {'x'.join(map(str, self.shape)) or 'scalar'}"

    def same_scale(self, other: Tensor) -> bool:
        """Whether equal integers stand for equal numbers in both."""
        return (
            self.type == other.type
            and np.array_equal(self.scales, other.scales)
            and (self.zero_point == other.zero_point if len(self.scales) == 1 else not len(self.scales))
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """One operator. A tensor that is left out has index -1."""

    index: int
    code: str  # CONV_2D; of a custom one, its own name
    version: int
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    options: Table
    options_type: int  # of the union; 0 where there are none
    custom: bool = False
    custom_options: bytes = b""  # of a custom one: a FlexBuffer, where TensorFlow has written it

    @property
    def title(self) -> str:
        """What errors and reports call it."""
        return f"{self.code}_{self.index}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Subgraph:
    """A graph of the file."""

    name: str
    tensors: tuple[Tensor, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    operators: tuple[Operator, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A whole file: graphs, of which some are networks, and others are called by them."""

    graphs: tuple[Subgraph, ...]
    signatures: tuple[tuple[str, int], ...] = ()  # name of a network, and its place among the graphs
