"""Knows how a node is computed by its operator's reference, and how far a result may be from that, whatever its type.
Does not know any operator.

References know float32 and float64. Floats of 16 bits are given to them as float32, and results are rounded once: what
a node gives is what float32 arithmetic gives, to the nearest float of its type, halves to even.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tilewright.ir.graphs.graph import Site, Tensor
from tilewright.ir.graphs.operator import Operator

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]


def results(operator: Operator, site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    """The outputs of a node for `inputs`, one for each input of the node (None where absent)."""
    if not _has_halves(site):
        return operator.reference(site, inputs)
    wide_results = operator.reference(_wide_site(site), [_wide(array) for array in inputs])
    return tuple(_rounded(array, tensor) for array, tensor in zip(wide_results, site.outputs, strict=False))


def allowed(operator: Operator, site: Site, inputs: Sequence[Array | None]) -> tuple[Array | None, ...]:
    """For each output the largest |difference| from `results` for each element; None means bit-exact.

    A float of 16 bits may be any that a float32 inside the operator's own error model rounds to.
    """
    if operator.tolerance is None:
        return (None,) * len(site.outputs)
    if not _has_halves(site):
        return operator.tolerance(site, inputs)
    wide_site, wide_inputs = _wide_site(site), [_wide(array) for array in inputs]
    limits = operator.tolerance(wide_site, wide_inputs)
    wide_results = operator.reference(wide_site, wide_inputs)
    return tuple(_rounded_limit(*parts) for parts in zip(wide_results, limits, site.outputs, strict=False))


def _has_halves(site: Site) -> bool:
    return any(tensor is not None and tensor.dtype.is_half for tensor in (*site.inputs, *site.outputs))


def _wide_site(site: Site) -> Site:
    """The same node on float32."""
    return replace(
        site,
        inputs=tuple(_wide_tensor(tensor) if tensor else None for tensor in site.inputs),
        outputs=tuple(_wide_tensor(tensor) for tensor in site.outputs),
        constants={name: _known_wide(array) for name, array in site.constants.items()},
    )


def _wide_tensor(tensor: Tensor) -> Tensor:
    return replace(tensor, dtype=tensor.dtype.computed_in)


def _wide(array: Array | None) -> Array | None:
    return None if array is None else _known_wide(array)


def _known_wide(array: Array) -> Array:
    import numpy as np

    if array.dtype.name not in ("float16", "bfloat16"):
        return array
    with np.errstate(invalid="ignore"):
        return array.astype(np.float32)


def _rounded(array: Array, tensor: Tensor) -> Array:
    import numpy as np

    if not tensor.dtype.is_half:
        return array
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(array).astype(tensor.dtype.numpy)


def _rounded_limit(result: Array, limit: Array | None, tensor: Tensor) -> Array | None:
    """Rounding never turns an order round: what lies between two numbers is rounded to between what they become."""
    import numpy as np

    if limit is None or not tensor.dtype.is_half:
        return limit
    wide, difference = np.asarray(result, np.float64), np.asarray(limit, np.float64)
    with np.errstate(all="ignore"):
        low, own, high = (
            np.asarray(_rounded(np.asarray(values, np.float32), tensor), np.float64)
            for values in (wide - difference, wide, wide + difference)
        )
        return np.fmax(high - own, own - low)
