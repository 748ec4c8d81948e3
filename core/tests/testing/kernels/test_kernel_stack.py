"""Locals that no stack of a target has room for are found with the function that has them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.plans.layer import layer_of
from tilewright.testing.kernels.kernel_stack import stack_fault
from tilewright.testing.one_step import vocabulary
from tilewright.testing.operator_sites import site_of

X = np.ones((3, 5), np.float32)
SOURCE = """
TW_KERNEL void acme_neg(int32_t count, const float *x, float *y)
{
    float row[LOCALS];
    for (int32_t i = 0; i < count; ++i) {
        row[i] = -x[i];
    }
    for (int32_t i = 0; i < count; ++i) {
        y[i] = row[i];
    }
}
"""


def kernel(local_floats: int) -> Kernel:
    source = SOURCE.replace("LOCALS", str(local_floats))
    return Kernel(name="acme.neg", op="Neg", source=source, call="acme_neg(15, ${X}, ${Y});")


def fault(local_floats: int, folder: Path) -> str | None:
    operator = vocabulary()["Neg"]
    return stack_fault(layer_of(operator, kernel(local_floats), site_of(operator, [X])), [X], 1024, folder)


def test_locals_beyond_the_declared_stack_are_found_with_their_function(tmp_path: Path) -> None:
    assert fault(64, tmp_path) is None
    said = str(fault(1024, tmp_path))
    assert said.startswith("kernel 'acme.neg': function 'acme_neg")  # compilers may make another of it
    assert "bytes of locals, and the target has 1,024 for stacks" in said
