"""Knows what may be chosen about the files. Does not know what is in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from tilewright import __version__

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]


@dataclass(frozen=True, slots=True, kw_only=True)
class Vector:
    """Inputs and the outputs they must give: graph input or output name -> array in the graph's shape."""

    inputs: Mapping[str, Array] = field(compare=False)
    outputs: Mapping[str, Array] = field(compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class EmitOptions:
    """`const_format` "auto" is "c" below 64 KiB of constants and "incbin" from there on. `vectors` make a self-test.
    With `layout` "split" the kernels are a header of their own beside the network.
    """

    const_format: Literal["auto", "incbin", "c", "bin"] = "auto"
    layout: Literal["single", "split"] = "single"
    vectors: tuple[Vector, ...] = ()
    absolute_tolerance: float = 1e-5  # of float outputs in the self-test: |got - expected| <= absolute
    relative_tolerance: float = 1e-3  # ... + relative * |expected|. Integers must be equal
    half_share: float = 0.0  # of a value and of the usual size, what else is allowed: floats of 16 bits round otherwise
    generator: str = f"tilewright {__version__}"
