"""One value as two operands: which layers that makes, and faults of kernels that show there alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.plans.layer import layer_of
from tilewright.testing.kernels.kernel_faults import kernel_faults
from tilewright.testing.kernels.repeated_values import repeated_values, shared_layouts
from tilewright.testing.one_step import portable_kernels, vocabulary
from tilewright.testing.operator_sites import site_of

ADD, MATMUL = vocabulary()["Add"], vocabulary()["MatMul"]
X, Z = (np.arange(1, 36, dtype=np.float32).reshape(5, 7) * factor for factor in (1, 2))

SOURCE = """
TW_KERNEL void acme_add(int32_t count, float *a, const float *b, float *y)
{
    %s
    for (int32_t i = 0; i < count; ++i) { y[i] = a[i] + b[i]; }
    %s
}
"""
NEGATED = "for (int32_t i = 0; i < count; ++i) { a[i] = -a[i]; }"


def adding(before: str = "", after: str = "") -> Kernel:
    return Kernel(
        name="acme.add", op="Add", cycles=lambda tile: 1.0, access="r : A[r,:] B[r,:] -> Y[r,:]",
        requires=lambda site: {"A": (0, 1), "B": (0, 1), "Y": (0, 1)},
        match=lambda site: None if site.input(0).shape == site.input(1).shape == (5, 7) else "other shapes",
        source=SOURCE % (before, after),
        call="acme_add(7 * ${loops['r']}, (float *)(uintptr_t)${A}, ${B}, ${Y});",
    )  # fmt: skip


def faults(kernel: Kernel, folder: Path) -> list[str]:
    return kernel_faults(ADD, kernel, site_of(ADD, [X, Z]), [X, Z], folder=folder)


def test_what_is_right_has_no_fault(tmp_path: Path) -> None:
    assert faults(adding(), tmp_path) == []


def test_a_kernel_that_uses_an_input_for_its_own_sums_is_found_where_both_are_one(tmp_path: Path) -> None:
    """It doubles A while it works and puts it back: right as long as B is another value."""
    careless = adding(NEGATED.replace("-a[i]", "2.0f * a[i]"), NEGATED.replace("-a[i]", "a[i] / 2.0f"))
    careless = replace(careless, source=careless.source.replace("a[i] + b[i]", "a[i] / 2.0f + b[i]"))  # type: ignore[union-attr]
    found = faults(careless, tmp_path)
    assert found and all(
        fault.startswith("kernel 'acme.add' (C: acme_add) with one value as A and B") for fault in found
    )


def test_layers_of_one_value_are_those_that_the_operator_takes() -> None:
    (same,) = repeated_values(ADD, site_of(ADD, [X, Z]), [X, Z])
    assert same.operands == ("A", "B") and same.site.node.inputs == ("in0", "in0") and same.inputs[1] is X
    wide = [np.ones((2, 5, 7), np.float32), np.ones((2, 7, 4), np.float32)]
    (square,) = repeated_values(MATMUL, site_of(MATMUL, wide), wide)
    assert square.site.output.shape == (2, 5, 5)
    assert not list(repeated_values(MATMUL, site_of(MATMUL, wide, {}, (1,)), wide))  # one of them is a constant
    mixed = [np.ones(3, np.float32), np.ones(3, np.int32)]
    assert not list(repeated_values(ADD, replace(site_of(ADD, [mixed[0], mixed[0]])), mixed))


def test_both_operands_have_one_layout() -> None:
    layer = layer_of(ADD, portable_kernels()["portable.add"], site_of(ADD, [X, Z]))
    assert shared_layouts(layer, ("A", "B")) is not None
    turned = replace(adding(), requires=lambda site: {"A": (0, 1), "B": (1, 0)})
    assert shared_layouts(layer_of(ADD, turned, site_of(ADD, [X, Z])), ("A", "B")) is None
