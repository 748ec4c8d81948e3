"""Knows what can be proved of a step whose inputs may be off: operators that rise with their inputs, and products.
Does not know graphs, nor what was run.

A limit is right for every program, whatever the signs of its errors. Operators of which nothing is proved have none.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from tilewright.ir.graphs.evaluation import allowed, results
from tilewright.ir.graphs.graph import Site
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.tensors.dtypes import DType

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]
    Doubles = npt.NDArray[np.float64]

# No result falls where the first input rises; for the latter, where any input does.
_RISING = frozenset((
    "AveragePool", "Ceil", "Clip", "DequantizeLinear", "Erf", "Exp", "Floor", "Gather", "Log", "MaxPool",
    "Pad", "QAveragePool", "QReduceMean", "QuantizeLinear", "ReduceMax", "ReduceMean", "ReduceMin",
    "ReduceSum", "Reshape", "ResizeLinear", "Round", "Sigmoid", "Slice", "Softplus", "Softsign", "Sqrt",
    "Tanh", "Transpose", "Upsample",
))  # fmt: skip
_RISING_IN_ALL = frozenset(("Add", "Concat", "Max", "Min", "QAdd"))
_PRODUCTS = frozenset(("Conv", "ConvTranspose", "Gemm", "MatMul", "Mul"))  # of the first two inputs, and a third added
_MAY_WRAP = frozenset(("Add", "Mul", "Sub", "MatMul", "ReduceSum", "Gemm"))  # integers
_CLIPS = MappingProxyType({"clip_low": -math.inf, "clip_high": math.inf})  # attributes, and what they are without
_SLACK = 1 + 2.0**-10  # for sums that are themselves computed in floats


def own_limits(operator: Operator, site: Site, arrays: Sequence[Array | None]) -> list[Doubles]:
    """The step's own error model for each output, as an array: 0 where it is exact."""
    import numpy as np

    limits = allowed(operator, site, arrays)
    return [np.zeros(()) if limit is None else np.asarray(limit, np.float64) for limit in limits]


def carried(
    operator: Operator,
    site: Site,
    arrays: Sequence[Array | None],
    references: Sequence[Array],
    errors: Mapping[int, Doubles],
) -> list[Doubles] | None:
    """How far each output may be from `references`, which the reference makes of `arrays`, where the inputs of these
    positions may be off by `errors`: by that, and by the step's own error model. None where nothing can be proved.
    """
    import numpy as np

    op = site.node.op
    if not carries(operator, site, set(errors)):
        return None
    with np.errstate(all="ignore"):
        if op in _PRODUCTS:
            return _multiplied(operator, site, arrays, references, errors)
        if op == "Softmax":
            return [_shared_out(operator, site, arrays, references[0], errors[0])]
        return _between(operator, site, arrays, references, errors)


def carries(operator: Operator, site: Site, off: set[int]) -> bool:
    """Whether anything is proved of this step where the inputs of these positions may be off."""
    tensors = [tensor for tensor in (*site.inputs, *site.outputs) if tensor is not None]
    op, whole = site.node.op, any(tensor.dtype.is_integer for tensor in tensors)
    if any(tensor.dtype.is_half for tensor in tensors) or (op in _MAY_WRAP and whole):
        return False
    if op in _RISING_IN_ALL or op in ("Sub", "Softmax"):
        return True
    return (op in _RISING and off == {0}) or (op in _PRODUCTS and operator.tolerance is not None)


def _between(
    operator: Operator,
    site: Site,
    arrays: Sequence[Array | None],
    references: Sequence[Array],
    errors: Mapping[int, Doubles],
) -> list[Doubles]:
    """Results of a step that rises lie between those of the lowest and of the highest inputs."""
    import numpy as np

    signs = {1: -1.0} if site.node.op == "Sub" else {}
    upwards = {at: signs.get(at, 1.0) * size for at, size in errors.items()}
    extremes = [_moved(arrays, {at: side * size for at, size in upwards.items()}) for side in (-1.0, 1.0)]
    outputs = [results(operator, site, extreme) for extreme in extremes]
    models = [own_limits(operator, site, extreme) for extreme in (*extremes, _outward(arrays, errors))]
    limits = []
    for at, reference in enumerate(references):
        middle = np.asarray(reference, np.float64)
        low, high = (np.asarray(extreme[at], np.float64) for extreme in outputs)
        own = np.maximum(models[0][at], models[1][at]) + models[2][at]
        apart = np.nan_to_num(np.fmax(high - middle, middle - low), nan=0.0, posinf=np.inf)  # inf - inf is nothing
        limits.append(apart + 3 * own)  # of the step, and twice of its reference
    return limits


