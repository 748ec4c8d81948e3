"""The portable C of every signal operator computes what its reference does, on all that 16 and 32 bits hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from signal_layers import CASES

from tilewright.api.testing import site_of
from tilewright.testing.kernels.kernel_run import UBSAN, run_kernel
from tilewright.testing.operator_sites import result_errors
from tilewright_tflite.signals.vocabulary import KERNELS, OPERATORS


def test_every_operator_has_a_kernel_and_a_case() -> None:
    names = sorted(operator.name for operator in OPERATORS)
    assert sorted(kernel.op for kernel in KERNELS) == names
    assert sorted({f"signal.{name}" for name, *_ in CASES}) == names


@pytest.mark.slow
@pytest.mark.parametrize(("name", "inputs", "attributes", "constants"), CASES, ids=[case[0] for case in CASES])
def test_c_is_the_reference(
    name: str, inputs: list[Any], attributes: dict[str, int], constants: tuple[int, ...], tmp_path: Path
) -> None:
    operator = next(each for each in OPERATORS if each.name == f"signal.{name}")
    kernel = next(each for each in KERNELS if each.op == operator.name)
    site = site_of(operator, inputs, attributes, constants)
    found = run_kernel(operator, kernel, site, inputs, folder=tmp_path, flags=UBSAN)
    assert result_errors(operator, site, inputs, found) == []
