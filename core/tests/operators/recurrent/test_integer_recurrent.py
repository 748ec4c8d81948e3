"""QLSTM and QGRU: the C against the reference, sequences apart, and what no kernel takes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tilewright.errors import TilewrightError
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.recurrent.integer_recurrent import KERNELS, OPERATORS
from tilewright.testing.integer_recurrences import integer_recurrence, integer_recurrences
from tilewright.testing.kernels.kernel_checks import kernel_errors
from tilewright.testing.operator_sites import refusal, site_of

BY_NAME = {operator.name: (operator, kernel) for operator, kernel in zip(OPERATORS, KERNELS, strict=True)}
LAYERS = {layer.name: layer for layer in integer_recurrences(np.random.default_rng(1))}


@pytest.mark.parametrize("name", LAYERS)
def test_the_c_is_the_reference(name: str, tmp_path: Path) -> None:
    layer = LAYERS[name]
    operator, kernel = BY_NAME[layer.op]
    site = site_of(operator, layer.inputs, layer.attributes, layer.constants)
    assert kernel_errors(operator, kernel, site, layer.inputs, np.random.default_rng(len(name)), tmp_path) == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"given_scales": (2.0**16,) * 3}, "so far apart"),
        ({"given_scales": (2.0**14,) * 3}, "leave the 32 bits"),
        ({"inner_scales": (2.0**16,) * 3}, "so far apart"),
    ],
)
def test_sums_that_nothing_holds_are_refused(changes: dict[str, tuple[float, ...]], said: str) -> None:
    operator, kernel = BY_NAME["QGRU"]
    layer = integer_recurrence(np.random.default_rng(2), "QGRU", optional=False, **changes)
    assert said in refusal(kernel, site_of(operator, layer.inputs, layer.attributes, layer.constants))


def test_other_types_and_computed_weights_are_refused() -> None:
    operator, kernel = BY_NAME["QLSTM"]
    layer = integer_recurrence(np.random.default_rng(3), "QLSTM", optional=True)
    assert "must be constants" in refusal(kernel, site_of(operator, layer.inputs, layer.attributes, (1, 2)))
    wide = [*layer.inputs]
    wide[6] = wide[6].astype(np.int16)
    assert "H0 is i16" in refusal(kernel, site_of(operator, wide, layer.attributes, layer.constants))


def test_a_shape_that_does_not_fit_is_an_error() -> None:
    operator, _ = BY_NAME["QLSTM"]
    layer = integer_recurrence(np.random.default_rng(4), "QLSTM", optional=False, dtype=DType.I16)
    with pytest.raises(TilewrightError, match="B must be"):
        site_of(operator, [*layer.inputs[:3], layer.inputs[3][1:], *layer.inputs[4:]], layer.attributes)