def _multiplied(
    operator: Operator,
    site: Site,
    arrays: Sequence[Array | None],
    references: Sequence[Array],
    errors: Mapping[int, Doubles],
) -> list[Doubles]:
    """|(a + e)(b + f) - ab| <= |e||b| + |a||f| + |e||f|, and what is added may be off by its own error; what is clipped
    stays inside its limits.
    """
    import numpy as np

    sizes = [np.abs(np.asarray(array, np.float64)) for array in arrays[:2]]
    off = [np.broadcast_to(errors.get(at, np.zeros(())), size.shape) for at, size in enumerate(sizes)]
    added = [
        None if array is None else np.broadcast_to(errors.get(at, np.zeros(())), array.shape)
        for at, array in enumerate(arrays[2:], 2)
    ]
    plain, nothing = _unsigned(site), [None if error is None else np.zeros_like(error) for error in added]

    def product(left: Doubles, right: Doubles, *others: Doubles | None) -> Doubles:
        return np.asarray(results(operator, plain, [left, right, *others])[0], np.float64)

    total = product(off[0], sizes[1], *added) + product(off[0], off[1], *nothing)
    if off[1].any():
        total = total + product(sizes[0], off[1], *nothing)
    outward = own_limits(operator, plain, _outward(arrays, errors))[0]
    low, high = (site.node.number(name, at) for name, at in _CLIPS.items())
    reference = np.asarray(references[0], np.float64)
    limit = np.nan_to_num(_SLACK * total, nan=np.inf, posinf=np.inf) + 2 * np.nan_to_num(outward, posinf=np.inf)
    return [np.fmin(limit, np.maximum(high - reference, reference - low))]


def _shared_out(
    operator: Operator, site: Site, arrays: Sequence[Array | None], reference: Array, error: Doubles
) -> Doubles:
    """Where no input is off by more than e, each exponential and their sum are off by a factor of exp(e), so shares are
    by one of exp(2 e); and no share leaves 0 to 1.
    """
    import numpy as np

    off = np.broadcast_to(error, reference.shape).max(axis=site.node.integer("axis"), keepdims=True)
    share, factor = np.asarray(reference, np.float64), np.exp(2 * off)
    moved = np.fmin(_SLACK * share * (factor - 1), np.maximum(share, 1 - share))
    return np.asarray(moved + 3 * factor * own_limits(operator, site, arrays)[0], np.float64)


def _unsigned(site: Site) -> Site:
    """The same product of sizes: not clipped, and without signs of its factors."""
    factors = {name: abs(site.node.number(name, 1.0)) for name in ("alpha", "beta") if name in site.node.attributes}
    kept = {name: value for name, value in site.node.attributes.items() if name not in _CLIPS}
    return replace(site, node=replace(site.node, attributes={**kept, **factors}))


def _outward(arrays: Sequence[Array | None], errors: Mapping[int, Doubles]) -> list[Array | None]:
    """Every element as large as it may be."""
    import numpy as np

    return _moved(arrays, {at: np.where(np.asarray(arrays[at]) < 0, -size, size) for at, size in errors.items()})


def _moved(arrays: Sequence[Array | None], by: Mapping[int, Doubles]) -> list[Array | None]:
    """The arrays with what is added to some, no less far for the rounding to their type."""
    import numpy as np

    moved = list(arrays)
    for at, size in by.items():
        array = np.asarray(arrays[at])
        dtype = DType.from_numpy(array.dtype)
        wide = array.astype(np.float64) + (size if dtype.is_float else np.copysign(np.ceil(np.abs(size)), size))
        if dtype.is_float:
            kept = wide.astype(array.dtype)
            moved[at] = np.where(size == 0, array, np.nextafter(kept, np.copysign(np.inf, size).astype(array.dtype)))
        else:
            low, high = dtype.limits
            moved[at] = np.clip(wide, low, high).astype(array.dtype)
    return moved
