"""Knows how real values become what a quantised input or output stores: with the reference of QuantizeLinear itself.
Does not know where the values come from.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tilewright.comparison.reference import run_site
from tilewright.ir.graphs.graph import Node, Site, Tensor
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.tensors.dtypes import DType

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]


def stores_real(tensor: Tensor, array: Array) -> bool:
    """Whether `array` holds real values of a tensor that stores integers with one scale."""
    return array.dtype == "float32" and tensor.quantization is not None and len(tensor.quantization.scale) == 1


def quantised(tensor: Tensor, real: Array, operators: Mapping[str, Operator]) -> Array:
    """What `tensor`, which has a quantisation for the whole of it, stores for these values. TW9020 where the vocabulary
    has no QuantizeLinear.
    """
    import numpy as np

    if tensor.quantization is None:
        raise ValueError(f"{tensor.name} is not quantised")
    scale = np.array(tensor.quantization.scale[0], np.float32)
    zero = np.array(tensor.quantization.zero_point[0], tensor.dtype.numpy)
    node = Node(
        name=tensor.name,
        op="QuantizeLinear",
        inputs=("real", "scale", "zero"),
        outputs=(tensor.name,),
        attributes={"to": tensor.dtype.value},
    )
    site = Site(
        node=node,
        inputs=(
            Tensor(name="real", dtype=DType.F32, shape=tuple(real.shape)),
            Tensor(name="scale", dtype=DType.F32, shape=()),
            Tensor(name="zero", dtype=tensor.dtype, shape=()),
        ),
        outputs=(tensor,),
        constants={"scale": scale, "zero": zero},
    )
    return run_site(site, (real, scale, zero), operators)[0]
