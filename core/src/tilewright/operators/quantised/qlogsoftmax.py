"""Knows QLogSoftmax: the logarithm of softmax of values along one axis in integers, over a table of exponentials.
Does not know floats; LogSoftmax computes those.

Attributes: `axis`, `x_scale`, `y_scale` (float32 values), `zero_point`, `low`, `high` of the output. For a row of n
elements whose largest is m:

    T[d]   = rint(exp(-d * x_scale) * 2**31)      in float64, at compile time, for d = 0 .. 255
    log    = log2(sum(T[m - x]) / 2**31)          20 bits behind the point, each from a square that is rounded down
    factor = rint(x_scale / y_scale * 2**shift)   of_two = rint(log(2) / y_scale * 2**shift)
    y      = clamp((A - ((log * of_two) >> 20) - (m - x) * factor) >> shift, low, high)

A is (zero_point + 1/2) * 2**shift. `shift` is as large as leaves every sum in 32 bits, at most 24. A result is at most
one step off. Where X or Y has 16 bits, entries are those of `arithmetic.wide_softmax`, products of two, and sums have
64 bits, `shift` at most 30.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from tilewright.arithmetic.wide_softmax import factors
from tilewright.ir.access.index_map import Access, parse_map
from tilewright.ir.graphs.graph import Site, Tensor
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Call, Kernel
from tilewright.operators.c_code.c_source import c_template
from tilewright.operators.c_code.walk import NEST, nest, walk
from tilewright.operators.shared.integer_sites import BYTE_TYPES, centred, not_bytes, not_values, output_dtype
from tilewright.operators.shared.refusals import shape_error

Array = npt.NDArray[np.generic]
Integers = npt.NDArray[np.int64]

LONGEST = 1 << 15  # elements of a row
FEWEST, FEWEST_WIDE = 8, 20  # bits of a shift
_BITS = 20  # of a logarithm, behind the point


def _axis(site: Site) -> int:
    return site.node.integer("axis", -1) % len(site.input(0).shape)


def _infer(site: Site) -> tuple[Tensor, ...]:
    x, axis = site.input(0), site.node.integer("axis", -1)
    if not -len(x.shape) <= axis < len(x.shape):
        raise shape_error(site, f"axis {axis} is not an axis of X")
    dtype = output_dtype(site, site.node.integer("low"), site.node.integer("high"))
    return (Tensor(name=site.node.outputs[0], dtype=dtype, shape=x.shape),)


def exponentials(x_scale: float) -> npt.NDArray[np.uint32]:
    """The table T, without the zeros at its end."""
    table = np.rint(np.exp(-np.arange(256) * x_scale) * 2.0**31)
    trimmed: npt.NDArray[np.uint32] = table[: int(np.count_nonzero(table))].astype(np.uint32)
    return trimmed


def shift_of(length: int, x_scale: float, y_scale: float) -> int:
    """How many bits sums have behind the point; negative where the scales are too far apart."""
    farthest = (255 * x_scale + math.log(max(length, 2))) / y_scale + 512
    return min(24, math.floor(math.log2(2.0**30 / farthest)))


def wide_shift_of(length: int, x_scale: float, y_scale: float) -> int:
    """The same of values of 16 bits, in 64."""
    farthest = (65535 * x_scale + math.log(max(length, 2))) / y_scale + 2**17
    largest_log = math.log(2) / y_scale * 2**24  # with 20 bits behind the point
    return min(30, math.floor(math.log2(2.0**61 / farthest)), math.floor(math.log2(2.0**61 / largest_log)))


def is_wide(site: Site) -> bool:
    """Whether a value or a result has more than 8 bits."""
    return any(tensor.dtype not in BYTE_TYPES for tensor in (site.input(0), site.output))


def _table(site: Site) -> Array:
    x_scale = site.node.number("x_scale")
    return factors(x_scale) if is_wide(site) else exponentials(x_scale)


def _numbers(site: Site) -> Mapping[str, int]:
    """What a row is computed with."""
    node, length = site.node, site.input(0).shape[_axis(site)]
    x_scale, y_scale = node.number("x_scale"), node.number("y_scale")
    shift = (wide_shift_of if is_wide(site) else shift_of)(length, x_scale, y_scale)
    return {
        "factor": round(x_scale / y_scale * 2**shift),
        "of_two": round(math.log(2) / y_scale * 2**shift),
        "addend": (2 * node.integer("zero_point") + 1) << (shift - 1),
        "shift": shift,
        "low": node.integer("low"),
        "high": node.integer("high"),
    }


def log2_of_sums(sums: npt.NDArray[np.uint64]) -> Integers:
    """Of numbers from 2**31 on, over 2**31."""
    power = np.zeros(sums.shape, np.int64)
    for _ in range(32):
        above = sums >= 2**32
        sums, power = np.where(above, sums >> np.uint64(1), sums), power + above
    for _ in range(_BITS):
        sums = (sums * sums) >> np.uint64(31)
        bit = sums >> np.uint64(32)
        sums, power = sums >> bit, 2 * power + bit.astype(np.int64)
    return power


def _reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    axis, x, numbers = _axis(site), centred(inputs[0]), _numbers(site)
    table = _table(site).astype(np.uint64)
    below = x.max(axis=axis, keepdims=True) - x
    if is_wide(site):
        entries = (table[below // 256] * table[256 + below % 256] + np.uint64(2**30)) >> np.uint64(31)
    else:
        entries = np.r_[table, np.zeros(256 - len(table), np.uint64)][below]
    log = log2_of_sums(entries.sum(axis=axis, keepdims=True, dtype=np.uint64))
    acc = numbers["addend"] - ((log * numbers["of_two"]) >> _BITS) - below * numbers["factor"]
    y = np.clip(acc >> numbers["shift"], numbers["low"], numbers["high"])
    return (y.astype(site.output.dtype.numpy),)


def _map(site: Site, table: str) -> str:
    axis, rank = _axis(site), len(site.input(0).shape)
    loops = [f"a{index}" for index in range(rank) if index != axis]
    indices = ",".join(":" if index == axis else f"a{index}" for index in range(rank))
    return f"{' '.join(loops)} : X[{indices}] {table} -> Y[{indices}]"


def _packed_access(site: Site) -> Access:
    return parse_map(_map(site, "T[:]")).bind(
        {"X": site.input(0).shape, "T": _table(site).shape, "Y": site.output.shape}
    )


def _match(site: Site) -> str | None:
    return _refused(site, shift_of, FEWEST) or not_bytes(site, 0)


def _match_wide(site: Site) -> str | None:
    if not is_wide(site):
        return "values and results have 8 bits"
    return not_values(site, 0) or _refused(site, wide_shift_of, FEWEST_WIDE)


def _refused(site: Site, shift: Callable[[int, float, float], int], fewest: int) -> str | None:
    length = site.input(0).shape[_axis(site)]
    x_scale, y_scale = site.node.number("x_scale"), site.node.number("y_scale")
    if not 1 <= length <= LONGEST:
        return f"rows have {length} elements; 1 to {LONGEST} are supported"
    if not (0 < x_scale < math.inf and 0 < y_scale < math.inf) or shift(length, x_scale, y_scale) < fewest:
        return f"scales {x_scale!r} and {y_scale!r} are too far apart"
    return None


def _values(call: Call) -> Mapping[str, object]:
    x, y, axis = call.operands["X"], call.operands["Y"], _axis(call.site)
    rows = [index for index in range(len(x.shape)) if index != axis]
    steps = {name: [operand.strides[index] for index in rows] for name, operand in (("X", x), ("Y", y))}
    loops = nest(walk([y.extents[index] for index in rows], steps, "Y"), 0)
    return {
        "function": f"tw_qlogsoftmax_{x.dtype.value}_{y.dtype.value}",
        "x_type": x.dtype.c_type,
        "y_type": y.dtype.c_type,
        "nest": loops.headers,
        "at": loops.offsets,
        "fields": {
            "count": y.shape[axis],
            "x_step": x.strides[axis],
            "y_step": y.strides[axis],
            **({} if is_wide(call.site) else {"entries": len(_table(call.site))}),
            **_numbers(call.site),
        },
    }


QLOG_SOFTMAX = Operator(
    name="QLogSoftmax",
    inputs=("X",),
    outputs=("Y",),
    summary="logarithm of softmax of integers along one axis, in integers",
    infer=_infer,
    reference=_reference,
    access=lambda site: parse_map(_map(site, "")).bind({"X": site.input(0).shape, "Y": site.output.shape}),
)

QLOG_SOFTMAX_PORTABLE = Kernel(
    name="portable.qlog_softmax",
    op="QLogSoftmax",
    parallel=("*",),
    match=_match,
    access=_packed_access,
    pack=lambda site: {"T": _table(site)},
    in_place=lambda site: (("X", "Y"),),
    values=_values,
    source=(c_template("${function}", "qlogsoftmax.c.mako"),),
    call=NEST
    + """\
${function}((tw_qlogsoftmax){
% for name, value in fields.items():
    .${name} = ${value},
% endfor
}, ${X}${at["X"]}, ${T}, ${Y}${at["Y"]});""",
)

QLOG_SOFTMAX_WIDE = replace(
    QLOG_SOFTMAX_PORTABLE,
    name="portable.qlog_softmax_wide",
    match=_match_wide,
    source=(c_template("${function}", "qlogsoftmax_wide.c.mako"),),
    call=QLOG_SOFTMAX_PORTABLE.call.replace("(tw_qlogsoftmax)", "(tw_qlogsoftmax_wide)"),
)

OPERATORS = (QLOG_SOFTMAX,)
KERNELS = (QLOG_SOFTMAX_PORTABLE, QLOG_SOFTMAX_WIDE)
