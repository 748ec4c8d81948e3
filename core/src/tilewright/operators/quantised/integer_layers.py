"""Knows what a vendor's kernel must know of an integer operator's arithmetic: ranges of sums, and forms proved equal.
Does not know how any of it is found; the operator families do, and are imported only when asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from tilewright.arithmetic.bounds import AccumulatorBounds
    from tilewright.arithmetic.free_proof import UnitProof
    from tilewright.arithmetic.requant_form import RequantForm
    from tilewright.arithmetic.scaled_sum import SumForm
    from tilewright.arithmetic.shift_unit import ShiftUnit
    from tilewright.ir.graphs.graph import Node, Site


def zero_points(node: Node, name: str) -> tuple[int, ...]:
    """A zero-point attribute as a tuple, whether it holds one int or several; (0,) where absent."""
    from tilewright.operators.shared import integer_sites

    return integer_sites.zero_points(node, name)


def centred_weights(site: Site) -> npt.NDArray[np.int64]:
    """The constant W of a QConv, or B of a QGemm, minus its zero points, in int64 and in its own shape."""
    from tilewright.operators.shared import integer_sites

    return integer_sites.centred_weights(site.node, site.constant(1))


def sum_bounds(site: Site) -> AccumulatorBounds:
    """Range of the sums of a layer that is requantised, as `sum_requant` knows them: one entry per output channel, or
    one for all.
    """
    from tilewright.operators.quantised.sum_ranges import BOUNDS

    return BOUNDS[site.node.op](site)


@overload
def sum_requant(site: Site) -> RequantForm: ...
@overload
def sum_requant(site: Site, unit: ShiftUnit) -> UnitProof: ...
def sum_requant(site: Site, unit: ShiftUnit | None = None) -> RequantForm | UnitProof:
    """How a QConv, QGemm, QMatMul, QMul, QAveragePool, QReduceMean or QRescale is requantised, as its module has it.

    With a `unit`, what that can compute of it, whatever the layer's rounding: for each channel a multiplier, an addend
    and a shift that are proved equal on every sum that can occur, or the reason why there are none. Without, the form
    that kernels for cores have of the formula `onnx`; ValueError for a layer of another rounding.
    """
    from tilewright.operators.quantised import qconv, qelementwise, qgemm, qpool, qrescale

    if unit is not None:
        from tilewright.arithmetic.free_proof import prove_unit

        return prove_unit(site.node.requant(), sum_bounds(site), unit)
    if site.node.rounding != "onnx":
        raise ValueError(f"node '{site.node.name}' rounds as {site.node.rounding} does: ask with a unit")

    form_of = {
        "QConv": qconv.conv_requant_form,
        "QGemm": qgemm.gemm_requant_form,
        "QMatMul": qgemm.matmul_requant_form,
        "QMul": qelementwise.mul_requant_form,
        "QAveragePool": qpool.pool_requant_form,
        "QReduceMean": qpool.mean_requant_form,
        "QRescale": qrescale.rescale_requant_form,
    }
    return form_of[site.node.op](site)


def scaled_sum_form(site: Site) -> SumForm | None:
    """The integer form of a QAdd; None where 64 bits are not enough."""
    from tilewright.operators.quantised.qelementwise import add_form

    return add_form(site)


def softmax_table(site: Site) -> npt.NDArray[Any]:
    """The exponentials of a QSoftmax, as its module defines them, without the zeros at their end. Of 16 bits it is the
    table of `arithmetic.wide_softmax`.
    """
    from tilewright.operators.quantised.qsoftmax import table_of
    from tilewright.operators.quantised.qsoftmax_wide import wide_table

    return table_of(site) if site.input(0).dtype.size_bytes == 1 else wide_table(site)


def refused_softmax(site: Site) -> str | None:
    """Why the integers of a QSoftmax would not be exact enough, or None."""
    from tilewright.operators.quantised.qsoftmax import refused
    from tilewright.operators.quantised.qsoftmax_wide import refused_wide

    return refused(site) if site.input(0).dtype.size_bytes == 1 else refused_wide(site)


def refused_products(site: Site) -> str | None:
    """Why a QConv or QGemm is no sum of products of bytes with constant weights over at most two axes, or None.

    What a kernel's own numbers must fit into is for the kernel.
    """
    from tilewright.ir.tensors.dtypes import DType

    x, w = site.input(0), site.input(1)
    if site.constant(1) is None or (site.has_input(2) and site.constant(2) is None):
        return "weights and bias must be constants"
    if not {x.dtype, w.dtype, site.output.dtype} <= {DType.I8, DType.U8}:
        return "values and weights must be i8 or u8"
    if site.has_input(2) and site.input(2).dtype is not DType.I32:
        return "the bias must be i32"
    if site.node.op == "QConv" and len(x.shape) not in (3, 4):
        return f"has {len(x.shape) - 2} spatial axes; 1 and 2 are supported"
    return "has no elements" if 0 in x.shape or 0 in site.output.shape else None
