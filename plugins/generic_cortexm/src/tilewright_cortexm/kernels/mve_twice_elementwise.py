"""Knows how Helium adds and multiplies element by element where results are rounded twice (`tflm`), of 8 and of 16
bits: four at a time, VQRDMULH and VRSHR, one taken from negative products first. Does not know how operands broadcast.

A sum of bytes that one shift is proved equal to has a cheaper form (`mve_elementwise`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from tilewright.api.graph import DoubleRounding, DType, Site
from tilewright.api.kernel import Call, Kernel, sum_bounds
from tilewright_cortexm.kernels.elementwise import NEST, in_place, limits, rows_of
from tilewright_cortexm.kernels.mve_elementwise import element_instructions
from tilewright_cortexm.kernels.products import BYTES
from tilewright_cortexm.kernels.sources import c_fragment, c_template

_NARROW = MappingProxyType(  # what saturates to all of a type
    {
        DType.I16: ("vqmovnb.s32 q0, q0",),
        DType.I8: ("vqmovnb.s32 q0, q0", "vqmovnb.s16 q0, q0"),
        DType.U8: ("vqmovnb.s32 q0, q0", "vqmovunb.s16 q0, q0"),
    }
)
_LIFT, _WIDE_LIFT = 20, 15  # by how much a sum of bytes, and one of 16 bits, shifts its inputs
_OPERANDS = ("A", "B", "Y")


@dataclass(frozen=True, slots=True, kw_only=True)
class Twice:
    """Multipliers, and by how much products are shifted to the right then: of A and B where they are added, and of
    the result.
    """

    multipliers: Mapping[str, int]
    rights: Mapping[str, int]
    lift: int = 0
    minus: bool = False


def _numbers(scales: Mapping[str, float], **more: int) -> Twice | str:
    pairs = {name: DoubleRounding().numbers(scale) for name, scale in scales.items()}
    if any(exponent > 0 for _, exponent in pairs.values()):
        return "scales by more than 1; this kernel shifts to the right only"
    return Twice(
        multipliers={name: multiplier for name, (multiplier, _) in pairs.items()},
        rights={name: -exponent for name, (_, exponent) in pairs.items()},
        lift=more.get("lift", 0),
        minus=bool(more.get("minus", 0)),
    )


def _refused(site: Site) -> str | None:
    tensors = (site.input(0), site.input(1), site.output)
    if any(tensor.dtype not in (*BYTES, DType.I16) for tensor in tensors):
        return "values must be i8, u8 or i16"
    return None if site.node.rounding == "tflm" else "is not rounded twice"


def _sum(site: Site) -> Twice | str:
    reason, node = _refused(site), site.node
    if reason:
        return reason
    a, b, y = (node.number(name, 1.0) for name in ("a_scale", "b_scale", "y_scale"))
    twice, wide = 2 * max(a, abs(b)), any(tensor.dtype is DType.I16 for tensor in (site.input(0), site.input(1)))
    lift = _WIDE_LIFT if wide else _LIFT
    if a <= 0:
        return "a scale is negative"
    return _numbers({"a": a / twice, "b": abs(b) / twice, "y": twice / (2**lift * y)}, lift=lift, minus=b < 0)


def _product(site: Site) -> Twice | str:
    reason = _refused(site) or (None if len(site.node.requant().scale) == 1 else "QMul has one scale for all")
    if reason:
        return reason
    bits = sum_bounds(site).bits
    return f"products need {bits} bits" if bits > 32 else _numbers({"y": site.node.requant().scale[0]})


def _in_place(site: Site) -> tuple[tuple[str, str], ...]:
    """Inputs as large as the output, whose elements are, too."""
    sizes = {"A": site.input(0).dtype.size_bytes, "B": site.input(1).dtype.size_bytes}
    return tuple(pair for pair in in_place(site) if sizes[pair[0]] == site.output.dtype.size_bytes)


def _zero_points(site: Site) -> dict[str, int]:
    return {name: site.node.integer(f"{name}_zero_point") for name in "ab"}


def _values(call: Call) -> Mapping[str, object]:
    site, rows, (low, high) = call.site, rows_of(call), limits(call.site)
    twice: Twice = site.analysis
    dtypes = {name.lower(): call.operands[name].dtype for name in _OPERANDS}
    zeros = {name: value for name, value in _zero_points(site).items() if value}
    one_value = [name for name in "ab" if rows.steps[name.upper()] == 0]
    vector = rows.steps["Y"] == 1 and all(rows.steps[name] in (0, 1) for name in ("A", "B"))
    added = site.node.op == "QAdd"
    zero_point = site.node.integer("zero_point") if added else site.node.requant().zero_point
    last = [twice.multipliers["a"], twice.multipliers["b"]] if added else []
    narrow = _NARROW[dtypes["y"]] if (low, high) == dtypes["y"].limits else ()
    kind = "_".join((
        "minus" if twice.minus else "sum" if added else "product", *(dtype.value for dtype in dtypes.values()),
        *(f"one_{name}" for name in one_value), *(f"z{name}" for name in zeros), *map(str, twice.rights.values()),
        str(low), str(high),
    ))  # fmt: skip
    return {
        "function": f"tw_mve_twice_{kind}{'' if vector else '_apart'}".replace("-", "m"),
        "added": added, "minus": twice.minus, "lift": twice.lift, "rights": twice.rights, "zeros": tuple(zeros),
        "types": {name: dtype.c_type for name, dtype in dtypes.items()},
        "sizes": {name: dtype.size_bytes for name, dtype in dtypes.items()},
        "loads": {name: _load(dtype) for name, dtype in dtypes.items()},
        "stores": f"vstr{'h' if dtypes['y'] is DType.I16 else 'b'}.32",
        "one_value": one_value, "vector": vector, "low": low, "high": high, "narrow": narrow,
        "kept": [at for at, used in enumerate(("a" in one_value, "b" in one_value, not narrow, not narrow), 3) if used],
        "nest": rows.outer, "count": rows.count,
        "steps": ", ".join(str(rows.steps[name]) for name in _OPERANDS),
        "pointers": ", ".join(
            rows.pointer(call, name, f"{'' if name == 'Y' else 'const '}{call.operands[name].dtype.c_type} *")
            for name in _OPERANDS
        ),
        "numbers": ", ".join(map(str, (*_zero_points(site).values(), zero_point, twice.multipliers["y"], *last))),
    }  # fmt: skip


def _load(dtype: DType) -> str:
    return f"vldr{'h' if dtype is DType.I16 else 'b'}.{'u' if dtype is DType.U8 else 's'}32"


def _kernel(op: str, name: str, each: float) -> Kernel:
    return Kernel(
        name=name,
        op=op,
        roundings=("tflm",),
        target="cortex-m",
        engine="mve",
        match=_sum if op == "QAdd" else _product,
        in_place=_in_place,
        instructions=element_instructions(each, 24),
        describe=lambda site: {"accumulator_bits": 32, "rounding": site.node.rounding},
        values=_values,
        source=(c_template("${function}", "mve_twice_pair.c.mako", c_fragment("mve_twice.h")),),
        call=NEST + "${function}(${count}, ${steps}, ${pointers}, ${numbers});",
        includes=("<stdint.h>", "<string.h>"),
    )


KERNELS = (_kernel("QAdd", "cortex-m.mve.qadd_twice", 5.3), _kernel("QMul", "cortex-m.mve.qmul_twice", 3.1))
