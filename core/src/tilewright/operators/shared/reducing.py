"""Knows how C combines the elements of axes, at once or in parts: loops over kept and over reduced axes, and the sums.
Does not know which operators reduce; `reduce` and the pools whose windows are whole images do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from tilewright.ir.code_fragments import CodeFragment, FragmentTemplate
from tilewright.ir.machines.kernel import Call, CodeFragments
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.c_code.c_source import c_fragment, c_template
from tilewright.operators.c_code.walk import NEST, innermost, nest, walk
from tilewright.operators.shared.windows import C_AXES, MAX_SPATIAL


def either(part: str, whole: str) -> str:
    """Mako for the call of a part, and for that of everything at once; `part` is a name that it sees."""
    return f"% if part:\n{part}% else:\n{whole}% endif\n"


def either_source(
    part: CodeFragment | FragmentTemplate, whole: CodeFragment | FragmentTemplate
) -> Callable[..., CodeFragments]:
    """The section of a part, or that of everything at once, by the value `part`; before it `conversions`."""
    return lambda values: (*values.get("conversions", ()), part if values["part"] else whole)


def sums_argument(call: Call, offsets: Mapping[str, str] = MappingProxyType({})) -> str:
    """The argument before the output: ` acc,`, moved by `offsets["ACC"]`; nothing where there are no sums."""
    return f" {call.operands['acc']}{offsets.get('ACC', '')}," if call.is_part else ""


def window_part_fields(call: Call, group_channels: int) -> Mapping[str, object]:
    """The same for windows over channels, and the strides of the sums [N, O, spatial...]."""
    if not call.is_part:
        return {}
    batch, channel, *spatial = call.operands["acc"].strides
    steps = dict(zip(C_AXES, (*(0,) * (MAX_SPATIAL - len(spatial)), *spatial), strict=True))
    return {
        **call.part_fields,
        "group_channels": group_channels,
        "acc_batch": batch,
        "acc_channel": channel,
        **{f"acc_{axis}": step for axis, step in steps.items()},
    }


_PAIR = c_template("${pair}", "reduce_pair.c.mako")
_START = c_template("tw_reduce_start_${short}", "reduce_start.c.mako")
_REDUCE = c_template("tw_reduce_${combine}_${short}", "reduce.c.mako", _PAIR)
_LEAVE = c_template("tw_reduce_leave_${short}", "reduce_leave.c.mako")
_FINISH = c_fragment("reduce_finish.c")
REDUCE_CALL = (
    NEST
    + """\\
{
% if part:
        if (${first}) {
            tw_reduce_start_${short}(${kept}, ${empty}, ${sums}, ${sums_kept});
        }
% else:
        tw_reduce_start_${short}(${kept}, ${empty}, ${sums}, ${sums_kept});
% endif
% for line in inner:
        ${line}
% endfor
        tw_reduce_${combine}_${short}(${kept}, ${reduced}, ${x}, ${x_kept}, ${x_reduced}, ${sums}, ${sums_kept});
% if part:
        if (${last}) {
            tw_reduce_leave_${short}(${kept}, ${leaving}${sums}, ${sums_kept}, ${y}, ${y_kept});
        }
% elif divisor:
        tw_reduce_finish_f32(${kept}, ${divisor}, ${sums}, ${sums_kept});
% endif
    }"""
)


def reduce_source(values: Mapping[str, Any]) -> CodeFragments:
    """The sections that `reduce_values` and `REDUCE_CALL` need."""
    last = (_LEAVE,) if values["part"] else (_FINISH,) if values["divisor"] else ()
    return (_START, _REDUCE, *last)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reduction:
    """`combine` ("sum", "prod", "max", "min"), what it gives over no element, and what sums are divided by, as C.

    Sums and products of integers wrap.
    """

    axes: tuple[int, ...]
    keeps: bool  # the output has the axes, with extent 1
    combine: str
    empty: str
    divisor: str = ""
    limits: tuple[str, str] = ("-INFINITY", "INFINITY")  # of the results, in parts only


def reduce_values(call: Call, reduction: Reduction) -> Mapping[str, object]:
    """What `reduce_source` and `REDUCE_CALL` need. Outputs hold their own sums, but not in parts."""
    x, y, axes = call.operands["X"], call.operands["Y"], reduction.axes
    acc, part = call.operands.get("acc", y), call.is_part
    kept = [axis for axis in range(len(x.shape)) if axis not in axes]
    places = kept if reduction.keeps else range(len(kept))  # of the kept axes in Y
    results = walk(
        [y.extents[place] for place in places],
        {
            "X": [x.strides[axis] for axis in kept],
            "Y": [y.strides[place] for place in places],
            "ACC": [acc.strides[place] for place in places],
        },
        "Y",
    )
    terms = walk([x.extents[axis] for axis in axes], {"X": [x.strides[axis] for axis in axes]}, "X")
    outer, inner = nest(results, 1), nest(terms, 1, prefix="tw_r")
    (count, steps), (reduced, term_steps) = innermost(results), innermost(terms)
    return {
        **_reduction_names(reduction, x.dtype),
        "nest": outer.headers,
        "inner": inner.headers,
        "part": part,
        "first": call.first,
        "last": call.last,
        "kept": count,
        "reduced": reduced,
        "x": f"{x}{outer.offsets['X']}{inner.offsets['X']}",
        "x_kept": steps["X"],
        "x_reduced": term_steps["X"],
        "sums": f"{acc}{outer.offsets['ACC']}",
        "sums_kept": steps["ACC"],
        "y": f"{y}{outer.offsets['Y']}",
        "y_kept": steps["Y"],
    }


def _reduction_names(reduction: Reduction, dtype: DType) -> Mapping[str, object]:
    """What does not depend on the call."""
    leaving = f"{reduction.divisor or '1.0f'}, {', '.join(reduction.limits)}, " if dtype.is_float else ""
    return {
        "combine": reduction.combine,
        "pair": f"tw_reduce_{reduction.combine}" + ("" if dtype.is_float else f"_of_{dtype.value}"),
        "short": dtype.value,
        "type": dtype.c_type,
        "wide": "uint64_t" if dtype.size_bytes == 8 else "uint32_t",
        "empty": reduction.empty,
        "leaving": leaving,
        "divisor": reduction.divisor,
    }


# The same names for a kernel whose call has these only where it computes in parts.
NO_REDUCTION: Mapping[str, object] = MappingProxyType(
    dict.fromkeys(
        (
            "nest", "inner", "combine", "short", "empty", "first", "last", "leaving", "kept", "reduced", "x", "x_kept",
            "x_reduced", "sums", "sums_kept", "y", "y_kept", "divisor",
        ),
        "",
    )
    | {"part": False}
)  # fmt: skip
