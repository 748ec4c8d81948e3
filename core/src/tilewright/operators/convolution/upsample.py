"""Knows Upsample: every element repeated a whole number of times along each axis, as Resize does to the nearest.
Does not know interpolation (`interpolate`), nor sizes that are no multiple.

Normal form: attribute `factors`, one for each axis. Only elements move, so any type is taken as it is. Which Resize
nodes are plain repetition is in `resize_imports`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from tilewright.ir.access.index_map import Access, parse_map
from tilewright.ir.graphs.graph import Site, Tensor
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Call, Kernel
from tilewright.operators.c_code.c_index import c_sum
from tilewright.operators.c_code.c_source import c_template
from tilewright.operators.convolution.resize_imports import IMPORTS
from tilewright.operators.shared.shape_errors import shape_error

Array = npt.NDArray[np.generic]


def _factors(site: Site) -> tuple[int, ...]:
    return site.node.integers("factors")


def _infer(site: Site) -> tuple[Tensor, ...]:
    x, factors = site.input(0), _factors(site)
    if len(factors) != len(x.shape) or any(factor < 1 for factor in factors):
        raise shape_error(site, "factors are whole numbers from 1 on, one for each axis")
    shape = tuple(extent * factor for extent, factor in zip(x.shape, factors, strict=True))
    return (Tensor(name=site.node.outputs[0], dtype=x.dtype, shape=shape),)


def _reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    value = np.asarray(inputs[0])
    for axis, factor in enumerate(_factors(site)):
        value = np.repeat(value, factor, axis=axis)
    return (value,)


def _access(site: Site) -> Access:
    factors = _factors(site)
    loops = [f"a{axis}" for axis in range(len(factors))]
    reads = [loop if factor == 1 else f"{loop}//{factor}" for loop, factor in zip(loops, factors, strict=True)]
    text = f"{' '.join(loops)} : X[{','.join(reads)}] -> Y[{','.join(loops)}]"
    return parse_map(text).bind({"X": site.input(0).shape, "Y": site.output.shape})


def _values(call: Call) -> Mapping[str, object]:
    """Loops in the order in which the output is stored; an axis of one factor and one element costs nothing."""
    x, y, factors = call.operands["X"], call.operands["Y"], _factors(call.site)
    order = sorted(range(len(factors)), key=lambda axis: -y.strides[axis])
    axes = [axis for axis in order if y.shape[axis] > 1] or order[-1:]
    arguments = []
    for axis in axes:
        first, moved = y.origin[axis], c_sum(0, (-1, x.origin[axis]))
        arguments += [y.extents[axis], first, moved]
    arguments += [str(x), *(str(x.strides[axis]) for axis in axes), str(y), *(str(y.strides[axis]) for axis in axes)]
    sizes = [factors[axis] for axis in axes]
    return {
        "function": f"tw_upsample_{y.dtype.value}_{'x'.join(map(str, sizes))}",
        "factors": sizes,
        "c_type": y.dtype.c_type,
        "arguments": ", ".join(arguments),
    }


UPSAMPLE = Operator(
    name="Upsample",
    inputs=("X",),
    outputs=("Y",),
    summary="every element repeated along each axis (Resize to the nearest, by whole factors)",
    infer=_infer,
    reference=_reference,
    access=_access,
    imports=IMPORTS,
)

UPSAMPLE_COPY = Kernel(
    name="portable.upsample",
    op="Upsample",
    parallel=("*",),
    values=_values,
    source=(c_template("${function}", "upsample.c.mako"),),
    call="${function}(${arguments});",
)

OPERATORS = (UPSAMPLE,)
KERNELS = (UPSAMPLE_COPY,)
