"""The float functions: accuracy over all floats, special values, the C in any layout, and what tables are made of."""

from __future__ import annotations

import math
import re
import runpy
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from tilewright.ir.code_fragments import ordered
from tilewright.ir.graphs.graph import Node
from tilewright.operators.c_code import c_source
from tilewright.operators.c_code.c_source import c_functions
from tilewright.operators.elementwise.unary import FUNCTIONS, KERNELS, OPERATORS, UNARY, evaluate
from tilewright.testing.kernels.kernel_checks import kernel_errors
from tilewright.testing.kernels.kernel_run import run_kernel
from tilewright.testing.operator_sites import refusal, result_errors, site_of

BY_NAME = {operator.name: (operator, kernel) for operator, kernel in zip(OPERATORS, KERNELS, strict=True)}
EDGES = np.array(
    [
        *(0, -0.0, np.inf, -np.inf, np.nan, 2.0**-149, -(2.0**-149), 2.0**-126, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5),
        *(2.0**23, 3.4e38, -3.4e38, 88.7, -87.4, -103.9, 104, 14.5, -14.5, 0.875, 8388607.5, 1e10, -1e10),
    ],
    np.float32,
)
EXACT = {"Abs", "Ceil", "Floor", "Neg", "Round", "Sign"}
ROUNDED = {"LeakyRelu", "Reciprocal", "Sqrt"}


def samples() -> npt.NDArray[np.float32]:
    bits = np.random.default_rng(7).integers(0, 2**32, 150_000, dtype=np.uint64).astype(np.uint32)
    wide, narrow = np.linspace(-120, 120, 150_001), np.linspace(-3, 3, 150_001)
    return np.concatenate([bits.view(np.float32), wide.astype(np.float32), narrow.astype(np.float32), EDGES])


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(BY_NAME))
def test_accuracy(name: str, tmp_path: Path) -> None:
    operator, kernel = BY_NAME[name]
    x = samples()
    site = site_of(operator, [x])
    (y,) = run_kernel(operator, kernel, site, [x], folder=tmp_path)
    assert result_errors(operator, site, [x], [y]) == []
    with np.errstate(all="ignore"):
        exact = evaluate(name, {}, x.astype(np.float64))
    if name in EXACT:
        with np.errstate(invalid="ignore"):
            assert np.array_equal(y.astype(np.float64), exact, equal_nan=True)
        zero = exact == 0
        assert np.array_equal(np.signbit(y[zero]), np.signbit(exact[zero]))
    if name in ROUNDED:
        with np.errstate(over="ignore"):
            assert np.array_equal(y, exact.astype(np.float32), equal_nan=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(BY_NAME))
def test_any_layout_and_tile(name: str, tmp_path: Path) -> None:
    operator, kernel = BY_NAME[name]
    x = np.random.default_rng(3).standard_normal((2, 3, 4)).astype(np.float32)
    attributes = dict.fromkeys(FUNCTIONS[name].attributes, 0.75)
    site = site_of(operator, [x], attributes)
    assert kernel_errors(operator, kernel, site, [x], np.random.default_rng(len(name)), tmp_path) == []


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64"])
@pytest.mark.parametrize("name", ["Abs", "Neg", "Sign"])
def test_integers_wrap(name: str, dtype: str, tmp_path: Path) -> None:
    operator, kernel = BY_NAME[name]
    info = np.iinfo(dtype)
    x = np.array([info.min, max(info.min, -3), 0, 3, info.max], dtype)
    site = site_of(operator, [x])
    assert kernel_errors(operator, kernel, site, [x], np.random.default_rng(0), tmp_path) == []


def test_against_independent_values() -> None:
    x = 0.7
    wanted = {
        "Erf": 0.6778011938374184,
        "Gelu": 0.7 * 0.758036347776927,
        "Mish": x * math.tanh(math.log(1 + math.exp(x))),
        "Selu": 1.0507009873554805 * x,
        "Sigmoid": 1 / (1 + math.exp(-x)),
        "HardSwish": x * (x / 6 + 0.5),
        "Softplus": math.log(1 + math.exp(x)),
        "GeluTanh": 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    }
    for name, value in wanted.items():
        assert evaluate(name, {}, np.array([x]))[0] == pytest.approx(value, rel=1e-7), name


def test_the_tables_function_is_the_reference_before_rounding() -> None:
    node = Node(name="n", op="LeakyRelu", inputs=("x",), outputs=("y",), attributes={"alpha": 0.25})
    assert UNARY["LeakyRelu"](node, np.array([-2.0, 2.0])).tolist() == [-0.5, 2.0]
    assert set(UNARY) == set(BY_NAME)


def test_integers_are_refused_where_the_function_is_not_theirs() -> None:
    operator, kernel = BY_NAME["Tanh"]
    assert "X is i8" in str(refusal(kernel, site_of(operator, [np.zeros(2, np.int8)])))


@pytest.mark.slow
def test_the_c_holds_the_derived_coefficients() -> None:
    source = "".join(path.read_text() for path in Path(c_source.__file__).parent.glob("functions/*.h"))
    literals = runpy.run_path(str(Path(__file__).parents[3] / "tools" / "function_coefficients.py"))["literals"]
    missing = [f"{name}: {text}" for name, texts in literals().items() for text in texts if text not in source]
    assert not missing


def test_a_kernel_brings_exactly_the_functions_it_calls() -> None:
    names = [section.name.rpartition("/")[2] for section in ordered(c_functions("tw_tanhf(x)"))]
    assert names == ["tw_exp2_int.h", "tw_expm1f.h", "tw_tanhf.h"]


def test_entries_are_sorted_and_say_what_they_are() -> None:
    assert list(FUNCTIONS) == sorted(FUNCTIONS)
    assert all(function.summary for function in FUNCTIONS.values())


def test_c_is_over_x_and_the_attributes() -> None:
    for name, function in FUNCTIONS.items():
        words = set(re.findall(r"[a-z_]\w*", re.sub(r"0x[\w.+-]+|\d[\w.]*", "", function.c)))
        assert words <= {"x", *function.attributes, *(word for word in words if word.startswith("tw_"))}, name


def test_there_is_room_for_rounding_only_where_formulas_cancel() -> None:
    x = np.linspace(0.1, 0.9, 5)
    free = [name for name, function in FUNCTIONS.items() if function.slack(x, function.attributes).any()]
    assert free == ["GeluTanh", "HardSigmoid", "HardSwish", "Mish", "Swish"]
