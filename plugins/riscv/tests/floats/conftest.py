"""A made-up machine of the float kernels: the portable form of every line, cycles that are easy to count."""

from __future__ import annotations

import pytest

from tilewright.api.kernel import CodeFragment
from tilewright_riscv.floats.lanes import Dialect
from tilewright_riscv.floats.machines import Machine

RELU = "TW_KERNEL float acme_f32_relu(float value)\n{\n    return value < 0 ? 0 : value;\n}"


@pytest.fixture(name="machine", scope="session")
def _machine() -> Machine:
    """A call takes ten cycles and one for every element."""
    fpu = CodeFragment(name="fpu", text=f"#define ACME_APART static\n{RELU}")
    return Machine(
        target="acme", dialect=Dialect(prefix="acme", owner="acme", fpu=fpu), run_cycles=lambda _, count: 10.0 + count,
        row_cycles=30.0, logarithm_cycles=50.0, inner=("l1",),
    )  # fmt: skip
