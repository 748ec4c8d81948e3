"""Knows QAdd and QMul, values of 8 or 16 bits combined element by element and rounded once. Does not know floats; the
meaning is in the architecture, section 9.

QAdd and QMul broadcast, and are exact before they round; Sub is a QAdd with a negative `b_scale`. The scales of a QAdd
are those stored in the file; `y_scale`, that of the result, is 1 where a node does not have it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from tilewright.arithmetic.bounds import AccumulatorBounds, product_bounds
from tilewright.arithmetic.pair_sums import PAIR_SUMS, fixed_multipliers, input_shift, pair_sum_form
from tilewright.arithmetic.requant_form import RequantForm, requant_form
from tilewright.arithmetic.scaled_sum import ScaledSum, SumForm
from tilewright.c_text.literals import c_int
from tilewright.ir.code_fragments import CodeFragment, FragmentTemplate
from tilewright.ir.graphs.graph import Site, Tensor
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Call, Kernel, Matched
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.requant import requantise
from tilewright.operators.c_code.c_elements import c_initialiser
from tilewright.operators.c_code.c_source import ELEMENTWISE, c_fragment, c_template
from tilewright.operators.c_code.walk import ELEMENTWISE_CALL, elementwise_values
from tilewright.operators.shared.c_rounding import c_requant, c_rounding, c_words, channel_words, described, too_wide
from tilewright.operators.shared.elementwise import pair_access
from tilewright.operators.shared.integer_sites import (
    BYTE_TYPES,
    centred,
    input_range,
    not_values,
    output_dtype,
    requant_dtype,
)
from tilewright.operators.shared.refusals import shape_error

Array = npt.NDArray[np.generic]


def _result(site: Site, dtype: DType) -> tuple[Tensor, ...]:
    try:
        shape = np.broadcast_shapes(site.input(0).shape, site.input(1).shape)
    except ValueError:
        raise shape_error(site, "the shapes of A and B do not broadcast") from None
    return (Tensor(name=site.node.outputs[0], dtype=dtype, shape=shape),)


def _in_place(site: Site) -> tuple[tuple[str, str], ...]:
    """Either input, where it is as large as the output: elements are read before their place is written."""
    pairs = (("A", site.input(0)), ("B", site.input(1)))
    return tuple((name, "Y") for name, tensor in pairs if tensor.shape == site.output.shape)


# --- QAdd


def scaled_sum_of(site: Site) -> ScaledSum:
    """What a QAdd adds, from the attributes of its node."""
    node = site.node
    return ScaledSum(
        a_scale=node.number("a_scale"),
        b_scale=node.number("b_scale"),
        a_zero_point=node.integer("a_zero_point"),
        b_zero_point=node.integer("b_zero_point"),
        zero_point=node.integer("zero_point"),
        low=node.integer("low"),
        high=node.integer("high"),
        y_scale=node.number("y_scale", 1.0),
        wide=any(site.input(index).dtype not in BYTE_TYPES for index in (0, 1)),
    )


def add_form(site: Site) -> SumForm | None:
    """The integer form of a QAdd; None where no single shift does what it computes."""
    return pair_sum_form(scaled_sum_of(site), input_range(site, 0), input_range(site, 1), site.node.rounding)


def _match_add(site: Site) -> SumForm | str | None:
    reason = not_values(site, 0, 1)
    if reason:
        return reason
    if site.node.rounding == "tflm":
        return add_form(site)  # or the three multipliers, where there is none
    ratios = " and ".join(f"{float(ratio)!r}" for ratio in scaled_sum_of(site).ratios)
    return add_form(site) or f"the scales {ratios} are so far apart that their exact sum needs more than 64 bits"


def _add_values(call: Call) -> Mapping[str, object]:
    total, form = scaled_sum_of(call.site), call.site.analysis
    if form is None:
        return _fixed_add_values(call, total)
    rounding = {"divisor": c_int(form.divisor)} if form.divisor else {"shift": form.shift, "ties": int(form.ties)}
    fields = {
        "a_factor": c_int(form.a_factor),
        "b_factor": c_int(form.b_factor),
        "offset": c_int(form.offset),
        **rounding,
        "zero_point": total.zero_point,
        "low": total.low,
        "high": total.high,
    }
    kind = "divided" if form.divisor else f"int{form.bits}"
    parameters = f"tw_qadd_{kind}"
    y_type = call.operands["Y"].dtype.c_type
    values = elementwise_values(
        call,
        f"qadd_{_types(call)}_{'divided' if form.divisor else f'acc{form.bits}'}",
        f"({y_type})tw_qadd_rounded_{kind}(a, b, p)",
        scalars={"p": (parameters, f"({parameters}){c_initialiser(fields)}")},
    )
    return {**values, "bits": form.bits, "section": "divided" if form.divisor else "shifted"}


def _fixed_add_values(call: Call, total: ScaledSum) -> Mapping[str, object]:
    """The function of `tflm` itself."""
    (a, a_exponent), (b, b_exponent), (y, y_exponent) = fixed_multipliers(total)
    fields = {
        "a": f"{{{a}, {a_exponent}}}",
        "b": f"{{{b}, {b_exponent}}}",
        "y": f"{{{y}, {y_exponent}}}",
        "a_zero_point": total.a_zero_point,
        "b_zero_point": total.b_zero_point,
        "sign": -1 if total.b_scale < 0 else 1,
        "shift": input_shift(total),
        "to": c_initialiser({"zero_point": total.zero_point, "low": total.low, "high": total.high}),
    }
    values = elementwise_values(
        call,
        f"qadd_{_types(call)}_tflm",
        f"({call.operands['Y'].dtype.c_type})tw_qadd_rounded_tflm(a, b, p)",
        scalars={"p": ("tw_qadd_tflm", f"(tw_qadd_tflm){c_initialiser(fields)}")},
    )
    return {**values, "bits": 32, "section": "fixed"}


def _describe_add(site: Matched) -> Mapping[str, object]:
    form, rounding = site.analysis, site.node.rounding
    told = {} if rounding == "onnx" else {"rounding": rounding}
    return told | ({"accumulator_bits": form.bits, "ties": form.ties} if form else {"accumulator_bits": 32})


# --- QMul


def _mul_reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    a, b = (centred(array, site.node.integer(name)) for array, name in zip(inputs, _ZERO_POINTS, strict=True))
    return (requantise(a * b, site.node.requant(), -1).astype(site.output.dtype.numpy),)


def mul_bounds(site: Site) -> AccumulatorBounds:
    """Range of the products of a QMul, the same for all elements."""
    zeros = [site.node.integer(name) for name in _ZERO_POINTS]
    (a, b), (c, d) = input_range(site, 0), input_range(site, 1)
    return product_bounds((a - zeros[0], b - zeros[0]), (c - zeros[1], d - zeros[1]))


def mul_requant_form(site: Site) -> RequantForm:
    """How a QMul is requantised: one channel."""
    return requant_form(site.node.requant(), mul_bounds(site), site.node.name)


def _match_mul(site: Site) -> str | None:
    reason = not_values(site, 0, 1) or (None if len(site.node.requant().scale) == 1 else "QMul has one scale for all")
    return reason or too_wide(site.node.requant(), mul_bounds(site))


def _mul_values(call: Call) -> Mapping[str, object]:
    node, requant, bounds = call.site.node, call.site.node.requant(), mul_bounds(call.site)
    rounding, (words,) = c_rounding(requant, bounds.bits), channel_words(requant, bounds, node.name)
    y_type, wide = call.operands["Y"].dtype.c_type, "(int64_t)" if bounds.bits == 64 else ""
    values = elementwise_values(
        call,
        f"qmul_{_types(call)}_acc{bounds.bits}{rounding.suffix}" if wide else f"qmul_{_types(call)}{rounding.suffix}",
        f"({y_type}){rounding.handed(f'{wide}(a - a_zero_point) * (b - b_zero_point)', 'word', 'p')}",
        scalars={
            **{name: ("int32_t", str(node.integer(name))) for name in _ZERO_POINTS},
            "word": (rounding.word_type.rstrip(), c_words(words)),
            "p": ("tw_requant", f"(tw_requant){c_requant(requant, bounds, node.name)}"),
        },
    )
    return {**values, "bits": bounds.bits, "rounding": rounding}


_ZERO_POINTS = ("a_zero_point", "b_zero_point")


# --- both


def _types(call: Call) -> str:
    return "_".join(call.operands[name].dtype.value for name in ("A", "B", "Y"))


_QADD: Mapping[str, CodeFragment | FragmentTemplate] = MappingProxyType(
    {
        "shifted": c_template("tw_qadd_int${bits}", "qadd.c.mako"),
        "divided": c_fragment("qadd_divided.h"),
        "fixed": c_fragment("qadd_tflm.h"),
    }
)

QADD = Operator(
    name="QAdd",
    inputs=("A", "B"),
    outputs=("Y",),
    summary="sum of two integer tensors of different scales, exact, rounded once",
    infer=lambda site: _result(site, output_dtype(site, site.node.integer("low"), site.node.integer("high"))),
    reference=lambda site, inputs: (
        PAIR_SUMS[site.node.rounding](scaled_sum_of(site), np.asarray(inputs[0]), np.asarray(inputs[1])).astype(
            site.output.dtype.numpy
        ),
    ),
    access=pair_access,
)

QMUL = Operator(
    name="QMul",
    inputs=("A", "B"),
    outputs=("Y",),
    summary="product of two integer tensors, requantised",
    infer=lambda site: _result(site, requant_dtype(site)),
    reference=_mul_reference,
    access=pair_access,
)

QADD_PORTABLE = Kernel(
    name="portable.qadd",
    op="QAdd",
    roundings=("*",),
    parallel=("*",),
    match=_match_add,
    in_place=_in_place,
    describe=_describe_add,
    values=_add_values,
    source=lambda values: (_QADD[values["section"]], ELEMENTWISE),
    call=ELEMENTWISE_CALL,
)

QMUL_PORTABLE = Kernel(
    name="portable.qmul",
    op="QMul",
    roundings=("*",),
    parallel=("*",),
    match=_match_mul,
    in_place=_in_place,
    describe=lambda site: described(site.node.requant(), mul_bounds(site), site.node.name, mul_bounds(site).bits),
    values=_mul_values,
    source=lambda values: (values["rounding"].section, ELEMENTWISE),
    call=ELEMENTWISE_CALL,
)


OPERATORS = (QADD, QMUL)
KERNELS = (QADD_PORTABLE, QMUL_PORTABLE)
