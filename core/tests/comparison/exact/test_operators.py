"""Every operator that has rational arithmetic, on the layers that every target is tried on: as close to the reference
as that is to what is right. And what has none says so.
"""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest

from tilewright.comparison.exact.operators import exact_result
from tilewright.comparison.exact.rationals import NotExact, rationals
from tilewright.ir.graphs.evaluation import allowed, results
from tilewright.ir.graphs.graph import Site
from tilewright.ir.graphs.operator import Operator
from tilewright.operators.families import FAMILIES
from tilewright.testing.operator_layers import every_layer
from tilewright.testing.operator_sites import Sample, site_of

OPERATORS: dict[str, Operator] = {item.name: item for name in FAMILIES for item in import_module(name).OPERATORS}
SLOW = {"Erf", "Exp", "Gelu", "GeluTanh", "LogSoftmax", "Log", "Mish", "Selu", "Sigmoid", "Softplus", "Swish", "Tanh"}
WITHOUT = {
    "Acos", "Acosh", "ArgMax", "ArgMin", "Arrival", "Asin", "Asinh", "Atan", "Atanh", "BitCast", "BitShift",
    "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Cos", "Cosh", "CumProd", "CumSum", "Departure", "GRUSteps", "GridSample",
    "LSTMSteps", "MatMulNBits", "MaxPoolIndices", "Mod", "Pow", "QAdd", "QAveragePool", "QConv", "QGemm", "QLookup",
    "QMatMul", "DynamicScale", "QAffine", "QGRU", "QLSTM", "QLayerNormalization", "QLogSoftmax", "QMaskedSoftmax",
    "QResizeLinear", "QMul", "QReduceMean", "QRescale", "QSoftmax", "RNNSteps", "ReduceProd", "Resample", "RoiAlign",
    "Scatter", "Sin", "Sinh", "Tan", "FromStored", "ToStored", "TopK",
}  # fmt: skip
APART = {"Cast", "DynamicQuantizeLinear"}
LAYERS = every_layer()


def small(sample: Sample) -> Sample:
    """Functions of floats take a fraction of a millisecond for each element."""
    if sample.op in SLOW and len(sample.inputs) == 1 and sample.op != "LogSoftmax":
        (image,) = sample.inputs
        return Sample(op=sample.op, inputs=(np.asarray(image)[:1, :9],), attributes=sample.attributes)
    return sample


def site_for(sample: Sample) -> Site:
    return site_of(OPERATORS[sample.op], list(sample.inputs), sample.attributes, sample.constants)


@pytest.mark.parametrize(
    "sample",
    [small(layer) for layer in LAYERS if layer.op not in WITHOUT | APART and layer.kind != "scaled"],
    ids=lambda layer: f"{layer.op} {layer.kind}",
)
def test_as_close_as_the_reference(sample: Sample) -> None:
    site, inputs = site_for(sample), list(sample.inputs)
    operator = OPERATORS[sample.op]
    found = exact_result(site, [None if array is None else rationals(array) for array in inputs], OPERATORS)
    (expected,), (limit,) = results(operator, site, inputs), allowed(operator, site, inputs)
    assert found.shape == expected.shape
    wide = np.asarray(expected, np.float64)
    apart = np.abs(found.floats() - wide)
    assert (apart <= (0 if limit is None else limit) + 2.0**-23 * np.abs(wide)).all()
    if limit is None and not site.output.dtype.is_float:
        assert not apart.any()


@pytest.mark.parametrize("op", sorted(WITHOUT))
def test_without_rational_arithmetic(op: str) -> None:
    """Operators of integers are what is judged, not what is judged by."""
    sample = next(layer for layer in LAYERS if layer.op == op)
    inputs = [None if array is None else rationals(array) for array in sample.inputs]
    with pytest.raises(NotExact, match=f"{op} has "):
        exact_result(site_for(sample), inputs, OPERATORS)


def test_dynamic_quantisation_is_judged_step_by_step() -> None:
    for name, reason in (("DynamicQuantizeLinear", "several outputs"), ("MatMulInteger_scaled", "scales")):
        sample = next(layer for layer in LAYERS if layer.name == name)
        inputs = [None if array is None else rationals(array) for array in sample.inputs]
        with pytest.raises(NotExact, match=reason):
            exact_result(site_for(sample), inputs, OPERATORS)


def test_casts_truncate_and_stay_in_their_type() -> None:
    values = np.array([-1.5, -0.25, 0.99, 126.5], np.float32)
    site = site_of(OPERATORS["Cast"], [values], {"to": "i8"})
    assert exact_result(site, [rationals(values)], OPERATORS).numerators.tolist() == [-1, 0, 0, 126]
    site = site_of(OPERATORS["Cast"], [values], {"to": "bool"})
    assert exact_result(site, [rationals(values)], OPERATORS).numerators.tolist() == [1, 1, 1, 1]
    site = site_of(OPERATORS["Cast"], [values * 9], {"to": "i8"})
    with pytest.raises(NotExact, match="outside i8"):
        exact_result(site, [rationals(values * 9)], OPERATORS)


def test_small_powers() -> None:
    values, exponent = np.array([-1.5, 3], np.float32), np.array(3, np.float32)
    site = site_of(OPERATORS["Pow"], [values, exponent])
    assert exact_result(site, [rationals(values), rationals(exponent)], OPERATORS).floats().tolist() == [-3.375, 27]
