"""Knows QLayerNormalization: rows of 8-bit or 16-bit values, normalised by their mean and deviation, in integers.
Does not know which normalisations of ONNX it stands for, nor how its numbers are found (`rewrite/qdq/normalisation`).

A row is all of the axes from `axis` on, at most two, n elements in all. With d = x - x_zero_point:

    m        = sum(d), or 0 without `centred`
    variance = n * sum(d * d) - m * m
    square   = variance << epsilon_bits, plus epsilon; << 2 as often as it stays below 2**62, c times
    inverse  = 2**61 / isqrt(square), both rounded down; 2**31 - 1 where it is more
    up       = bits + epsilon_bits / 2 + c - 29; where that is negative, inverse is shifted right instead
    even     = (((n * d - m) << up) * inverse) >> 32                                `bits` behind the point
    y        = clamp((((even * F) >> 32) + A) >> shift, low, high)

Without variance `even` is 0. F and A are constant i32 tensors with as many axes as X, each of one element or all.
`epsilon_bits` is even. `>>` rounds down. A holds the zero point of the result and what rounds. The variance is exact.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from tilewright.ir.access.index_map import Access, parse_map
from tilewright.ir.graphs.graph import Site, Tensor
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Call, Kernel
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.c_code.c_source import c_template
from tilewright.operators.c_code.walk import NEST, nest, walk
from tilewright.operators.shared.integer_sites import BYTE_TYPES, centred, not_values, output_dtype
from tilewright.operators.shared.refusals import shape_error

Array = npt.NDArray[np.generic]
Integers = npt.NDArray[np.int64]

LONGEST = 1 << 15  # elements of a row


def _farthest(dtype: DType) -> int:
    """Of a value from the zero point."""
    low, high = dtype.limits
    return high - low


def most_bits(length: int) -> int:
    """The most that `bits` may be: an element is at most the root of n deviations from the mean, and fits 30 bits."""
    return 28 - math.ceil(math.log2(max(length, 2)) / 2)


def most_epsilon_bits(length: int, epsilon: float, dtype: DType = DType.I8) -> int:
    """The most that `epsilon_bits` may be, so that the variance of such values and `epsilon` (of its size) stay below
    2**62.
    """
    largest = (length * _farthest(dtype)) ** 2 + math.ceil(epsilon) + 1
    return max(0, (62 - largest.bit_length()) // 2 * 2)


def _infer(site: Site) -> tuple[Tensor, ...]:
    x, axis = site.input(0), site.node.integer("axis")
    if not 0 <= axis < len(x.shape):
        raise shape_error(site, f"there is no axis {axis}")
    for tensor in site.inputs[1:3]:
        extents = () if tensor is None else tensor.shape
        fits = len(extents) == len(x.shape) and all(
            own in (1, whole) for own, whole in zip(extents, x.shape, strict=True)
        )
        if not fits or tensor is None or tensor.dtype is not DType.I32:
            raise shape_error(site, "F and A are i32 with as many axes as X, each of one element or all")
    dtype = output_dtype(site, site.node.integer("low"), site.node.integer("high"))
    return (Tensor(name=site.node.outputs[0], dtype=dtype, shape=x.shape),)


def _length(site: Site) -> int:
    return math.prod(site.input(0).shape[site.node.integer("axis") :])


def _even(site: Site, rows: Integers) -> Integers:
    """[rows, n]: distances from the mean over the deviation, `bits` behind the point."""
    node, n = site.node, rows.shape[1]
    result = np.zeros_like(rows)
    for index, row in enumerate(rows):
        mean = int(row.sum()) if node.integer("centred") else 0
        variance = n * int((row * row).sum()) - mean * mean
        if variance <= 0:
            continue
        square, up = _square(variance, site)
        inverse = min(2**61 // math.isqrt(square), 2**31 - 1) >> max(-up, 0)
        result[index] = (((n * row - mean) << max(up, 0)) * inverse) >> 32
    return result


def _square(variance: int, site: Site) -> tuple[int, int]:
    node = site.node
    square = (variance << node.integer("epsilon_bits")) + node.integer("epsilon")
    more = max(0, (62 - square.bit_length()) // 2)
    return square << 2 * more, node.integer("bits") + node.integer("epsilon_bits") // 2 + more - 29


def _reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    node, x = site.node, centred(inputs[0], site.node.integer("x_zero_point"))
    even = _even(site, x.reshape(-1, _length(site))).reshape(x.shape)
    factor, addend = (np.asarray(array).astype(np.int64) for array in inputs[1:3])
    y = (((even * factor) >> 32) + addend) >> node.integer("shift")
    return (np.clip(y, node.integer("low"), node.integer("high")).astype(site.output.dtype.numpy),)


def _access(site: Site) -> Access:
    shapes = {name: tensor.shape for name, tensor in zip("XFA", site.inputs, strict=False) if tensor is not None}
    axis, rank = site.node.integer("axis"), len(site.output.shape)
    loops = [f"i{index}" for index in range(axis)]
    texts = {
        name: ",".join(
            ":" if index >= axis else "0" if shape[index] == 1 and shapes["X"][index] != 1 else loops[index]
            for index in range(rank)
        )
        for name, shape in shapes.items()
    }
    reads = " ".join(f"{name}[{index}]" for name, index in texts.items())
    return parse_map(f"{' '.join(loops)} : {reads} -> Y[{texts['X']}]").bind({**shapes, "Y": site.output.shape})


def _match(site: Site) -> str | None:
    node, rows = site.node, site.input(0).shape[site.node.integer("axis") :]
    if site.constant(1) is None or site.constant(2) is None:
        return "F and A must be constants"
    if len(rows) > 2 or not 1 <= math.prod(rows) <= LONGEST:
        return f"rows of {list(rows)} elements; at most two axes and {LONGEST} elements are supported"
    n = math.prod(rows)
    largest = ((n * _farthest(site.input(0).dtype)) ** 2 << node.integer("epsilon_bits")) + node.integer("epsilon")
    if largest >= 2**62 or node.integer("epsilon_bits") % 2 or not 0 < node.integer("bits") <= most_bits(n):
        return "epsilon_bits or bits are more than 64 bits hold"
    addend = np.abs(np.asarray(site.constant(2), np.int64)).max(initial=0)
    return "A leaves 32 bits no room" if addend >= 2**31 - 2**28 else not_values(site, 0)


def _values(call: Call) -> Mapping[str, object]:
    node, axis = call.site.node, call.site.node.integer("axis")
    x, f, a, y = (call.operands[name] for name in "XFAY")
    steps = {
        name: [0 if own.shape[at] == 1 != x.shape[at] else own.strides[at] for at in range(axis)]
        for name, own in (("X", x), ("F", f), ("A", a), ("Y", y))
    }
    outer = nest(walk(y.extents[:axis], steps, "Y"), 0)
    rows = range(axis, len(x.shape))
    moves = {
        name: [0 if own.shape[at] == 1 != x.shape[at] else own.strides[at] for at in rows]
        for name, own in (("x", x), ("f", f), ("a", a), ("y", y))
    }
    (*block, count) = (x.shape[at] for at in rows)
    fields = {"blocks": block[0] if block else 1, "count": count}
    for name, (*wide, step) in moves.items():
        fields |= {f"{name}_block": wide[0] if wide else 0, f"{name}_step": step}
    numbers = ("centred", "x_zero_point", "epsilon_bits", "bits", "shift", "low", "high")
    return {
        "function": f"tw_qlayernorm_{x.dtype.value}_{y.dtype.value}",
        "x_type": x.dtype.c_type,
        "y_type": y.dtype.c_type,
        "square": "d * d" if x.dtype in BYTE_TYPES else "(int64_t)d * d",
        "nest": outer.headers,
        "at": outer.offsets,
        "fields": {
            **fields,
            "epsilon": f"UINT64_C({node.integer('epsilon')})",
            **{name: node.integer(name) for name in numbers},
        },
    }


QLAYERNORM = Operator(
    name="QLayerNormalization",
    inputs=("X", "F", "A"),
    outputs=("Y",),
    summary="rows of 8-bit or 16-bit integers normalised by mean and deviation, in integers",
    infer=_infer,
    reference=_reference,
    access=_access,
    macs=lambda site: 2 * site.output.elements,
)

QLAYERNORM_PORTABLE = Kernel(
    name="portable.qlayer_normalization",
    op="QLayerNormalization",
    parallel=("*",),
    match=_match,
    in_place=lambda site: (("X", "Y"),),
    values=_values,
    source=(c_template("${function}", "qlayernorm.c.mako"),),
    call=NEST
    + """\
${function}((tw_qlayernorm){
% for name, value in fields.items():
    .${name} = ${value},
% endfor
}, ${X}${at["X"]}, ${F}${at["F"]}, ${A}${at["A"]}, ${Y}${at["Y"]});""",
)

OPERATORS = (QLAYERNORM,)
KERNELS = (QLAYERNORM_PORTABLE,)
